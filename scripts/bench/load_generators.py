"""The load generators: their rows, command lines and output."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# The payload of every call: 100 bytes of text.
TEXT = "a" * 100
METHOD = "rpcbench.v1.Echo/Text"
# What h2load sends: a TextRequest in protobuf (field 1) with gRPC's prefix of five bytes.
GRPC_REQUEST = b"\0" + (2 + len(TEXT)).to_bytes(4, "big") + b"\x0a" + bytes([len(TEXT)]) + TEXT.encode()

# The minimum share of another build's calls per client CPU-second.
BASELINE_BAR = 0.99


# A server, its protocol, and whether over TLS.
Service = tuple[str, str, bool]


@dataclass(frozen=True)
class Row:
    """A server under a load, and the load generators that make it."""

    server: str
    protocol: str
    connections: int
    # On each connection.
    in_flight: int
    # By name, the minimum ratio of rpcbench's calls per client CPU-second to its own; for rpcbench, its minimum calls/s.
    bars: dict[str, float | None] = field(hash=False)
    # With a certificate that no client verifies.
    tls: bool = False

    @property
    def load(self) -> str:
        return f"{self.connections}x{self.in_flight}"

    @property
    def name(self) -> str:
        server = "tonic" if self.server == "tonic" else "null" if self.protocol == "grpc" else self.protocol
        return f"{server}{'-tls' if self.tls else ''}-{self.load}"

    @property
    def carried(self) -> str:
        """The protocol, and what is below it."""
        return f"{self.protocol}, TLS" if self.tls else self.protocol

    @property
    def service(self) -> Service:
        return self.server, self.protocol, self.tls

    def bar(self, client: str) -> float | None:
        return BASELINE_BAR if client == "baseline" else self.bars[client]


def null_row(protocol: str, connections: int, in_flight: int, floor: float, rate: float | None = None, **bars: float) -> Row:
    return Row("null server", protocol, connections, in_flight, {**bars, "floor": floor, "rpcbench": rate})


ROWS = [
    Row("tonic", "grpc", 50, 20, {"ghz": 28.0, "h2load": 3.5, "rpcbench": None}),
    null_row("grpc", 50, 20, h2load=5.0, floor=0.7, rate=2e6),
    null_row("grpc", 5, 5, h2load=2.5, floor=0.7),
    null_row("grpc", 1, 100, h2load=7.0, floor=0.7),
    null_row("grpc", 250, 2, h2load=2.4, floor=0.7),
    null_row("grpc", 50, 1, h2load=1.9, floor=0.7),
    null_row("json", 50, 1, wrk=1.4, floor=0.85),
    null_row("thrift", 50, 1, floor=0.85),
    Row("tonic", "grpc", 50, 20, {"ghz": None, "h2load": 2.0, "rpcbench": None}, tls=True),
    Row("tonic", "grpc", 50, 1, {"ghz": None, "h2load": 2.0, "rpcbench": None}, tls=True),
]


@dataclass(frozen=True)
class Programs:
    """Paths of programs. An empty one is not installed."""

    rpcbench: str
    floor: str
    baseline: str = ""
    h2load: str = ""
    ghz: str = ""
    wrk: str = ""
    # The file with GRPC_REQUEST.
    body: str = "BODY"

    def command(self, client: str, row: Row, address: str, seconds: int) -> list[str]:
        """The command line that loads `address` for `seconds`."""
        url = f"http{'s' if row.tls else ''}://{address}/{METHOD}"
        ours, theirs = ("--tls -k", "--skipTLS") if row.tls else ("", "--insecure")
        size = f"-c {row.connections} -m {row.in_flight}"
        echo = f"{address} --protocol {row.protocol} --shape text:{len(TEXT)} {size}"
        words, rest = {
            "rpcbench": (f"load {echo} {ours} -z {seconds}s --warmup none --quiet --format json", []),
            "floor": (f"floor {echo} -z {seconds}", []),
            "h2load": (f"{size} -D {seconds}", ["-H", "content-type: application/grpc", "-H", "te: trailers", "-d", self.body, url]),
            # It has one call in flight per connection.
            "wrk": (f"-t 1 -c {row.connections} -d {seconds}s -s {relative('wrk.lua')} {url}", []),
            "ghz": (
                f"{theirs} --call {METHOD.replace('/', '.')} -c {row.connections * row.in_flight} --connections {row.connections}"
                f" -z {seconds}s --duration-stop wait --proto contract/echo.proto",
                ["-d", json.dumps({"text": TEXT}, separators=(",", ":")), address],
            ),
        }["rpcbench" if client == "baseline" else client]
        return [getattr(self, client), *words.split(), *rest]


def relative(name: str) -> Path:
    """A file of this folder, from the working directory: the root of the checkout."""
    return Path("scripts/bench") / name


@dataclass(frozen=True)
class Counts:
    # Calls that succeeded as far as the load generator checks: h2load ignores grpc-status, and wrk bodies.
    ok: int
    failed: int


def counts(client: str, output: str) -> Counts:
    """The calls that a load generator reports on standard output."""
    parse, expected = {
        "h2load": (h2load, "line `requests: ...`"),
        "wrk": (wrk, "line `... requests in ...`"),
        "ghz": (ghz, "status code distribution"),
    }.get(client, (rpcbench, "JSON with calls"))
    try:
        return parse(output)
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{client} printed no {expected}: {output.strip()[:300]}") from None


def numbers(pattern: str, output: str) -> list[int]:
    found = re.search(pattern, output, re.MULTILINE)
    return [int(number) for number in found.groups()] if found else []


def h2load(output: str) -> Counts:
    """`requests: 9 total, 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0 timeout`. Failed includes errored and timeout."""
    ok, failed = numbers(r"^requests: .* (\d+) succeeded, (\d+) failed, \d+ errored, \d+ timeout", output)
    return Counts(ok, failed)


def wrk(output: str) -> Counts:
    """`  378291 requests in 2.10s, 45.90MB read`, and lines about sockets and statuses if calls failed. The requests include
    those with another status, but not those without a reply."""
    (requests,) = numbers(r"^\s*(\d+) requests in ", output)
    lost = sum(numbers(r"^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output))
    refused = sum(numbers(r"^\s*Non-2xx or 3xx responses: (\d+)", output))
    return Counts(requests - refused, refused + lost)


def ghz(output: str) -> Counts:
    """Lines such as `  [OK]   24933 responses` below `Status code distribution:`."""
    _, codes = output.split("Status code distribution:")
    calls = re.findall(r"^\s+\[(\w+)\]\s+(\d+) responses", codes, re.MULTILINE)
    total = sum(int(number) for _, number in calls)
    ok = sum(int(number) for code, number in calls if code == "OK")
    return Counts(ok, total - ok)


def rpcbench(output: str) -> Counts:
    calls = json.loads(output)
    return Counts(calls["ok"], calls["calls"] - calls["ok"])
