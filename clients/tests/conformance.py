#!/usr/bin/env python3
"""Checks client programs against contract/clients.md, each with a server of its protocol.

    conformance.py CLIENT...     such as go-grpc, or python-grpcio@asyncio; built by `rpcbench build`

Needs Python 3.11 and the built servers go-connect, go-grpc, go-net-http and go-thrift.
"""

import signal
import sys
import time
from collections import Counter

import player
from player import MILLISECOND, SECOND, Program, Proxy, Record, Server, expect
from requests import MARK, TAIL

SERVERS = {"connect": "go-connect", "grpc": "go-grpc", "json": "go-net-http", "thrift": "go-thrift"}
# A request that the server refuses, and its status.
NOT_UTF8 = (TAIL.encode(), b"\xff" * 8)
REFUSED = {
    "connect": (NOT_UTF8, 3),
    "grpc": (NOT_UTF8, 13),
    "json": ((b"Echo/Text", b"Echo/Tezt"), 404),
    "thrift": ((b"Text", b"Tezt"), 1),
}
SHAPES = ["text", "record", "dto", "tree"]
# Tolerated delay, for busy machines.
LATE = SECOND


class Checks:
    def __init__(self, name: str, protocol: str) -> None:
        self.protocol = protocol
        self.server = Server(SERVERS[protocol], protocol)
        self.program = Program(name)
        # Several calls at a time per connection, if the protocol has streams.
        self.in_flight = 10 if protocol == "grpc" else 1

    def open(self, target: str | None = None, **fields) -> None:
        opened = self.program.open(target or self.server.target, self.protocol, **{"in_flight": self.in_flight, **fields})
        expect(opened["type"] == "opened", str(opened))

    def outcomes(self, records: list[Record]) -> Counter:
        return Counter(record.outcome for record in records)

    def hello(self) -> str:
        hello = self.program.hello
        for field in ("language", "library", "library_version", "runtime", "checks"):
            expect(isinstance(hello.get(field), str) and hello[field], f"hello has no {field}")
        expect(hello["version"] == 1, f"version is {hello['version']}")
        age = time.monotonic_ns() - hello["clock_ns"]
        expect(0 <= age < 5 * SECOND, f"clock_ns is {age} ns old")
        return f"{hello['library']} {hello['library_version']}, {hello['runtime']}"

    def closed_loop(self) -> str:
        self.open()
        slots = 4 * self.in_flight
        for _ in range(2):
            at = time.monotonic_ns() + SECOND // 3
            stop = at + SECOND
            self.program.start(at)
            records = self.program.stop(stop)
            expect(self.outcomes(records).keys() == {"ok"}, str(self.outcomes(records)))
            expect({record.call for record in records} == set(range(slots)), "the records are not of exactly the load's slots")
            late = min(record.start for record in records) - at
            expect(0 <= late < LATE, f"first call starts {late} ns after the instant")
            expect(max(record.start for record in records) < stop, "a call starts after the stop")
            previous: dict[int, int] = {}
            for record in records:
                expect(previous.get(record.call, 0) <= record.start <= record.done <= record.received, f"{record}")
                previous[record.call] = record.done
            lags = sorted(record.received - record.done for record in records)
            lag = lags[len(lags) * 99 // 100]
            expect(lag < LATE, f"records arrive {lag} ns after their call")
        self.program.close()
        return f"{len(records)} calls in 1 s, first {late / 1e6:.2f} ms late, records {lag / 1e6:.1f} ms old (p99)"

    def number_of_calls(self) -> str:
        self.open()
        for number in (1, 777):
            self.program.start(0, calls=number)
            expect(len(self.program.stopped()) == number, f"not {number} calls")
        self.program.close()
        return "1 and 777"

    def many_connections(self) -> str:
        self.open(connections=100, timeout_ns=30 * SECOND)
        slots = 100 * self.in_flight
        self.program.start(0, calls=2 * slots)
        outcomes = self.outcomes(self.program.stopped())
        expect(outcomes == {"ok": 2 * slots}, str(outcomes))
        self.program.close()
        return f"{slots} calls in flight"

    def shapes(self) -> str:
        for shape in SHAPES:
            self.open(shape=shape)
            self.program.start(0, calls=500)
            outcomes = self.outcomes(self.program.stopped())
            expect(outcomes == {"ok": 500}, f"{shape}: {outcomes}")
            self.program.close()
        return ", ".join(SHAPES)

    def open_loop(self) -> str:
        self.open()
        due = [2 * MILLISECOND * i for i in range(500)]
        at = time.monotonic_ns() + SECOND // 3
        self.program.start(at, schedule=self.program.schedule(due), in_flight_max=1000)
        records = sorted(self.program.stopped(), key=lambda record: record.call)
        expect([record.call for record in records] == list(range(500)), "not one record per call")
        expect([record.start for record in records] == [at + offset for offset in due], "starts are not the due times")
        expect(self.outcomes(records).keys() == {"ok"}, str(self.outcomes(records)))
        times = sorted(record.done - record.start for record in records)
        # Stops within the schedule.
        at = time.monotonic_ns() + SECOND // 3
        self.program.start(at, schedule=self.program.schedule(due), in_flight_max=1000)
        expect(len(self.program.stop(at + SECOND // 2)) == 250, "not exactly the calls due before the stop")
        self.program.close()
        return f"response time {times[250] / 1e6:.2f} ms (p50)"

    def low_rate(self) -> str:
        proxy = Proxy(self.server.target)
        opened = self.program.open(proxy.target, self.protocol, in_flight=self.in_flight)
        expect(opened["type"] == "opened", str(opened))
        before = proxy.sent.copy()
        self.program.start(0, schedule=self.program.schedule([20 * MILLISECOND * i for i in range(100)]), in_flight_max=100)
        outcomes = self.outcomes(self.program.stopped())
        expect(outcomes == {"ok": 100}, str(outcomes))
        self.program.close()
        if not opened["connections"]:
            return "the pool chooses connections"
        parts = sorted((proxy.sent - before).values(), reverse=True)
        expect(parts[0] > sum(parts) / 2, f"calls that are far apart use {len(parts)} connections: {parts} parts of requests")
        return f"{parts} parts of requests on each connection"

    def not_sent(self) -> str:
        self.open()
        self.program.start(0, schedule=self.program.schedule([0] * 200), in_flight_max=3)
        outcomes = self.outcomes(self.program.stopped())
        expect(outcomes["ok"] >= 3 and outcomes["ok"] + outcomes["not sent"] == 200, str(outcomes))
        self.program.close()
        return str(dict(outcomes))

    def timeout(self) -> str:
        self.open(timeout_ns=300 * MILLISECOND)
        at = time.monotonic_ns() + SECOND // 3
        self.program.start(at)
        self.server.signal(signal.SIGSTOP)
        time.sleep(1.5)
        self.server.signal(signal.SIGCONT)
        time.sleep(1)
        records = self.program.stop(0)
        outcomes = self.outcomes(records)
        expect(outcomes["timeout"] > 0 and outcomes.keys() <= {"ok", "timeout"}, str(outcomes))
        expect(outcomes["ok"] > 0, f"no call succeeded after the server resumed: {outcomes}")
        times = [record.done - record.start for record in records if record.outcome == "timeout"]
        in_time = min(times) >= 290 * MILLISECOND and max(times) < 300 * MILLISECOND + LATE
        expect(in_time, f"timeouts of {min(times)} to {max(times)} ns instead of 300 ms")
        self.program.close()
        return str(dict(outcomes))

    def reset(self) -> str:
        proxy = Proxy(self.server.target)
        self.open(proxy.target)
        self.program.start(0)
        time.sleep(0.3)
        # Keeps calls in flight.
        self.server.signal(signal.SIGSTOP)
        time.sleep(0.3)
        proxy.reset()
        self.server.signal(signal.SIGCONT)
        time.sleep(3)
        records = self.program.stop(0)
        outcomes = self.outcomes(records)
        expect(outcomes.keys() == {"ok", "transport"}, str(outcomes))
        expect(max(records, key=lambda record: record.start).outcome == "ok", "connections are not reopened")
        self.program.close()
        return str(dict(outcomes))

    def refused(self) -> str:
        target = f"127.0.0.1:{player.free_port()}"
        answer = self.program.open(target, self.protocol, in_flight=self.in_flight)
        if answer["type"] == "failed":
            return answer["error"]
        self.program.start(0, calls=20)
        outcomes = self.outcomes(self.program.stopped())
        expect(outcomes.keys() == {"transport"}, str(outcomes))
        self.program.close()
        return str(dict(outcomes))

    def wrong_answer(self) -> str:
        proxy = Proxy(self.server.target)
        for shape in SHAPES:
            mark = TAIL if shape == "text" else MARK
            proxy.replies = (mark.encode(), mark.upper().encode())
            self.open(proxy.target, shape=shape)
            self.program.start(0, calls=320)
            outcomes = self.outcomes(self.program.stopped())
            expected = {"wrong answer": 320} if shape == "text" else {"ok": 300, "wrong answer": 20}
            expect(outcomes == expected, f"{shape}: {outcomes}; expected {expected}")
            self.program.close()
        return "all of text, every 16th of others"

    def undecodable(self) -> str:
        proxy = Proxy(self.server.target)
        # Text that is not UTF-8, or a broken key.
        proxy.replies = (b'"echo":', b'"echo"?') if self.protocol == "json" else NOT_UTF8
        self.open(proxy.target)
        self.program.start(0, calls=50)
        outcomes = self.outcomes(self.program.stopped())
        expect(outcomes == {"wrong answer": 50}, str(outcomes))
        self.program.close()
        return str(dict(outcomes))

    def status(self) -> str:
        proxy = Proxy(self.server.target)
        proxy.requests, status = REFUSED[self.protocol]
        proxy.replies = {"thrift": (b"Tezt", b"Text")}.get(self.protocol)
        self.open(proxy.target)
        self.program.start(0, calls=50)
        seen = Counter((record.outcome, record.status) for record in self.program.stopped())
        expect(seen == {("status", status): 50}, str(seen))
        self.program.close()
        return str(dict(seen))

    def short_connections(self) -> str:
        proxy = Proxy(self.server.target)
        self.open(proxy.target, calls_per_connection=10)
        self.program.start(0, calls=200)
        outcomes = self.outcomes(self.program.stopped())
        expect(outcomes == {"ok": 200}, str(outcomes))
        expect(16 <= proxy.opened <= 28, f"{proxy.opened} connections for 200 calls, 10 on each")
        self.program.close()
        return f"{proxy.opened} connections for 200 calls, 10 on each"

    def bad_input(self) -> str:
        self.program.send("start", at_ns=0, calls=1)
        self.program.await_message("ack")
        errors = [self.program.await_message("failed")["error"]]
        load = {"target": self.server.target, "protocol": self.protocol, "connections": 1, "in_flight": 1, "timeout_ns": SECOND}
        self.program.send("open", **load, calls_per_connection=0, shape="text", requests="/missing")
        errors.append(self.program.await_message("failed")["error"])
        self.program.send("unknown")
        errors.append(self.program.await_message("failed")["error"])
        if self.in_flight == 1:
            errors.append(self.program.open(self.server.target, self.protocol, in_flight=2).get("error", "in_flight 2 is accepted"))
            expect("one call at a time" in errors[-1], errors[-1])
        return "; ".join(errors)

    def ends(self) -> str:
        self.open()
        self.program.start(0)
        code = self.program.end()
        expect(code == 0, f"exit code {code}")
        return "with the socket, in the middle of a load"


def check(name: str, protocol: str, only: list[str]) -> bool:
    checks = Checks(name, protocol)
    passed = True
    names = [key for key, item in vars(Checks).items() if callable(item) and key not in ("__init__", "open", "outcomes")]
    for key in only or names:
        try:
            print(f"{name} ok    {key}: {getattr(checks, key)()}", flush=True)
        except (player.Fault, OSError, player.subprocess.TimeoutExpired) as fault:
            print(f"{name} FAIL  {key}: {fault}", flush=True)
            passed = False
            checks.program.process.kill()
            checks.program = Program(name)
    checks.program.process.kill()
    program = Program(name)
    try:
        program.terminate()
    except player.subprocess.TimeoutExpired:
        print(f"{name} FAIL  SIGTERM: still running after 5 s")
        passed = False
    checks.server.kill()
    return passed


if __name__ == "__main__":
    clients = [word for word in sys.argv[1:] if "-" in word]
    only = [word for word in sys.argv[1:] if "-" not in word]
    if not clients:
        sys.exit(__doc__)
    results = [
        check(name, protocol, only)
        for name in clients
        for protocol in player.manifest(name.partition("@")[0], "client")[0]["protocols"]
    ]
    sys.exit(not all(results))
