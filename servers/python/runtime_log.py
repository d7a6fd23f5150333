"""Writes the contract's runtime log to the file RPCBENCH_RUNTIME_LOG. CPython counts neither the heap nor allocations, so there are no
readings."""

import gc
import os
import time


def log_collections() -> None:
    """Starts the log of this process, and of those that it forks later. Does nothing without the variable."""
    path = os.environ.get("RPCBENCH_RUNTIME_LOG")
    if not path:
        return
    file = os.open(path, os.O_APPEND | os.O_WRONLY | os.O_CREAT, 0o644)
    started = 0

    def on_collection(phase: str, info: dict[str, int]) -> None:
        nonlocal started
        now = time.monotonic_ns()
        if phase == "start":
            started = now
        else:
            os.write(file, b"%d pause %d %d generation-%d -\n" % (os.getpid(), now, now - started, info["generation"]))

    os.write(file, b"%d begin %d\n" % (os.getpid(), time.monotonic_ns()))
    gc.callbacks.append(on_collection)
