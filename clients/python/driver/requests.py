"""Requests with nonces, and checks of their replies."""

import itertools
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

NONCE_DIGITS = 8
# Whole messages are compared on every 16th call.
WHOLE_EVERY = 16
# The field with the nonce, in the content of a request; `text` is a field of the request itself.
FIELDS = {"text": "text", "record": "field1", "dto": "prop1", "tree": "name"}

nonces = itertools.count(1)


class Request:
    """A decoded request, which gets a nonce before each call."""

    __slots__ = ("message", "content", "field", "skipped", "tail", "text", "whole")

    def __init__(self, message: Any, content: Any, field: str, text: str) -> None:
        self.message, self.content, self.field, self.text = message, content, field, text
        # A short field gets the last digits that fit.
        self.skipped = max(NONCE_DIGITS - len(text), 0)
        self.tail = text[NONCE_DIGITS:]
        self.whole = False

    def next_text(self) -> str:
        nonce = next(nonces)
        self.whole = nonce % WHOLE_EVERY == 0
        self.text = f"{nonce % 10**NONCE_DIGITS:08d}"[self.skipped :] + self.tail
        return self.text

    def is_answered_by(self, reply: Any) -> bool:
        """Whether a reply is correct. Some libraries return None for one that can't be decoded, and JSON may be of any type."""
        try:
            return self.is_echoed_by(reply)
        except (AttributeError, LookupError, TypeError):
            return False


class ObjectRequest(Request):
    """A request of a generated class: protobuf or Thrift."""

    __slots__ = ()

    def patch(self) -> None:
        setattr(self.content, self.field, self.next_text())

    def is_echoed_by(self, reply: Any) -> bool:
        echo = reply.echo
        if self.content is self.message:
            return echo == self.text
        return getattr(echo, self.field) == self.text and (not self.whole or echo == self.content)


class JsonRequest(Request):
    __slots__ = ()

    def patch(self) -> None:
        self.content[self.field] = self.next_text()

    def is_echoed_by(self, reply: Any) -> bool:
        echo = reply["echo"]
        if self.content is self.message:
            return echo == self.text
        return echo[self.field] == self.text and (not self.whole or echo == self.content)


def objects(read: Callable[[str, bytes], Any]) -> Callable[[str, bytes], ObjectRequest]:
    """Returns a decoder for requests of generated classes, which `read` parses for a shape."""

    def decode(shape: str, data: bytes) -> ObjectRequest:
        message = read(shape, data)
        content = message if shape == "text" else getattr(message, shape)
        return ObjectRequest(message, content, FIELDS[shape], getattr(content, FIELDS[shape]))

    return decode


def decode_json(shape: str, data: bytes) -> JsonRequest:
    message = json.loads(data)
    content = message if shape == "text" else message[shape]
    return JsonRequest(message, content, FIELDS[shape], content[FIELDS[shape]])


def read_requests(path: str) -> list[bytes]:
    """Reads a file of requests, each preceded by its length."""
    data, at, requests = Path(path).read_bytes(), 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        requests.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    if not requests or at != len(data):
        raise ValueError(f"{path}: request {len(requests)} is cut short" if requests else f"{path}: no requests")
    return requests


def read_schedule(path: str) -> tuple[int, ...]:
    """Reads a file of due times."""
    data = Path(path).read_bytes()
    return struct.unpack(f"<{len(data) // 8}Q", data)
