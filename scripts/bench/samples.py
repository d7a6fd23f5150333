"""The samples of load generators: medians, ratios within a round, and whether bars are met."""

from dataclasses import dataclass
from statistics import quantiles

from load_generators import Counts, Row
from table import table

COLUMNS = ["server", "protocol", "load", "client", "calls per client CPU-s", "calls/s", "CPU used", "rpcbench / client", "bar", "met"]


@dataclass(frozen=True)
class Sample:
    """A load generator's calls and CPU time in one round, or why they don't count."""

    calls: int = 0
    cpu_s: float = 0.0
    problem: str = ""

    @staticmethod
    def of(counts: Counts, cpu_s: float) -> "Sample":
        if counts.failed:
            return Sample(problem=f"{counts.failed} of {counts.ok + counts.failed} calls failed")
        return Sample(counts.ok, cpu_s, "" if counts.ok else "no calls")

    @property
    def calls_per_cpu_s(self) -> float:
        return self.calls / self.cpu_s


@dataclass(frozen=True)
class Spread:
    """Quartiles."""

    low: float
    median: float
    high: float

    @staticmethod
    def of(values: list[float]) -> "Spread":
        return Spread(*(quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3))


@dataclass(frozen=True)
class Line:
    """A line of the table: a load generator in a row, with a sample for each round."""

    row: Row
    client: str
    samples: list[Sample]
    # rpcbench's samples in the same rounds; empty if one is void.
    rpcbench: list[Sample]
    seconds: int

    @property
    def problem(self) -> str:
        """Why the line is void: the first sample that does not count."""
        return problem(self.samples)

    @property
    def calls_per_s(self) -> Spread:
        return Spread.of([sample.calls / self.seconds for sample in self.samples])

    @property
    def ratio(self) -> Spread | None:
        """rpcbench's calls per client CPU-second divided by this load generator's, by round."""
        if self.client == "rpcbench" or not self.rpcbench:
            return None
        pairs = zip(self.rpcbench, self.samples)
        return Spread.of([ours.calls_per_cpu_s / theirs.calls_per_cpu_s for ours, theirs in pairs])

    @property
    def is_met(self) -> bool:
        """True if the line has a bar and its median reaches it."""
        bar = self.row.bar(self.client)
        if bar is None or self.problem:
            return False
        reached = self.calls_per_s if self.client == "rpcbench" else self.ratio
        return reached is not None and reached.median >= bar

    def cells(self) -> list[str]:
        bar = self.row.bar(self.client)
        return [
            *[self.row.server, self.row.transport, self.row.load, self.client],
            *(["void", "", "", ""] if self.problem else self.figures()),
            "" if bar is None else f"{thousands(bar)}/s" if self.client == "rpcbench" else multiple(self.client, bar),
            "" if bar is None else "yes" if self.is_met else "no",
        ]

    def figures(self) -> list[str]:
        per_cpu_s = Spread.of([sample.calls_per_cpu_s for sample in self.samples])
        cpu_share = Spread.of([sample.cpu_s / self.seconds for sample in self.samples])
        ratio = self.ratio
        return [
            f"{thousands(per_cpu_s.median)} ({thousands(per_cpu_s.low)} to {thousands(per_cpu_s.high)})",
            thousands(self.calls_per_s.median),
            f"{cpu_share.median * 100:.0f} %",
            "{} ({} to {})".format(*(multiple(self.client, it) for it in (ratio.median, ratio.low, ratio.high))) if ratio else "",
        ]


def problem(samples: list[Sample]) -> str:
    return next((f"round {at}: {it.problem}" for at, it in enumerate(samples, 1) if it.problem), "")


def multiple(client: str, ratio: float) -> str:
    return {"floor": f"{ratio * 100:.0f} %", "baseline": f"{ratio:.3f}"}.get(client, f"{ratio:.1f}x")


def thousands(value: float) -> str:
    return f"{value / 1e3:,.0f}k"


def lines(samples: dict[tuple[Row, str], list[Sample]], seconds: int) -> list[Line]:
    """A line for each load generator that ran."""
    return [Line(row, client, own, valid(samples.get((row, "rpcbench"), [])), seconds) for (row, client), own in samples.items()]


def valid(samples: list[Sample]) -> list[Sample]:
    return [] if problem(samples) else samples


def render(heading: list[str], lines: list[Line], markdown: bool) -> str:
    """The heading, the table, the number of bars met, and why lines are void."""
    bars = [line for line in lines if line.row.bar(line.client) is not None]
    mark = "- " if markdown else ""
    return "\n".join([
        "".join(f"{mark}{line}\n" for line in heading),
        table(COLUMNS, [line.cells() for line in lines], range(4, 9), markdown),
        f"{sum(line.is_met for line in bars)} of {len(bars)} bars met\n"
        + "".join(f"- void: {line.row.name} {line.client}: {line.problem}\n" for line in lines if line.problem),
    ])
