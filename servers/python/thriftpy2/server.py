"""The contract's Thrift service on thriftpy2, which reads the contract at start."""

import signal
import socket
import sys
from pathlib import Path

import thriftpy2
from thriftpy2.protocol import TCyBinaryProtocolFactory
from thriftpy2.server import TThreadedServer
from thriftpy2.thrift import TProcessor
from thriftpy2.transport import TCyFramedTransportFactory, TServerSocket

from workers import bound, secured, serve

echo = thriftpy2.load(str(Path(__file__).with_name("echo.thrift")), module_name="echo_thrift")


class Handler:
    def Text(self, request: echo.TextRequest) -> echo.TextReply:
        return echo.TextReply(echo=request.text)

    def Record(self, request: echo.RecordRequest) -> echo.RecordReply:
        return echo.RecordReply(echo=request.record)

    def Dto(self, request: echo.DtoRequest) -> echo.DtoReply:
        return echo.DtoReply(echo=request.dto)

    def Tree(self, request: echo.TreeRequest) -> echo.TreeReply:
        return echo.TreeReply(echo=request.tree)


class Listener(TServerSocket):
    """The library's listener always shares its port."""

    def __init__(self, address: str, shared: bool) -> None:
        # The client decides how long connections live, and may open thousands at once.
        super().__init__(client_timeout=None, backlog=socket.SOMAXCONN)
        self.sock = secured(bound(address, shared))
        # Connections inherit this from the listener.
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def listen(self) -> None:
        self.sock.listen(self.backlog)


def run(address: str, shared: bool) -> None:
    # The library has no graceful shutdown: its threads end with the process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = TThreadedServer(
        TProcessor(echo.Echo, Handler()),
        Listener(address, shared),
        iprot_factory=TCyBinaryProtocolFactory(),
        itrans_factory=TCyFramedTransportFactory(),
        daemon=True,
    )
    server.serve()


if __name__ == "__main__":
    serve("python-thriftpy2", run)
