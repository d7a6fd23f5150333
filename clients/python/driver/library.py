"""How a client program describes its library."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

OK, WRONG_ANSWER, STATUS, TIMEOUT, TRANSPORT, NOT_SENT = range(6)

# How a call ended, with the protocol's status if it is STATUS.
Outcome = tuple[int, int]


@dataclass(frozen=True)
class Target:
    """Where and how to open connections."""

    # host:port
    address: str
    shape: str
    # Maximum size of a pool.
    connections: int
    timeout_seconds: float
    # Calls after which a connection is closed; 0 for no limit.
    calls_per_connection: int

    @property
    def method(self) -> str:
        return self.shape.capitalize()


class Connections(Enum):
    """How calls share connections."""

    # A connection carries several calls at a time.
    MULTIPLEXED = auto()
    # A connection carries one call at a time.
    EXCLUSIVE = auto()
    # A connection carries one call at a time, and belongs to the library's pool.
    POOLED = auto()


class Client(Protocol):
    """Makes the calls of one connection, or of a pool. With asyncio all three are coroutines."""

    def wait_until_open(self) -> Any: ...

    def call(self, request: Any) -> Any: ...

    def close(self) -> Any: ...


@dataclass(frozen=True)
class Library:
    # Its name in the manifest.
    name: str
    # The package whose version is reported.
    distribution: str
    connections: Connections
    # Decodes a request of a shape, into one of requests.py.
    decode: Callable[[str, bytes], Any]
    # Opens a connection, or starts to.
    client: Callable[[Target], Client]
    # Classifies the exception of a call.
    outcome: Callable[[Exception], Outcome]
