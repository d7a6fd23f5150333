"""What a client program says of its library."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

OK, WRONG_ANSWER, STATUS, TIMEOUT, TRANSPORT, NOT_SENT = range(6)

# How a call ended, with the protocol's status if it is STATUS.
Outcome = tuple[int, int]


@dataclass(frozen=True)
class Target:
    """Where to, and how, connections are opened."""

    # host:port
    address: str
    shape: str
    # The largest number of connections of a pool.
    connections: int
    timeout_seconds: float
    # After how many calls a pool closes a connection; 0 if it keeps them.
    calls_per_connection: int

    @property
    def method(self) -> str:
        return self.shape.capitalize()


class Connections(Enum):
    """What a connection carries, and whose it is."""

    # Several calls at a time.
    MULTIPLEXED = auto()
    # One call at a time; it is the caller's.
    EXCLUSIVE = auto()
    # One call at a time; it is in the library's pool.
    POOLED = auto()


class Client(Protocol):
    """Makes the calls of one connection, or of a pool. With asyncio all three are coroutines."""

    def wait_until_open(self) -> Any: ...

    def call(self, request: Any) -> Any: ...

    def close(self) -> Any: ...


@dataclass(frozen=True)
class Library:
    # As in the manifest.
    name: str
    # The package that has its version.
    distribution: str
    connections: Connections
    # Decodes a request of a shape: one of requests.py's.
    decode: Callable[[str, bytes], Any]
    # Opens a connection, or begins to.
    client: Callable[[Target], Client]
    # That of a call that raised this.
    outcome: Callable[[Exception], Outcome]
