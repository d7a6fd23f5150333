"""The contract's Thrift service on Apache Thrift's library."""

import signal
import socket
import sys

from rpcbench.v1 import Echo
from rpcbench.v1.ttypes import (
    DtoReply,
    DtoRequest,
    RecordReply,
    RecordRequest,
    TextReply,
    TextRequest,
    TreeReply,
    TreeRequest,
)
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAcceleratedFactory
from thrift.server.TServer import TThreadedServer
from thrift.transport.TSocket import TServerSocket
from thrift.transport.TTransport import TFramedTransportFactory

from workers import bound, secured, serve


class Handler(Echo.Iface):
    def Text(self, request: TextRequest) -> TextReply:
        return TextReply(echo=request.text)

    def Record(self, request: RecordRequest) -> RecordReply:
        return RecordReply(echo=request.record)

    def Dto(self, request: DtoRequest) -> DtoReply:
        return DtoReply(echo=request.dto)

    def Tree(self, request: TreeRequest) -> TreeReply:
        return TreeReply(echo=request.tree)


class Listener(TServerSocket):
    """The library's listener can't share its port."""

    def __init__(self, address: str, shared: bool) -> None:
        super().__init__()
        self.handle = secured(bound(address, shared))
        # Connections inherit this from the listener.
        self.handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def listen(self) -> None:
        self.handle.listen(socket.SOMAXCONN)


def run(address: str, shared: bool) -> None:
    # The library has no graceful shutdown: its threads end with the process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = TThreadedServer(
        Echo.Processor(Handler()),
        Listener(address, shared),
        TFramedTransportFactory(),
        TBinaryProtocolAcceleratedFactory(),
        daemon=True,
    )
    server.serve()


if __name__ == "__main__":
    serve("python-thrift", run)
