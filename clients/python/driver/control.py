"""Reads rpcbench's messages, and executes them."""

import importlib.metadata
import os
import platform
import signal
import socket
import sys
import time
import traceback
from typing import Any, Protocol

from driver.library import Library
from driver.load import Load, Run
from driver.wire import Wire, read_message
from runtime_log import log_collections

CHECKS = "text: the whole string; others: the field with the nonce, and on every 16th call the whole message"


class Loops(Protocol):
    """Makes calls: with threads, or with asyncio."""

    def open(self, load: Load) -> None: ...

    def start(self, run: Run) -> None:
        """Starts a run, which calls `Control.finish` after its last record."""

    def close(self, load: Load) -> None: ...


class Control:
    def __init__(self, library: Library) -> None:
        path = os.environ.get("RPCBENCH_SOCKET")
        if not path:
            sys.exit(f"{library.name}: RPCBENCH_SOCKET is not set; rpcbench starts this program")
        log_collections()
        # As the first process of a container, this would ignore SIGTERM without a handler.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.library, self.wire = library, Wire(self.socket)
        self.loops: Loops
        self.load: Load | None = None
        self.run: Run | None = None
        self.wire.send(
            "hello",
            version=1,
            language="Python",
            library=library.name,
            library_version=importlib.metadata.version(library.distribution),
            runtime=f"{platform.python_implementation()} {platform.python_version()}",
            checks=CHECKS,
            clock_ns=time.monotonic_ns(),
        )

    def serve(self) -> None:
        """Executes messages until rpcbench closes the socket, and ends the process."""
        try:
            with self.socket.makefile("rb") as stream:
                while (message := read_message(stream)) is not None:
                    self.obey(message)
        except OSError:
            pass
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def obey(self, message: dict[str, Any]) -> None:
        received, kind = time.monotonic_ns(), message["type"]
        if kind in ("start", "stop"):
            self.wire.send("ack", of=kind, received_ns=received)
        try:
            if self.run and kind != "stop":
                raise ValueError("a load is running; stop it first")
            {"open": self.open, "start": self.start, "stop": self.stop, "close": self.close}[kind](message)
        except KeyError as error:
            self.wire.send("failed", error=f"{kind}: unknown or missing: {error}")
        except Exception as error:
            self.wire.send("failed", error=f"{kind}: {error or type(error).__name__}")

    def open(self, message: dict[str, Any]) -> None:
        if self.load:
            raise ValueError("connections are open; close them first")
        load = Load(self.library, message)
        try:
            self.loops.open(load)
        except BaseException:
            self.loops.close(load)
            raise
        self.load = load
        self.wire.send("opened", connections=load.opened)

    def start(self, message: dict[str, Any]) -> None:
        if not self.load:
            raise ValueError("no connections are open; send 'open' first")
        self.run = Run(self.load, message)
        self.loops.start(self.run)

    def finish(self, calls: int) -> None:
        self.run = None
        self.wire.send("stopped", calls=calls)

    def stop(self, message: dict[str, Any]) -> None:
        if run := self.run:
            run.stop(message["at_ns"])

    def close(self, _: dict[str, Any]) -> None:
        if self.load:
            self.loops.close(self.load)
            self.load = None
