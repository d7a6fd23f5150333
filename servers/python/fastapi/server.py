"""The contract's service as JSON on FastAPI and uvicorn."""

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic_core import PydanticSerializationError

from messages import (
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

app = FastAPI(openapi_url=None)


@app.post("/rpcbench.v1.Echo/Text")
async def text(request: TextRequest) -> TextReply:
    return TextReply(echo=request.text)


@app.post("/rpcbench.v1.Echo/Record")
async def record(request: RecordRequest) -> RecordReply:
    return RecordReply(echo=request.record)


@app.post("/rpcbench.v1.Echo/Dto")
async def dto(request: DtoRequest) -> DtoReply:
    return DtoReply(echo=request.dto)


@app.post("/rpcbench.v1.Echo/Tree", response_model_exclude_none=True)
async def tree(request: TreeRequest) -> TreeReply:
    return TreeReply(echo=request.tree)


@app.exception_handler(RequestValidationError)
async def refuse(_: Request, error: RequestValidationError) -> JSONResponse:
    """Says what is wrong and where. FastAPI's own handler also repeats the input, which fails for values that JSON does not have."""
    problems = [{"loc": problem["loc"], "msg": problem["msg"]} for problem in error.errors()]
    return JSONResponse({"detail": problems}, status_code=422)


@app.exception_handler(PydanticSerializationError)
async def refuse_text(_: Request, error: PydanticSerializationError) -> JSONResponse:
    """Half of a surrogate pair: Python's parser accepts it, but it can't be written as UTF-8."""
    return JSONResponse({"detail": str(error)}, status_code=422)


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
