"""The contract's service as JSON on FastAPI, for any ASGI server."""

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
    """Reports what is wrong and where. FastAPI's handler also repeats the input, which fails for values that JSON lacks."""
    problems = [{"loc": problem["loc"], "msg": problem["msg"]} for problem in error.errors()]
    return JSONResponse({"detail": problems}, status_code=422)


@app.exception_handler(PydanticSerializationError)
async def refuse_text(_: Request, error: PydanticSerializationError) -> JSONResponse:
    """Refuses half of a surrogate pair, which Python's parser accepts, but which can't be encoded as UTF-8."""
    return JSONResponse({"detail": str(error)}, status_code=422)
