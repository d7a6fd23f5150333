"""The contract's gRPC service on grpcio: server.py asyncio | thread-pool."""

import asyncio
import signal
import sys
from concurrent import futures
from pathlib import Path

import grpc

import echo_pb2 as pb
import echo_pb2_grpc
from workers import DRAIN_SECONDS, certificate, serve

# Python's default number of threads for one CPU: the interpreter lock lets one run at a time, while the others wait for I/O.
THREADS = 5


def record(request: pb.RecordRequest) -> pb.RecordReply:
    return pb.RecordReply(echo=request.record) if request.HasField("record") else pb.RecordReply()


def dto(request: pb.DtoRequest) -> pb.DtoReply:
    return pb.DtoReply(echo=request.dto) if request.HasField("dto") else pb.DtoReply()


def tree(request: pb.TreeRequest) -> pb.TreeReply:
    return pb.TreeReply(echo=request.tree) if request.HasField("tree") else pb.TreeReply()


class Echo(echo_pb2_grpc.EchoServicer):
    def Text(self, request: pb.TextRequest, context: grpc.ServicerContext) -> pb.TextReply:
        return pb.TextReply(echo=request.text)

    def Record(self, request: pb.RecordRequest, context: grpc.ServicerContext) -> pb.RecordReply:
        return record(request)

    def Dto(self, request: pb.DtoRequest, context: grpc.ServicerContext) -> pb.DtoReply:
        return dto(request)

    def Tree(self, request: pb.TreeRequest, context: grpc.ServicerContext) -> pb.TreeReply:
        return tree(request)


class AsyncEcho(echo_pb2_grpc.EchoServicer):
    async def Text(self, request: pb.TextRequest, context: grpc.aio.ServicerContext) -> pb.TextReply:
        return pb.TextReply(echo=request.text)

    async def Record(self, request: pb.RecordRequest, context: grpc.aio.ServicerContext) -> pb.RecordReply:
        return record(request)

    async def Dto(self, request: pb.DtoRequest, context: grpc.aio.ServicerContext) -> pb.DtoReply:
        return dto(request)

    async def Tree(self, request: pb.TreeRequest, context: grpc.aio.ServicerContext) -> pb.TreeReply:
        return tree(request)


MAX_WAIT_SECONDS = 3600


def options(shared: bool) -> list[tuple[str, int]]:
    """The library's defaults (messages up to 4 MiB, any number of calls at a time on a connection, TCP_NODELAY), with two exceptions.
    A single process does not share its port, or it would start next to a server that already has it. Calls that wait in a frozen
    server are not cancelled after 30 s, since the contract allows freezes of minutes."""
    return [("grpc.so_reuseport", int(shared)), ("grpc.server_max_unrequested_time_in_server", MAX_WAIT_SECONDS)]


def open_port(server: grpc.Server | grpc.aio.Server, address: str) -> None:
    if (paths := certificate()) is None:
        server.add_insecure_port(address)
        return
    chain, key = (Path(path).read_bytes() for path in paths)
    server.add_secure_port(address, grpc.ssl_server_credentials([(key, chain)]))


def run_thread_pool(address: str, shared: bool) -> None:
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=THREADS), options=options(shared))
    echo_pb2_grpc.add_EchoServicer_to_server(Echo(), server)
    open_port(server, address)
    signal.signal(signal.SIGTERM, lambda *_: server.stop(DRAIN_SECONDS))
    server.start()
    server.wait_for_termination()


def run_asyncio(address: str, shared: bool) -> None:
    # On asyncio's event loop, as in gRPC's documentation. uvloop would be one more dependency. It speeds up the scheduling of handlers,
    # by about a tenth overall, but not the I/O, which gRPC's core does.
    asyncio.run(serve_asyncio(address, shared))


async def serve_asyncio(address: str, shared: bool) -> None:
    server = grpc.aio.server(options=options(shared))
    echo_pb2_grpc.add_EchoServicer_to_server(AsyncEcho(), server)
    open_port(server, address)
    terminate = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate.set)
    await server.start()
    await terminate.wait()
    await server.stop(DRAIN_SECONDS)


if __name__ == "__main__":
    variants = {"asyncio": run_asyncio, "thread-pool": run_thread_pool}
    if len(sys.argv) != 2 or sys.argv[1] not in variants:
        sys.exit(f"python-grpcio: expected one argument, one of: {', '.join(variants)}")
    serve("python-grpcio", variants[sys.argv[1]])
