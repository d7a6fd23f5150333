"""Runs ASGI applications on uvicorn."""

from collections.abc import Callable
from typing import Any

import uvicorn

from workers import DRAIN_SECONDS, Run, bound, certificate

# How long a connection may be idle, in seconds: longer than any pause between calls, since the client decides how long connections live.
IDLE_SECONDS = 3600


def on_uvicorn(app: Callable[..., Any]) -> Run:
    def listen(address: str, shared: bool) -> None:
        chain, key = certificate() or (None, None)
        config = uvicorn.Config(
            app,
            loop="uvloop",
            http="httptools",
            log_level="warning",
            access_log=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=int(DRAIN_SECONDS),
            ssl_certfile=chain,
            ssl_keyfile=key,
        )
        uvicorn.Server(config).run(sockets=[bound(address, shared)])

    return listen
