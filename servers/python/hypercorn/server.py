"""The contract's service as JSON on FastAPI and Hypercorn, whose port takes HTTP/2 without TLS."""

import sys

import uvloop
from fastapi import Request, Response
from fastapi.exception_handlers import http_exception_handler
from hypercorn.asyncio import serve as serve_app
from hypercorn.config import Config
from starlette.exceptions import HTTPException

from app import app
from workers import DRAIN_SECONDS, bound, certificate, serve

# How long a connection may be idle, in seconds: longer than any pause between calls, since the client decides how long connections live.
IDLE_SECONDS = 3600


@app.exception_handler(HTTPException)
async def refuse_after_body(request: Request, error: HTTPException) -> Response:
    """Reads the body of a call of a missing method. Hypercorn 0.18 closes the connection if a body arrives after its reply."""
    await request.body()
    return await http_exception_handler(request, error)


def listen(address: str, shared: bool) -> None:
    chain, key = certificate() or (None, None)
    config = Config.from_mapping(
        bind=f"fd://{bound(address, shared).detach()}",
        # As long as the kernel allows, since thousands of clients may connect at once.
        backlog=65535,
        keep_alive_timeout=IDLE_SECONDS,
        keep_alive_max_requests=sys.maxsize,
        graceful_timeout=DRAIN_SECONDS,
        loglevel="WARNING",
        certfile=chain,
        keyfile=key,
    )
    uvloop.run(serve_app(app, config))


if __name__ == "__main__":
    serve("python-hypercorn", listen)
