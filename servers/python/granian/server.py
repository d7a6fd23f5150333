"""The contract's service as JSON on FastAPI and Granian, whose port takes HTTP/1.1, and HTTP/2 without TLS."""

import sys
from pathlib import Path

from fastapi import FastAPI
from granian import Granian
from granian.constants import Interfaces, Loops, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels

from app import app
from runtime_log import log_collections
from workers import DRAIN_SECONDS, bound, certificate, settings

# How long a connection may be idle, in milliseconds: longer than any pause between calls, since the client decides how long connections live.
IDLE_MILLISECONDS = 3_600_000

# As long as the kernel allows, since thousands of clients may connect at once.
BACKLOG = 65535


def application() -> FastAPI:
    """The application of a worker process."""
    log_collections()
    return app


def main() -> None:
    address, cpus = settings("python-granian")
    host, _, port = address.rpartition(":")
    chain, key = (Path(path) for path in paths) if (paths := certificate()) else (None, None)
    try:
        # Granian would share the port with another program that shares it.
        bound(address, False).close()
    except OSError as error:
        sys.exit(f"python-granian: {error}")
    Granian(
        "server:application",
        factory=True,
        address=host.strip("[]"),
        port=int(port),
        interface=Interfaces.ASGI,
        loop=Loops.uvloop,
        workers=cpus,
        backlog=BACKLOG,
        # A limit of open connections, including those without a call.
        backpressure=BACKLOG,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_MILLISECONDS),
        ssl_cert=chain,
        ssl_key=key,
        # Its default is TLS 1.3 only.
        ssl_protocol_min=SSLProtocols.tls12,
        websockets=False,
        log_level=LogLevels.warning,
        workers_kill_timeout=int(DRAIN_SECONDS),
    ).serve()


if __name__ == "__main__":
    main()
