"""The contract's service on Connect and uvicorn: Connect and JSON over HTTP/1.1."""

import uvicorn
from connectrpc.request import RequestContext

from generated.echo_connect import Echo, EchoASGIApplication
from generated.echo_pb import (
    DtoReply,
    DtoRequest,
    RecordReply,
    RecordRequest,
    TextReply,
    TextRequest,
    TreeReply,
    TreeRequest,
)
from workers import DRAIN_SECONDS, bound, serve

# How long a connection may be idle, in seconds: longer than any pause between calls, since the client decides how long connections live.
IDLE_SECONDS = 3600


class EchoService(Echo):
    async def text(self, request: TextRequest, ctx: RequestContext) -> TextReply:
        return TextReply(echo=request.text)

    async def record(self, request: RecordRequest, ctx: RequestContext) -> RecordReply:
        return RecordReply(echo=request.record)

    async def dto(self, request: DtoRequest, ctx: RequestContext) -> DtoReply:
        return DtoReply(echo=request.dto)

    async def tree(self, request: TreeRequest, ctx: RequestContext) -> TreeReply:
        return TreeReply(echo=request.tree)


def listen(address: str, shared: bool) -> None:
    config = uvicorn.Config(
        EchoASGIApplication(EchoService()),
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
    )
    uvicorn.Server(config).run(sockets=[bound(address, shared)])


if __name__ == "__main__":
    serve("python-connect", listen)
