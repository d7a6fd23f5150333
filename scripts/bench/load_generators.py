"""The load generators: rows to run, command lines, and parsers of their output."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# The payload of every call but empty ones: 100 bytes.
TEXT = "a" * 100
METHOD = "rpcbench.v1.Echo/Text"
PROTO = "contract/echo.proto"


def data(text: str) -> str:
    """A TextRequest in JSON."""
    return json.dumps({"text": text} if text else {}, separators=(",", ":"))


def grpc_frame(text: str) -> bytes:
    """The body that h2load sends: a TextRequest in protobuf (field 1) behind gRPC's prefix of five bytes."""
    message = b"\x0a" + bytes([len(text)]) + text.encode() if text else b""
    return b"\0" + len(message).to_bytes(4, "big") + message


# Files that load generators read, by name.
FILES = {
    "request": grpc_frame(TEXT),
    "empty-request": grpc_frame(""),
    # A thousand different texts, as rpcbench itself sends.
    "requests.jsonl": "".join(data(f"{number:04}" * (len(TEXT) // 4)) + "\n" for number in range(1000)).encode(),
}

# The minimum ratio of rpcbench's calls per client CPU-second to those of another build.
BASELINE_BAR = 0.99

# A server, its protocol, whether it uses TLS, and how it cuts replies into TLS records.
Service = tuple[str, str, bool, str]


@dataclass(frozen=True)
class Row:
    """A server, a load, and the load generators that compete in it."""

    server: str
    protocol: str
    connections: int
    # On each connection.
    in_flight: int
    # Empty: rpcbench calls the contract that it knows. Otherwise it calls the method like any other, by --call or a URL:
    # "differing" has a reply that differs from the one before, "empty" an empty one, "expect" a check by --expect.
    call: str = field(kw_only=True, default="")
    # By load generator, the minimum ratio of rpcbench's calls per client CPU-second to its own; for rpcbench, the minimum calls/s.
    bars: dict[str, float | None] = field(hash=False)
    # Clients verify the certificate only on short connections.
    tls: bool = False
    # Over TLS, how the null server cuts replies into records: several in one, or "per-reply".
    records: str = field(kw_only=True, default="shared")
    # If not empty: a connection for each call, with a "resumed" or "full" handshake.
    short: str = field(kw_only=True, default="")

    @property
    def load(self) -> str:
        per_reply = self.records if self.records != "shared" else ""
        short = f"short-{self.short}" if self.short else ""
        return "-".join(filter(None, [f"{self.connections}x{self.in_flight}", self.call, per_reply, short]))

    @property
    def text(self) -> str:
        """The text that other load generators send."""
        return "" if self.call == "empty" else TEXT

    @property
    def name(self) -> str:
        server = "tonic" if self.server == "tonic" else "null" if self.protocol == "grpc" else self.protocol
        return f"{server}{'-tls' if self.tls else ''}-{self.load}"

    @property
    def transport(self) -> str:
        """The protocol, and TLS if it is used."""
        return f"{self.protocol}, TLS" if self.tls else self.protocol

    @property
    def service(self) -> Service:
        return self.server, self.protocol, self.tls, self.records

    def bar(self, client: str) -> float | None:
        return BASELINE_BAR if client == "baseline" else self.bars[client]


def null_row(protocol: str, connections: int, in_flight: int, call: str = "", rate: float | None = None, **bars: float | None) -> Row:
    return Row("null server", protocol, connections, in_flight, {**bars, "rpcbench": rate}, call=call)


def tls_row(protocol: str, connections: int, in_flight: int, records: str = "shared", short: str = "", **bars: float | None) -> Row:
    return Row("null server", protocol, connections, in_flight, {**bars, "rpcbench": None}, tls=True, records=records, short=short)


ROWS = [
    Row("tonic", "grpc", 50, 20, {"ghz": 28.0, "h2load": 3.5, "rpcbench": None}),
    null_row("grpc", 50, 20, h2load=5.0, floor=0.7, rate=2e6),
    null_row("grpc", 5, 5, h2load=2.5, floor=0.7),
    null_row("grpc", 1, 100, h2load=7.0, floor=0.7),
    null_row("grpc", 250, 2, h2load=2.4, floor=0.7),
    null_row("grpc", 50, 1, h2load=1.9, floor=0.7),
    null_row("json", 50, 1, oha=None, wrk=1.4, floor=0.85),
    null_row("thrift", 50, 1, floor=0.85),
    null_row("grpc", 50, 20, "differing", ghz=28.0, h2load=5.0, floor=0.9),
    null_row("grpc", 50, 20, "empty", ghz=28.0, h2load=5.0, floor=0.9),
    null_row("grpc", 50, 20, "expect", ghz=28.0, h2load=5.0, floor=0.8),
    null_row("json", 50, 1, "expect", oha=None, wrk=1.0, floor=0.8),
    Row("tonic", "grpc", 50, 20, {"ghz": None, "h2load": 2.0, "rpcbench": None}, tls=True),
    Row("tonic", "grpc", 50, 1, {"ghz": None, "h2load": 2.0, "rpcbench": None}, tls=True),
    tls_row("grpc", 50, 20, ghz=None, h2load=2.0, floor=0.85),
    tls_row("grpc", 50, 20, "per-reply", h2load=2.0, floor=0.75),
    tls_row("grpc", 50, 1, ghz=None, h2load=2.0, floor=0.85),
    tls_row("grpc", 1, 100, h2load=2.0, floor=0.85),
    tls_row("json", 50, 1, wrk=None, floor=0.85),
    tls_row("json", 20, 1, short="resumed", floor=0.9),
    tls_row("json", 20, 1, short="full", floor=0.9),
]


@dataclass(frozen=True)
class Programs:
    """Paths of programs; empty if not installed."""

    rpcbench: str
    floor: str
    baseline: str = ""
    h2load: str = ""
    ghz: str = ""
    wrk: str = ""
    oha: str = ""
    # The folder of FILES.
    folder: str = "FOLDER"

    def command(self, client: str, row: Row, address: str, seconds: int) -> list[str]:
        """The command line that loads `address` for `seconds`."""
        url = f"http{'s' if row.tls else ''}://{address}/{METHOD}"
        ghz_tls = "--skipTLS" if row.tls else "--insecure"
        size = f"-c {row.connections} -m {row.in_flight}"
        echo = f"{address} --protocol {row.protocol} --shape text:{len(row.text)} {size}"
        body = f"{self.folder}/request" if row.text else f"{self.folder}/empty-request"
        options = f"{size} {self.connection_options(row)} -z {seconds}s --warmup none --quiet --format json"
        words, rest = {
            "rpcbench": ("load", [*self.target(row, address), *options.split()]),
            "floor": (f"floor {echo} {self.floor_options(row)} -z {seconds}", []),
            "h2load": (f"{size} -D {seconds}", ["-H", "content-type: application/grpc", "-H", "te: trailers", "-d", body, url]),
            "oha": (
                f"--no-tui --output-format json -c {row.connections} -z {seconds}s -m POST",
                ["-T", "application/json", "-d", data(row.text), url],
            ),
            # wrk has one call in flight per connection.
            "wrk": (f"-t 1 -c {row.connections} -d {seconds}s -s {relative('wrk.lua')} {url}", []),
            "ghz": (
                f"{ghz_tls} --call {METHOD.replace('/', '.')} -c {row.connections * row.in_flight} --connections {row.connections}"
                f" -z {seconds}s --duration-stop wait --proto {PROTO}",
                ["-d", data(row.text), address],
            ),
        }["rpcbench" if client == "baseline" else client]
        return [getattr(self, client), *words.split(), *rest]

    def connection_options(self, row: Row) -> str:
        """rpcbench's options for TLS and the life of connections."""
        if not row.short:
            return "--tls -k" if row.tls else ""
        resume = " --tls-resume off" if row.short == "full" else ""
        return f"--connection-life short --tls --cacert {self.folder}/cert.pem --servername localhost{resume}"

    def floor_options(self, row: Row) -> str:
        """The floor's options for TLS and the life of connections."""
        words = [f"--cacert {self.folder}/cert.pem"] if row.tls else []
        words += ["--short"] if row.short else []
        return " ".join([*words, "--no-resumption"] if row.short == "full" else words)

    def target(self, row: Row, address: str) -> list[str]:
        """rpcbench's arguments for what to call and with which data."""
        if not row.call:
            return [address, "--protocol", row.protocol, "--shape", f"text:{len(TEXT)}"]
        if row.protocol == "json":
            method = [f"http://{address}/{METHOD}", "-H", "content-type: application/json"]
        else:
            method = [address, "--proto", PROTO, "--call", METHOD]
        payload = ["-D", f"{self.folder}/requests.jsonl"] if row.call == "differing" else ["-d", data(row.text)]
        return [*method, *payload, *(["--expect", f'$.echo == "{TEXT}"'] if row.call == "expect" else [])]


# In place of the paths, to show command lines.
NAMES = Programs(rpcbench="rpcbench", floor="rpcbench-bench", h2load="h2load", ghz="ghz", wrk="wrk", oha="oha")


def relative(name: str) -> Path:
    """The path of a file in this folder, relative to the root of the checkout."""
    return Path("scripts/bench") / name


@dataclass(frozen=True)
class Counts:
    # Calls that the load generator counts as successful: h2load ignores grpc-status, and wrk ignores bodies.
    ok: int
    failed: int


def counts(client: str, output: str) -> Counts:
    """The calls in a load generator's standard output."""
    parse, expected = {
        "h2load": (h2load, "line `requests: ...`"),
        "wrk": (wrk, "line `... requests in ...`"),
        "oha": (oha, "JSON with a statusCodeDistribution"),
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
    those with an error status, but not those without a reply."""
    (requests,) = numbers(r"^\s*(\d+) requests in ", output)
    lost = sum(numbers(r"^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output))
    errors = sum(numbers(r"^\s*Non-2xx or 3xx responses: (\d+)", output))
    return Counts(requests - errors, errors + lost)


def oha(output: str) -> Counts:
    """JSON with calls by status and by error. Calls in flight at the end are listed as an error, but did not fail."""
    found = json.loads(output)
    statuses = found["statusCodeDistribution"]
    ok = sum(number for status, number in statuses.items() if status.startswith("2"))
    found["errorDistribution"].pop("aborted due to deadline", 0)
    return Counts(ok, sum(statuses.values()) - ok + sum(found["errorDistribution"].values()))


def ghz(output: str) -> Counts:
    """Lines such as `  [OK]   24933 responses` below `Status code distribution:`."""
    _, codes = output.split("Status code distribution:")
    lines = re.findall(r"^\s+\[(\w+)\]\s+(\d+) responses", codes, re.MULTILINE)
    total = sum(int(number) for _, number in lines)
    ok = sum(int(number) for code, number in lines if code == "OK")
    return Counts(ok, total - ok)


def rpcbench(output: str) -> Counts:
    calls = json.loads(output)
    return Counts(calls["ok"], calls["calls"] - calls["ok"])
