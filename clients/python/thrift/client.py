"""Calls the contract's service with Apache Thrift's library."""

from rpcbench.v1 import Echo
from rpcbench.v1.ttypes import DtoRequest, RecordRequest, TextRequest, TreeRequest
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated, TBinaryProtocolAcceleratedFactory
from thrift.Thrift import TApplicationException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TFramedTransport, TTransportException
from thrift.TSerialization import deserialize

from driver import requests, threads
from driver.library import STATUS, TIMEOUT, TRANSPORT, WRONG_ANSWER, Connections, Library, Outcome, Target

REQUESTS = {"text": TextRequest, "record": RecordRequest, "dto": DtoRequest, "tree": TreeRequest}
# The library's exceptions for a reply to another call, or without a result.
UNRELATED = {
    TApplicationException.BAD_SEQUENCE_ID,
    TApplicationException.WRONG_METHOD_NAME,
    TApplicationException.INVALID_MESSAGE_TYPE,
    TApplicationException.MISSING_RESULT,
}


class Connection:
    """Framed, with the protocol in C. The next call after an error opens it again."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.transport: TFramedTransport | None = None

    def wait_until_open(self) -> None:
        host, _, port = self.target.address.rpartition(":")
        socket = TSocket(host.strip("[]"), int(port))
        socket.setTimeout(self.target.timeout_seconds * 1000)
        self.transport = TFramedTransport(socket)
        self.transport.open()
        client = Echo.Client(TBinaryProtocolAccelerated(self.transport))
        self.method = getattr(client, self.target.method)

    def call(self, request):
        try:
            if self.transport is None:
                self.wait_until_open()
            return self.method(request)
        except TApplicationException as error:
            if error.type in UNRELATED:
                self.close()
            raise
        except Exception:
            self.close()
            raise

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()
            self.transport = None


def outcome(error: Exception) -> Outcome:
    if isinstance(error, TApplicationException):
        return (WRONG_ANSWER, 0) if error.type in UNRELATED else (STATUS, error.type)
    if isinstance(error, TTransportException):
        return (TIMEOUT if error.type == TTransportException.TIMED_OUT else TRANSPORT), 0
    if isinstance(error, OSError):
        return TRANSPORT, 0
    # From the decoder, in Python or in C.
    return WRONG_ANSWER, 0


def read(shape: str, data: bytes):
    return deserialize(REQUESTS[shape](), data, TBinaryProtocolAcceleratedFactory())


if __name__ == "__main__":
    threads.run(Library("thrift", "thrift", Connections.EXCLUSIVE, requests.objects(read), Connection, outcome))
