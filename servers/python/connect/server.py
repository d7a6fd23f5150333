"""The contract's service on Connect and uvicorn: Connect and JSON over HTTP/1.1."""

from connectrpc.request import RequestContext

from asgi import on_uvicorn
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
from workers import serve


class EchoService(Echo):
    async def text(self, request: TextRequest, ctx: RequestContext) -> TextReply:
        return TextReply(echo=request.text)

    async def record(self, request: RecordRequest, ctx: RequestContext) -> RecordReply:
        return RecordReply(echo=request.record)

    async def dto(self, request: DtoRequest, ctx: RequestContext) -> DtoReply:
        return DtoReply(echo=request.dto)

    async def tree(self, request: TreeRequest, ctx: RequestContext) -> TreeReply:
        return TreeReply(echo=request.tree)


if __name__ == "__main__":
    serve("python-connect", on_uvicorn(EchoASGIApplication(EchoService())))
