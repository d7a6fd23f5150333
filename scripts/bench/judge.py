"""Judges runs of experiments by rpcbench's reports."""

import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from experiments import Experiment
from records import Record

FASTER = {"faster", "slightly faster"}
SLOWER = {"slower", "slightly slower"}
# The baseline of a new build, as printed.
OLD_BUILD = "its old build"
# Maximum difference from 1 of the median ratio between a server's figures in a table and alone.
ALONE_BAR = 0.03
# How much faster the second half of windows may be, a share. Chance alone makes 3 %, with ten windows that vary by 10 %.
HALVES_BAR = 0.1


@dataclass(frozen=True)
class Pairs:
    """Counts of pairs of entries in a table."""

    # Pairs of equal entries.
    equal: int = 0
    # Equal ones called different, and pairs in which the costlier entry is called faster.
    wrong: int = 0
    # Pairs in which the costlier entry is called slower.
    found: int = 0

    @staticmethod
    def of(pairs: list[dict], costlier: str) -> "Pairs":
        equal = wrong = found = 0
        for pair in pairs:
            first, second = pair["first"], pair["second"]
            is_equal = costlier not in (first, second) and are_doubles(first, second)
            slower = second if pair["finding"] in FASTER else first if pair["finding"] in SLOWER else None
            is_found = slower == costlier
            equal += is_equal
            found += is_found
            wrong += slower is not None and (is_equal or costlier in (first, second)) and not is_found
        return Pairs(equal, wrong, found)


def are_doubles(one: str, other: str) -> bool:
    """True if two entries are the same server: `go-grpc` and `go-grpc#2`."""
    return one.split("#")[0] == other.split("#")[0]


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the logarithm of a window's figure."""

    # Among the windows of a process.
    windows: float | None = None
    # The same without effects that the windows of a round share.
    in_rounds: float | None = None

    @staticmethod
    def of(record: Record) -> "Noise":
        noise = record.table["noise"]
        if not noise:
            return Noise()
        return Noise(noise["windows_share"], noise["in_rounds_share"])


@dataclass(frozen=True)
class Judgement:
    """What a run reports, and whether that is right."""

    experiment: Experiment
    name: str
    # The smallest number of processes of a ranked entry.
    processes: int
    seconds: float | None
    unranked: int
    pairs: Pairs
    # The smallest difference that the run claims to see, a share.
    resolution: float | None
    noise: Noise

    @staticmethod
    def of(experiment: Experiment, record: Record) -> "Judgement | None":
        """None if nothing was measured."""
        table = record.table
        if table is None:
            return None
        ranked = {cell["entry"] for cell in table["cells"] if cell["place_best"]}
        processes: dict[str, set[int]] = {entry: set() for entry in ranked}
        for trial, _ in record.windows():
            processes.get(trial["entry"], set()).add(trial["process"])
        return Judgement(
            experiment=experiment,
            name=record.name,
            processes=min(map(len, processes.values()), default=0),
            seconds=record.seconds,
            unranked=len(table["cells"]) - len(ranked),
            pairs=Pairs.of(table["pairs"], experiment.costlier),
            resolution=table["resolution_share"],
            noise=Noise.of(record),
        )

    @property
    def is_right(self) -> bool:
        """True if the run calls no equal entries different and sees what it must."""
        if self.experiment.costlier:
            return self.pairs.wrong == 0 and self.pairs.found > 0
        limit = self.experiment.sees
        sees = limit is None or self.resolution is not None and self.resolution <= limit
        return self.pairs.wrong == 0 and self.unranked == 0 and sees

    @property
    def score(self) -> tuple[int, int]:
        """Right ones, and their total: pairs of equal entries for `equal-real`, otherwise the run."""
        if self.experiment.name == "equal-real":
            return self.pairs.equal - self.pairs.wrong, self.pairs.equal
        return int(self.is_right), 1


@dataclass(frozen=True)
class Comparison:
    """A comparison by `rpcbench compare`: of a run with one of equal entries, or of two builds in one run."""

    experiment: Experiment
    name: str
    # The earlier run, or OLD_BUILD.
    base: str
    # Time of the machine reference in the later run divided by that in the earlier one.
    machine: float | None
    # Number of unchanged entries called faster or slower.
    wrong: int
    # True if the costlier entry is called slower. None without one.
    found: bool | None
    # The smallest detectable change, a share; median over entries.
    resolution: float | None

    @staticmethod
    def of(experiment: Experiment, record: Record, equal: list[Record]) -> "Comparison | None":
        """`equal` has the runs of equal entries, oldest first. The baseline is the last one before `record`; the costlier entry
        takes the name of the equal entry that `record` lacks, so that they are compared. None without a baseline."""
        if experiment.build is not None:
            changes = record.changes()
            changed = next((change["entry"] for change in changes["changes"]), None) if experiment.build else None
            return Comparison.of_changes(experiment, OLD_BUILD, record.name, changes, changed)
        base = next((run for run in reversed(equal) if run.name < record.name), None)
        if experiment.is_real or base is None:
            return None
        if not experiment.costlier:
            return Comparison.of_changes(experiment, base.name, record.name, record.changes(base), None)
        missing = next((entry for entry in base.entries if entry not in record.entries), None)
        if missing is None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            changes = record.renamed(experiment.costlier, missing, Path(folder) / record.name).changes(base)
        return Comparison.of_changes(experiment, base.name, record.name, changes, missing)

    @staticmethod
    def of_changes(experiment: Experiment, base: str, name: str, changes: dict, changed: str | None) -> "Comparison":
        """`changed` is the entry that became costlier."""
        rows = changes["changes"]
        smallest = [row["ratio_high"] / row["ratio"] - 1 for row in rows if row["ratio_high"]]
        wrong = sum(row["entry"] != changed and row["finding"] in FASTER | SLOWER for row in rows)
        found = None if changed is None else any(row["entry"] == changed and row["finding"] in SLOWER for row in rows)
        return Comparison(
            experiment, name, base, changes["machine_ratio"], wrong, found, median(smallest) if smallest else None
        )

    @property
    def is_right(self) -> bool:
        return self.wrong == 0 and self.found is not False

    @property
    def score(self) -> tuple[int, int]:
        return int(self.is_right), 1


@dataclass(frozen=True)
class AloneComparison:
    """A server's ranking figures in tables, each divided by its figure alone right after the table."""

    entry: str
    ratios: list[float]

    @property
    def is_met(self) -> bool:
        return abs(median(self.ratios) - 1) <= ALONE_BAR


def levels(record: Record) -> dict[str, float]:
    """Ranking figures by ranked entry."""
    cells = record.table["cells"] if record.table else []
    return {cell["entry"]: cell["ranked_per_s"] for cell in cells if cell["ranked_per_s"]}


def compare_alone(runs: Iterable[tuple[Record, list[Record]]]) -> list[AloneComparison]:
    """Compares each table with the runs of single servers right after it."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for together, alone in runs:
        table = levels(together)
        for entry, level in ((entry, level) for run in alone for entry, level in levels(run).items() if entry in table):
            ratios[entry].append(table[entry] / level)
    return [AloneComparison(entry, found) for entry, found in sorted(ratios.items())]


@dataclass
class WindowHalves:
    """Calls in each half of a server's windows; the middle slice of an odd number is in neither. The second half has more if windows
    begin before the server is back at its level."""

    entry: str
    windows: int = 0
    first: int = 0
    second: int = 0

    def add(self, series: list[dict]) -> None:
        calls = [slice["ok"] + slice["errors"] + slice.get("carried_in", 0) for slice in series]
        half = len(calls) // 2
        self.windows += 1
        self.first += sum(calls[:half])
        self.second += sum(calls[-half:])

    @property
    def ratio(self) -> float:
        return self.second / self.first if self.first else float("inf")

    @property
    def is_met(self) -> bool:
        return self.ratio <= 1 + HALVES_BAR


def window_halves(runs: list[Record]) -> list[WindowHalves]:
    found: dict[str, WindowHalves] = {}
    for trial, window in (it for run in runs for it in run.windows()):
        if len(window["series"]) > 1:
            found.setdefault(trial["entry"], WindowHalves(trial["entry"])).add(window["series"])
    return [found[entry] for entry in sorted(found)]
