"""The contract's service as JSON on Flask. gunicorn.conf.py configures it."""

from flask import Flask, Response, request
from pydantic import BaseModel, ValidationError

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

app = Flask("python-flask", static_folder=None)


def reply(message: BaseModel) -> Response:
    return Response(message.model_dump_json(exclude_none=True), mimetype="application/json")


@app.post("/rpcbench.v1.Echo/Text")
def text() -> Response:
    return reply(TextReply(echo=TextRequest.model_validate_json(request.get_data()).text))


@app.post("/rpcbench.v1.Echo/Record")
def record() -> Response:
    return reply(RecordReply(echo=RecordRequest.model_validate_json(request.get_data()).record))


@app.post("/rpcbench.v1.Echo/Dto")
def dto() -> Response:
    return reply(DtoReply(echo=DtoRequest.model_validate_json(request.get_data()).dto))


@app.post("/rpcbench.v1.Echo/Tree")
def tree() -> Response:
    return reply(TreeReply(echo=TreeRequest.model_validate_json(request.get_data()).tree))


@app.errorhandler(ValidationError)
def refuse(error: ValidationError) -> Response:
    body = error.json(include_url=False, include_input=False, include_context=False)
    return Response(body, status=400, mimetype="application/json")
