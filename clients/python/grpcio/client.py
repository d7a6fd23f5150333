"""Calls the contract's service with grpcio: client.py asyncio | threads."""

import asyncio
import sys

import grpc

import echo_pb2 as pb
import echo_pb2_grpc
from driver import aio, requests, threads
from driver.library import STATUS, TIMEOUT, TRANSPORT, WRONG_ANSWER, Connections, Library, Outcome, Target

OPEN_SECONDS = 10
# The library's defaults, without retries, and with a connection per channel: by default, channels to the same target share one.
OPTIONS = [("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1)]


class Channel:
    def __init__(self, target: Target) -> None:
        self.channel = grpc.insecure_channel(target.address, OPTIONS)
        self.method = getattr(echo_pb2_grpc.EchoStub(self.channel), target.method)
        self.timeout = target.timeout_seconds

    def wait_until_open(self) -> None:
        try:
            grpc.channel_ready_future(self.channel).result(OPEN_SECONDS)
        except grpc.FutureTimeoutError:
            raise TimeoutError(f"no connection within {OPEN_SECONDS} s") from None

    def call(self, request):
        return self.method(request, timeout=self.timeout)

    def close(self) -> None:
        self.channel.close()


class AioChannel:
    def __init__(self, target: Target) -> None:
        self.channel = grpc.aio.insecure_channel(target.address, OPTIONS)
        self.method = getattr(echo_pb2_grpc.EchoStub(self.channel), target.method)
        self.timeout = target.timeout_seconds

    async def wait_until_open(self) -> None:
        try:
            await asyncio.wait_for(self.channel.channel_ready(), OPEN_SECONDS)
        except asyncio.TimeoutError:
            raise TimeoutError(f"no connection within {OPEN_SECONDS} s") from None

    async def call(self, request):
        return await self.method(request, timeout=self.timeout)

    async def close(self) -> None:
        await self.channel.close()


def outcome(error: Exception) -> Outcome:
    # With asyncio, the decoder's exception is raised unchanged.
    if not isinstance(error, grpc.RpcError):
        return WRONG_ANSWER, 0
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return TIMEOUT, 0
    if error.details() == "Exception deserializing response!":
        return WRONG_ANSWER, 0
    # Statuses that the library raises; UNAVAILABLE may also be the server's.
    if code is grpc.StatusCode.UNAVAILABLE or (error.details() or "").startswith("Stream removed ("):
        return TRANSPORT, 0
    return STATUS, code.value[0]


if __name__ == "__main__":
    variants = {"asyncio": (aio.run, AioChannel), "threads": (threads.run, Channel)}
    if len(sys.argv) != 2 or sys.argv[1] not in variants:
        sys.exit(f"python-grpcio: expected one argument, one of: {', '.join(variants)}")
    run, client = variants[sys.argv[1]]
    # Keeps the library's poller running. It would end with the last channel, and might report a bad file descriptor.
    grpc.aio.init_grpc_aio()
    types = {"text": pb.TextRequest, "record": pb.RecordRequest, "dto": pb.DtoRequest, "tree": pb.TreeRequest}
    decode = requests.objects(lambda shape, data: types[shape].FromString(data))
    run(Library("grpcio", "grpcio", Connections.MULTIPLEXED, decode, client, outcome))
