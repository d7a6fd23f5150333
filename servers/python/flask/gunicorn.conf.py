"""Settings of gunicorn, which forks a worker process for each CPU."""

from runtime_log import log_collections
from workers import DRAIN_SECONDS, bound, settings

address, workers = settings("python-flask")
try:
    # By default gunicorn retries a port in use for seconds.
    bound(address, False).close()
    log_collections()
except OSError as error:
    raise SystemExit(f"python-flask: {error}") from None

bind = address
worker_class = "gthread"
threads = 4
# The client decides how long connections live: longer than any pause between calls (in seconds), and none is closed to make room for
# another, as by default above a thousand.
keepalive = 3600
worker_connections = 20_000
# No watchdog: a server frozen between two trials would look hung.
timeout = 0
graceful_timeout = int(DRAIN_SECONDS)
control_socket_disable = True
loglevel = "warning"
