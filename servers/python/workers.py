"""One server process per CPU, since the interpreter lock limits a process to one: this process itself for one CPU, otherwise forked workers
that listen on the same port (SO_REUSEPORT), as in gRPC's multiprocessing example."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from runtime_log import log_collections

# How long calls in flight may take after SIGTERM.
DRAIN_SECONDS = 2.0

# Listens on an address, alone or with others on the same port, and serves until SIGTERM.
Run = Callable[[str, bool], None]


def serve(name: str, run: Run) -> None:
    """Runs a server in one process per CPU. `name` is the prefix of messages on stderr."""
    address, cpus = settings(name)
    try:
        log_collections()
        if cpus == 1:
            run(address, False)
        else:
            _refuse_port_in_use(address)
            _supervise(cpus, name, run, address)
    except (OSError, RuntimeError) as error:
        _fail(name, error)


def settings(name: str) -> tuple[str, int]:
    """Returns the address to listen on and the number of CPUs. A missing or wrong setting ends the process."""
    try:
        host = _setting("RPCBENCH_HOST")
        port = _whole_number("RPCBENCH_PORT", 65535)
        # An IPv6 address is bracketed before a port.
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return address, _whole_number("RPCBENCH_CPUS", 65535)
    except ValueError as error:
        _fail(name, error)


def certificate() -> tuple[str, str] | None:
    """Paths of certificate and key, both in PEM, of a server with TLS. None without RPCBENCH_TLS_CERT."""
    path = os.environ.get("RPCBENCH_TLS_CERT")
    return (path, _setting("RPCBENCH_TLS_KEY")) if path else None


def bound(address: str, shared: bool) -> socket.socket:
    """Returns a socket bound to the address, for servers that take one. `shared`: other processes bind to the same port."""
    family, kind, protocol, _, target = _resolve(address)
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, int(shared))
    try:
        listener.bind(target)
    except OSError as error:
        listener.close()
        raise OSError(f"cannot listen on {address}: {error.strerror}") from error
    return listener


def secured(listener: socket.socket) -> socket.socket:
    """Adds TLS if the server has a certificate. A connection's first read makes the handshake, so that none waits for another's."""
    if (paths := certificate()) is None:
        return listener
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*paths)
    return context.wrap_socket(listener, server_side=True, do_handshake_on_connect=False)


def _fail(name: str, error: object) -> NoReturn:
    print(f"{name}: {error}", file=sys.stderr)
    sys.exit(1)


def _setting(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ValueError(f"{name} is not set")
    return value


def _whole_number(name: str, maximum: int) -> int:
    text = _setting(name)
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= maximum):
        raise ValueError(f"{name}={text!r}: must be a whole number from 1 to {maximum}")
    return int(text)


def _resolve(address: str) -> tuple:
    host, _, port = address.rpartition(":")
    return socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]


def _refuse_port_in_use(address: str) -> None:
    """Refuses a port that another program uses: with SO_REUSEPORT the workers would share it."""
    bound(address, False).close()


def _supervise(count: int, name: str, run: Run, address: str) -> None:
    """Ends the server if it loses a worker, since it would no longer use all its CPUs."""
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=_work, args=(name, run, address)) for _ in range(count)]
    for worker in workers:
        worker.start()
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        for worker in workers:
            worker.terminate()

    signal.signal(signal.SIGTERM, stop)
    multiprocessing.connection.wait([worker.sentinel for worker in workers])
    was_stopped = stopping.is_set()
    stop()
    for worker in workers:
        worker.join()
    if not was_stopped:
        raise RuntimeError(f"a worker process ended: exit codes {[worker.exitcode for worker in workers]}")


def _work(name: str, run: Run, address: str) -> None:
    threading.Thread(target=_follow_parent, daemon=True).start()
    try:
        run(address, True)
    except (OSError, RuntimeError) as error:
        _fail(name, error)


def _follow_parent() -> None:
    """Ends the worker when its parent ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
