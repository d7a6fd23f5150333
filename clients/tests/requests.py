"""Writes files of requests in every encoding, from contract/echo.proto."""

import base64
import json
import pathlib
import random
import re
import struct

ROOT = pathlib.Path(__file__).resolve().parents[2]
# How texts in messages begin, and what follows in `text`, whose first 8 characters the nonce replaces. A proxy finds both in any encoding.
MARK = "markmark"
TAIL = "tailtail"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FIELD = re.compile(r"(?:(repeated) )?(map<string, int64>|\w+) (\w+) = (\d+);")


def messages() -> dict[str, list[tuple[int, str, str]]]:
    """Number, type and name of the fields of each message. Members of the oneof have the types of its first one only."""
    text = re.sub(r"//.*", "", (ROOT / "contract/echo.proto").read_text())
    text = re.sub(r"oneof contact \{\s*(string email = 10;)[^}]*\}", r"\1", text)
    found = {}
    for name, body in re.findall(r"message (\w+) \{(.*?)\}", text, re.DOTALL):
        found[name] = [(int(n), f"{kind}[]" if many else kind, field) for many, kind, field, n in FIELD.findall(body)]
    return found


MESSAGES = messages()
SCALARS = {
    "string": lambda r: MARK + "".join(r.choices(LETTERS, k=12)) + "é",
    "bytes": lambda r: r.randbytes(16),
    "bool": lambda r: True,
    "double": lambda r: r.uniform(1, 1e6),
    "float": lambda r: r.randrange(1, 1 << 20) / 8,
    "int32": lambda r: r.randrange(1, 1 << 31),
    "int64": lambda r: r.randrange(1, 1 << 63),
    "uint64": lambda r: r.randrange(1, 1 << 63),
    "fixed64": lambda r: r.randrange(1, 1 << 63),
    "Status": lambda r: 2,
    "map<string, int64>": lambda r: {"first": r.randrange(1, 1 << 63), "second": 2},
}


def value(kind: str, r: random.Random):
    if kind.endswith("[]"):
        return [value(kind[:-2], r) for _ in range(2)]
    if kind in SCALARS:
        return SCALARS[kind](r)
    return {name: value(of, r) for _, of, name in MESSAGES[kind]}


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def as_protobuf(kind: str, item) -> tuple[int, bytes]:
    """Wire type and bytes of a value."""
    if kind in ("string", "bytes"):
        data = item.encode() if kind == "string" else item
    elif kind == "double":
        return 1, struct.pack("<d", item)
    elif kind == "float":
        return 5, struct.pack("<f", item)
    elif kind == "fixed64":
        return 1, struct.pack("<Q", item)
    elif kind in ("bool", "int32", "int64", "uint64", "Status"):
        return 0, varint(int(item))
    else:
        data = protobuf(kind, item)
    return 2, varint(len(data)) + data


def protobuf(message: str, fields: dict) -> bytes:
    out = b""
    for number, kind, name in MESSAGES[message]:
        item = fields[name]
        if kind == "fixed64[]":
            packed = b"".join(struct.pack("<Q", one) for one in item)
            out += varint(number << 3 | 2) + varint(len(packed)) + packed
            continue
        if kind.startswith("map"):
            entries = [b"\x0a" + varint(len(k)) + k.encode() + b"\x10" + varint(v) for k, v in item.items()]
            out += b"".join(varint(number << 3 | 2) + varint(len(entry)) + entry for entry in entries)
            continue
        for one in item if kind.endswith("[]") else [item]:
            wire, data = as_protobuf(kind.removesuffix("[]"), one)
            out += varint(number << 3 | wire) + data
    return out


def to_json(kind: str, item):
    if kind.endswith("[]"):
        return [to_json(kind[:-2], one) for one in item]
    if kind in ("int64", "uint64", "fixed64"):
        return str(item)
    if kind.startswith("map"):
        return {key: str(one) for key, one in item.items()}
    if kind == "bytes":
        return base64.b64encode(item).decode()
    if kind == "Status":
        return "STATUS_SUSPENDED"
    if kind in SCALARS:
        return item
    return {name: to_json(of, item[name]) for _, of, name in MESSAGES[kind]}


THRIFT_TYPES = {"bool": 2, "double": 4, "float": 4, "int32": 8, "Status": 8, "int64": 10, "uint64": 10, "fixed64": 10}


def as_thrift(kind: str, item) -> tuple[int, bytes]:
    """Type and bytes of a value."""
    if kind.endswith("[]"):
        encoded = [as_thrift(kind[:-2], one) for one in item]
        return 15, struct.pack(">BI", encoded[0][0], len(encoded)) + b"".join(data for _, data in encoded)
    if kind.startswith("map"):
        entries = b"".join(as_thrift("string", key)[1] + struct.pack(">q", one) for key, one in item.items())
        return 13, struct.pack(">BBI", 11, 10, len(item)) + entries
    if kind in ("string", "bytes"):
        data = item.encode() if kind == "string" else item
        return 11, struct.pack(">I", len(data)) + data
    if kind in THRIFT_TYPES:
        number = THRIFT_TYPES[kind]
        return number, struct.pack({2: ">?", 4: ">d", 8: ">i", 10: ">q"}[number], item)
    return 12, thrift(kind, item)


def thrift(message: str, fields: dict) -> bytes:
    out = b""
    for number, kind, name in MESSAGES[message]:
        of, data = as_thrift(kind, fields[name])
        # The oneof of echo.proto is a union.
        if name == "email":
            of, data = 12, struct.pack(">Bh", of, number) + data + b"\0"
        out += struct.pack(">Bh", of, number) + data
    return out + b"\0"


def write(path: pathlib.Path, protocol: str, shape: str, number: int) -> None:
    r = random.Random(7)
    name = f"{shape.capitalize()}Request"
    with path.open("wb") as file:
        for _ in range(number):
            fields = value(name, r)
            if shape == "text":
                fields["text"] = MARK + TAIL + "".join(r.choices(LETTERS, k=84))
            if protocol in ("grpc", "connect"):
                data = protobuf(name, fields)
            elif protocol.startswith("json"):
                data = json.dumps(to_json(name, fields), ensure_ascii=False, separators=(",", ":")).encode()
            else:
                data = thrift(name, fields)
            file.write(struct.pack("<I", len(data)) + data)
