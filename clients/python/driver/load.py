"""Connections, slots and runs of a load."""

import itertools
import time
from collections.abc import Callable
from typing import Any

from driver.library import Client, Connections, Library, Target
from driver.requests import Request, read_requests, read_schedule

# How long to poll the clock before the start: asyncio's timers may be a millisecond late.
SPIN_NS = 3_000_000


class Connection:
    """A connection, or a pool. Opens another client after a number of calls."""

    def __init__(self, library: Library, target: Target) -> None:
        self.library, self.target = library, target
        self.limit = 0 if library.connections is Connections.POOLED else target.calls_per_connection
        # Clients that get no more calls, with their number of calls in flight.
        self.retired: dict[Client, int] = {}
        self.client: Client | None = None
        self.calls = self.in_flight = 0

    def open(self) -> Client:
        self.client, self.calls, self.in_flight = self.library.client(self.target), 0, 0
        return self.client

    def take(self) -> Client:
        """Returns the client for the next call, and opens one if needed."""
        client = self.client or self.open()
        if self.limit:
            self.calls += 1
            self.in_flight += 1
            if self.calls == self.limit:
                self.retired[client] = self.in_flight
                self.client = None
        return client

    def give(self, client: Client) -> bool:
        """Ends a call. Returns True if it was the last one of its client, which must then be closed."""
        if client is self.client:
            self.in_flight -= 1
            return False
        self.retired[client] -= 1
        if self.retired[client]:
            return False
        del self.retired[client]
        return True


class Slot:
    """Makes calls one at a time, with its requests in turn."""

    def __init__(self, number: int, connection: Connection, requests: list[Request]) -> None:
        self.number, self.connection = number, connection
        self.turn = itertools.cycle(requests)


class Load:
    def __init__(self, library: Library, message: dict[str, Any]) -> None:
        if min(message["connections"], message["in_flight"], message["timeout_ns"]) < 1:
            raise ValueError("connections, in_flight and timeout_ns must be 1 or more")
        if library.connections is not Connections.MULTIPLEXED and message["in_flight"] > 1:
            raise ValueError(f"in_flight is {message['in_flight']}, but a connection of {library.name} makes one call at a time")
        self.library = library
        self.target = Target(
            message["target"],
            message["shape"],
            message["connections"],
            message["timeout_ns"] / 1e9,
            message.get("calls_per_connection", 0),
        )
        self.is_pool = library.connections is Connections.POOLED
        number = 1 if self.is_pool else self.target.connections
        self.connections = [Connection(library, self.target) for _ in range(number)]
        self.requests = read_requests(message["requests"])
        self.slots = self.new_slots(message["connections"] * message["in_flight"])

    def new_slots(self, number: int) -> list[Slot]:
        """Divides the requests among slots. With fewer requests than slots, several slots decode the same one."""
        decode, shape = self.library.decode, self.target.shape
        slots = []
        for slot in range(number):
            own = self.requests[slot::number] or [self.requests[slot % len(self.requests)]]
            connection = self.connections[slot % len(self.connections)]
            slots.append(Slot(slot, connection, [decode(shape, data) for data in own]))
        return slots

    @property
    def opened(self) -> int:
        return 0 if self.is_pool else len(self.connections)


class Run:
    """Calls from `start` to `stop`."""

    def __init__(self, load: Load, message: dict[str, Any]) -> None:
        self.at = message["at_ns"]
        # No call starts from this instant on. None until it is known.
        self.stop_at: int | None = None
        # Called when it is known.
        self.on_stop: Callable[[], object] = lambda: None
        self.limit: int | None = message.get("calls") or None
        self.claims = itertools.count()
        self.schedule: tuple[int, ...] | None = None
        self.in_flight_max = 0
        self.slots = load.slots
        if "schedule" in message:
            self.in_flight_max = message["in_flight_max"]
            if self.in_flight_max < 1:
                raise ValueError("in_flight_max must be 1 or more")
            self.schedule = read_schedule(message["schedule"])[: self.limit]
            # An exclusive connection has one slot; further calls wait for it.
            is_exclusive = load.library.connections is Connections.EXCLUSIVE
            self.slots = load.new_slots(min(self.in_flight_max, len(load.slots)) if is_exclusive else self.in_flight_max)

    def stop(self, at: int) -> None:
        self.stop_at = at
        self.on_stop()

    def may_start(self, now: int) -> bool:
        """Whether another call of the closed loop may start; if so, counts it."""
        if self.stop_at is not None and now >= self.stop_at:
            return False
        return self.limit is None or next(self.claims) < self.limit

    def is_due(self, instant: int) -> bool:
        """Whether a call of the open loop is due before the stop."""
        return self.stop_at is None or instant < self.stop_at

    def seconds_to_start(self) -> float:
        if not self.at:
            self.at = time.monotonic_ns()
        return max((self.at - SPIN_NS - time.monotonic_ns()) / 1e9, 0)

    def spin(self) -> None:
        while time.monotonic_ns() < self.at:
            pass
