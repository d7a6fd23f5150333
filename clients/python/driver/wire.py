"""Frames to and from rpcbench."""

import json
import os
import socket
import struct
import threading
from typing import Any, BinaryIO

MESSAGE, RECORDS = 1, 2
HEADER = struct.Struct("<II")
RECORD = struct.Struct("<QQIBBH")
# Payload of a full frame of records.
RECORDS_BYTES = 4096 // RECORD.size * RECORD.size
MAX_FRAME = 65536
# How long a record may wait.
FLUSH_SECONDS = 0.005


class Wire:
    """Writes frames, in order, from any thread."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.lock = threading.Lock()
        self.records = bytearray()

    def record(self, start: int, done: int, call: int, outcome: int, status: int) -> None:
        """Adds a call that ended."""
        with self.lock:
            self.records += RECORD.pack(start, done, call, outcome, 0, status)
            if len(self.records) >= RECORDS_BYTES:
                self.write_records()

    def flush(self) -> None:
        """Sends the pending records."""
        with self.lock:
            self.write_records()

    def send(self, kind: str, **fields: Any) -> None:
        """Sends a message after the pending records."""
        text = json.dumps({"type": kind, **fields}).encode()
        with self.lock:
            self.write_records()
            self.write(MESSAGE, text)

    def write_records(self) -> None:
        if self.records:
            self.write(RECORDS, self.records)
            self.records.clear()

    def write(self, kind: int, content: bytes | bytearray) -> None:
        try:
            self.socket.sendall(HEADER.pack(len(content), kind) + content)
        except OSError:
            # rpcbench has closed the socket.
            os._exit(0)


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """Reads the next message. None if rpcbench has closed the socket, even within a message."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    length, kind = HEADER.unpack(header)
    if kind != MESSAGE or length > MAX_FRAME:
        raise ValueError(f"a frame of kind {kind} with {length} bytes; expected kind {MESSAGE} with at most {MAX_FRAME}")
    text = stream.read(length)
    return json.loads(text) if len(text) == length else None
