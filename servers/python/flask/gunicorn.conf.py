"""Settings of gunicorn, which forks a worker process for each CPU."""

from runtime_log import tell_collections
from workers import DRAIN_SECONDS, bound, settings

address, workers = settings("python-flask")
try:
    # gunicorn by itself would try a port in use again for seconds.
    bound(address, False).close()
    tell_collections()
except OSError as error:
    raise SystemExit(f"python-flask: {error}") from None

bind = address
worker_class = "gthread"
threads = 4
# The client decides how long connections live: they are kept for longer than any pause between calls, in seconds, and none is
# closed to make room for another, as by default when there are a thousand.
keepalive = 3600
worker_connections = 20_000
# No watchdog: a server that was frozen between two trials would look as if it hung.
timeout = 0
graceful_timeout = int(DRAIN_SECONDS)
control_socket_disable = True
loglevel = "warning"
