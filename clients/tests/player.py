"""Plays rpcbench's part for a client program: the messages and records of contract/clients.md."""

import json
import os
import pathlib
import queue
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import tomllib
from collections import Counter
from dataclasses import dataclass

import requests

ROOT = requests.ROOT
OUTCOMES = ["ok", "wrong answer", "status", "timeout", "transport", "not sent"]
SECOND = 1_000_000_000
MILLISECOND = 1_000_000
TIMEOUT = 60.0


class Fault(Exception):
    """The program violates the contract."""


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise Fault(message)


@dataclass
class Record:
    start: int
    done: int
    call: int
    outcome: str
    status: int
    received: int


def manifest(name: str, role: str) -> tuple[dict, pathlib.Path]:
    """The manifest and the folder of an entry such as go-grpc."""
    for path in ROOT.glob(f"{role}s/*/*/{role}.toml"):
        if f"{path.parent.parent.name}-{path.parent.name}" == name:
            return tomllib.loads(path.read_text()), path.parent
    raise SystemExit(f"{name}: no {role}s/<language>/<library>/{role}.toml")


def command(name: str, role: str) -> list[str]:
    entry, _, variant = name.partition("@")
    keys, folder = manifest(entry, role)
    variants = keys.get("variants", {})
    arguments = variants[variant or next(iter(variants))].get("args", []) if variants else []
    words = []
    for word in keys["run"]["command"]:
        word = word.replace("{build}", str(ROOT / f"build/{role}s/{entry}")).replace("{server}", str(folder))
        words += arguments if word == "{args}" else [word]
    return words


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "RPCBENCH_CPUS": "1", "RPCBENCH_MEMORY": str(512 << 20), **more}


class Server:
    """A running server, which the program calls."""

    def __init__(self, name: str, protocol: str) -> None:
        self.name, self.protocol, self.port = name, protocol, free_port()
        self.start()

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        env = environment(RPCBENCH_HOST="127.0.0.1", RPCBENCH_PORT=str(self.port), RPCBENCH_PROTOCOL=self.protocol)
        self.process = subprocess.Popen(command(self.name, "server"), env=env)
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"{self.name}: does not listen")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Program:
    """A running client program."""

    def __init__(self, name: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = f"{self.folder.name}/socket"
        # Frames of records, with the instant of their arrival.
        self.frames: list[tuple[int, bytes]] = []
        self.messages: queue.Queue = queue.Queue()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            listener.settimeout(TIMEOUT)
            self.process = subprocess.Popen(command(name, "client"), env=environment(RPCBENCH_SOCKET=path))
            self.socket, _ = listener.accept()
        threading.Thread(target=self.read, daemon=True).start()
        self.hello = self.await_message("hello")

    def read(self) -> None:
        stream = self.socket.makefile("rb")
        while True:
            try:
                length, kind = struct.unpack("<II", stream.read(8))
                data = stream.read(length)
            except (OSError, struct.error):
                break
            received = time.monotonic_ns()
            if kind == 1:
                self.messages.put(json.loads(data))
            elif kind == 2 and length % 24 == 0:
                self.frames.append((received, data))
            else:
                self.messages.put({"type": f"a frame of kind {kind} with {length} bytes"})
        self.messages.put({"type": "end of the socket"})

    def send(self, kind: str, **fields) -> None:
        text = json.dumps({"type": kind, **fields}).encode()
        self.socket.sendall(struct.pack("<II", len(text), 1) + text)

    def await_message(self, *kinds: str) -> dict:
        try:
            message = self.messages.get(timeout=TIMEOUT)
        except queue.Empty:
            raise Fault(f"no {' or '.join(kinds)} within {TIMEOUT:.0f} s") from None
        expect(message["type"] in kinds, f"expected {' or '.join(kinds)}, not {message}")
        return message

    def open(self, target: str, protocol: str, shape: str = "text", **fields) -> dict:
        path = pathlib.Path(self.folder.name, f"{protocol}-{shape}")
        if not path.exists():
            requests.write(path, protocol, shape, 64)
        load = {"connections": 4, "in_flight": 1, "timeout_ns": SECOND, "calls_per_connection": 0, **fields}
        self.send("open", target=target, protocol=protocol, shape=shape, requests=str(path), **load)
        return self.await_message("opened", "failed")

    def start(self, at: int, **fields) -> None:
        self.frames.clear()
        self.send("start", at_ns=at, **{"calls": 0, **fields})
        ack = self.await_message("ack")
        expect(ack["of"] == "start", f"{ack} answers start")
        expect(not at or ack["received_ns"] < at, "`start` arrived after its instant")

    def schedule(self, due: list[int]) -> str:
        path = pathlib.Path(self.folder.name, "schedule")
        path.write_bytes(struct.pack(f"<{len(due)}Q", *due))
        return str(path)

    def stop(self, at: int) -> list[Record]:
        self.send("stop", at_ns=at)
        ack = self.await_message("ack")
        expect(ack["of"] == "stop", f"{ack} answers stop")
        return self.stopped()

    def stopped(self) -> list[Record]:
        message = self.await_message("stopped")
        records = []
        for received, data in self.frames:
            for start, done, call, outcome, zero, status in struct.iter_unpack("<QQIBBH", data):
                expect(zero == 0, "byte 21 of a record is not 0")
                records.append(Record(start, done, call, OUTCOMES[outcome], status, received))
        expect(message["calls"] == len(records), f"{message['calls']} calls, but {len(records)} records")
        return records

    def load(self, seconds: float) -> list[Record]:
        """The records of a closed loop."""
        at = time.monotonic_ns() + SECOND // 3
        self.start(at)
        return self.stop(at + int(seconds * SECOND))

    def close(self) -> None:
        self.send("close")

    def end(self) -> int:
        """Closes the socket within a frame."""
        self.socket.sendall(struct.pack("<II", 100, 1) + b"{")
        self.socket.shutdown(socket.SHUT_RDWR)
        return self.process.wait(timeout=5)

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=5)


class Proxy:
    """Forwards connections to a server, with replaced bytes."""

    def __init__(self, target: str) -> None:
        self.host, port = target.split(":")
        self.port, self.opened = int(port), 0
        self.requests: tuple[bytes, bytes] | None = None
        self.replies: tuple[bytes, bytes] | None = None
        # Received chunks of requests, by connection.
        self.sent: Counter[int] = Counter()
        self.sockets: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.target = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection((self.host, self.port))
            self.opened += 1
            self.sockets += [near, far]
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.forward, args=(near, far, "requests", self.opened), daemon=True).start()
            threading.Thread(target=self.forward, args=(far, near, "replies", self.opened), daemon=True).start()

    def forward(self, source: socket.socket, sink: socket.socket, direction: str, number: int) -> None:
        try:
            while data := source.recv(1 << 16):
                if direction == "requests":
                    self.sent[number] += 1
                if change := getattr(self, direction):
                    data = data.replace(*change)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def reset(self) -> None:
        """Ends all connections with a reset."""
        for one in self.sockets:
            try:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.shutdown(socket.SHUT_RDWR)
                one.close()
            except OSError:
                pass
        self.sockets.clear()
