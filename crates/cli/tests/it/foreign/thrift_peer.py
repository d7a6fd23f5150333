"""Apache's Thrift library as a peer: its client, which calls a server of the contract, or a server.

thrift_peer.py call PROTOCOL PORT
thrift_peer.py serve PROTOCOL
"""

import sys

from rpcbench.v1 import Echo
from rpcbench.v1.ttypes import (
    Branch,
    Contact,
    DtoReply,
    DtoRequest,
    FlatRecord,
    PropertyDto,
    RecordReply,
    RecordRequest,
    Status,
    Tag,
    TextReply,
    TextRequest,
    TreeNode,
    TreeReply,
    TreeRequest,
)
from thrift.protocol.TBinaryProtocol import TBinaryProtocolFactory
from thrift.protocol.TCompactProtocol import TCompactProtocolFactory
from thrift.server.TServer import TThreadedServer
from thrift.Thrift import TType
from thrift.transport.TSocket import TServerSocket, TSocket
from thrift.transport.TTransport import TBufferedTransportFactory, TFramedTransportFactory

FACTORIES = {
    "thrift": (TFramedTransportFactory, TBinaryProtocolFactory),
    "thrift-compact": (TFramedTransportFactory, TCompactProtocolFactory),
    "thrift-buffered": (TBufferedTransportFactory, TBinaryProtocolFactory),
    "thrift-buffered-compact": (TBufferedTransportFactory, TCompactProtocolFactory),
}

TEXTS = ["a", "naïve 東京 🚀 \\ \0 tab\t", "x" * 70_000]


def records() -> list[FlatRecord]:
    """One with another value in each field, and one with every field at its default."""
    values = {
        TType.STRING: lambda number: f"field {number}, größer",
        TType.BOOL: lambda number: number % 4 != 1,
        TType.I32: lambda number: number - 2**31,
        TType.I64: lambda number: number - 2**63,
        TType.LIST: lambda number: [2**63 - 1, -1, number],
    }
    fields = [field for field in FlatRecord.thrift_spec if field]
    filled = {name: values[kind](number) for number, kind, name, *_ in fields}
    return [FlatRecord(**filled), FlatRecord(**{name: type(value)() for name, value in filled.items()})]


def dtos() -> list[PropertyDto]:
    ends = [2**31 - 1, -(2**31), 0, 0.1, -1.7976931348623157e308, 5e-324]
    return [
        PropertyDto("7d444840-9dc0-11d1-b245-5ffdce74fad2", "b", "c", *ends, True, False, True),
        PropertyDto("", "", "", 0, 0, 0, 0.0, float("inf"), float("-inf"), False, False, False),
    ]


def trees() -> list[TreeNode]:
    left = Branch("left", 2**63 - 1, [Tag("k", "v"), Tag("clé", "")])
    return [
        tree(Contact(email="root@example.com"), left, Branch("right", -1, []), {"hits": 2**63 - 1, "": -1}),
        tree(Contact(phone=-1), left, None, {}),
        tree(None, None, None, {str(number): number for number in range(1000)}),
    ]


def tree(contact: Contact | None, left: Branch | None, right: Branch | None, counters: dict[str, int]) -> TreeNode:
    scalars = ["root", b"\x00\xff\x80", -41, -(2**63), 2**63 - 1, 99.5, 0.25, True, Status.STATUS_SUSPENDED]
    return TreeNode(*scalars, contact, left, right, counters)


def call(protocol: str, port: int) -> None:
    """All over one connection."""
    transport, encoding = FACTORIES[protocol]
    socket = TSocket("127.0.0.1", port)
    socket.setTimeout(60_000)
    connection = transport().getTransport(socket)
    client = Echo.Client(encoding().getProtocol(connection))
    calls = [(client.Text, TextRequest(text), TextReply(text)) for text in TEXTS]
    calls += [(client.Record, RecordRequest(record), RecordReply(record)) for record in records()]
    calls += [(client.Dto, DtoRequest(dto), DtoReply(dto)) for dto in dtos()]
    calls += [(client.Tree, TreeRequest(value), TreeReply(value)) for value in trees()]
    connection.open()
    for method, request, right in calls:
        reply = method(request)
        assert reply == right, f"{method.__name__}: {reply}, not {right}"
    connection.close()
    print(len(calls), "right replies")


class Handler(Echo.Iface):
    def Text(self, request: TextRequest) -> TextReply:
        return TextReply(request.text)

    def Record(self, request: RecordRequest) -> RecordReply:
        return RecordReply(request.record)

    def Dto(self, request: DtoRequest) -> DtoReply:
        return DtoReply(request.dto)

    def Tree(self, request: TreeRequest) -> TreeReply:
        return TreeReply(request.tree)


class Listener(TServerSocket):
    """Says on which port it listens."""

    def listen(self) -> None:
        super().listen()
        print("listens on 127.0.0.1:%d" % self.handle.getsockname()[1], file=sys.stderr, flush=True)


def serve(protocol: str) -> None:
    transport, encoding = FACTORIES[protocol]
    server = TThreadedServer(Echo.Processor(Handler()), Listener("127.0.0.1", 0), transport(), encoding(), daemon=True)
    server.serve()


if __name__ == "__main__":
    command, protocol, *port = sys.argv[1:]
    if command == "call":
        call(protocol, int(port[0]))
    else:
        serve(protocol)
