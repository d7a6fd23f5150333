"""The contract's messages as Pydantic models. In JSON 64-bit integers are decimal strings, and bytes are base64."""

import base64
from enum import Enum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, EncodedBytes, EncoderProtocol, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema


class Decimal:
    """An integer that is a decimal string in JSON."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.chain_schema(
            [core_schema.str_schema(strict=True, pattern=r"^-?[0-9]+$"), handler(source)],
            serialization=core_schema.to_string_ser_schema(when_used="json"),
        )


class Base64(EncoderProtocol):
    @classmethod
    def decode(cls, data: bytes) -> bytes:
        return base64.b64decode(data, validate=True)

    @classmethod
    def encode(cls, value: bytes) -> bytes:
        return base64.b64encode(value)

    @classmethod
    def get_json_format(cls) -> str:
        return "base64"


Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63, strict=False), Decimal()]
Uint64 = Annotated[int, Field(ge=0, lt=2**64, strict=False), Decimal()]
Bytes = Annotated[bytes, Field(strict=False), EncodedBytes(encoder=Base64)]


class Message(BaseModel):
    """Values of a wrong type are refused, not converted."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class FlatRecord(Message):
    field1: str
    field2: Int32
    field3: Int32
    field4: str
    field5: list[Uint64]
    field6: Int32
    field7: str
    field9: str
    field12: bool
    field13: bool
    field14: bool
    field16: Int32
    field17: bool
    field18: str
    field22: Int64
    field23: Int32
    field24: bool
    field25: Int32
    field29: Int32
    field30: bool
    field59: bool
    field60: Int32
    field67: Int32
    field68: Int32
    field78: bool
    field80: bool
    field81: bool
    field100: Int32
    field101: Int32
    field102: str
    field103: str
    field104: Int32
    field128: Int32
    field129: str
    field130: Int32
    field131: Int32
    field150: Int32
    field271: Int32
    field272: Int32
    field280: Int32


class PropertyDto(Message):
    prop1: str
    prop2: str
    prop3: str
    prop4: Int32
    prop5: Int32
    prop6: Int32
    prop7: float
    prop8: float
    prop9: float
    prop10: bool
    prop11: bool
    prop12: bool


class Status(str, Enum):
    UNSPECIFIED = "STATUS_UNSPECIFIED"
    ACTIVE = "STATUS_ACTIVE"
    SUSPENDED = "STATUS_SUSPENDED"
    CLOSED = "STATUS_CLOSED"


class Tag(Message):
    key: str
    value: str


class Branch(Message):
    name: str
    id: Uint64
    tags: list[Tag]


class TreeNode(Message):
    name: str
    digest: Bytes
    age: Int32
    balance: Int64
    serial: Uint64
    score: float
    ratio: float
    active: bool
    status: Annotated[Status, Field(strict=False)]
    email: str | None = None
    phone: Uint64 | None = None
    left: Branch | None = None
    right: Branch | None = None
    counters: dict[str, Int64]

    @model_validator(mode="after")
    def one_contact(self) -> "TreeNode":
        if self.email is not None and self.phone is not None:
            raise ValueError("email and phone exclude each other")
        return self


class TextRequest(Message):
    text: str


class TextReply(Message):
    echo: str


class RecordRequest(Message):
    record: FlatRecord


class RecordReply(Message):
    echo: FlatRecord


class DtoRequest(Message):
    dto: PropertyDto


class DtoReply(Message):
    echo: PropertyDto


class TreeRequest(Message):
    tree: TreeNode


class TreeReply(Message):
    echo: TreeNode
