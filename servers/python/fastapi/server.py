"""The contract's service as JSON on FastAPI and uvicorn."""

import uvicorn

from app import app
from workers import DRAIN_SECONDS, bound, serve

# How long a connection may be idle, in seconds: longer than any pause between calls, since the client decides how long connections live.
IDLE_SECONDS = 3600


def listen(address: str, shared: bool) -> None:
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
    )
    uvicorn.Server(config).run(sockets=[bound(address, shared)])


if __name__ == "__main__":
    serve("python-fastapi", listen)
