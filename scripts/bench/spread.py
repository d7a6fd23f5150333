#!/usr/bin/env python3
"""Shows how much processes of one server differ, from runs of two equal builds of it.

  rpcbench compare --build . --build . go-grpc --precision 0.1% --max-time 4m
  python3 scripts/bench/spread.py results/RUN...

The first processes of both builds take turns, then the second ones, and so on. So the difference of such a pair, the mean over its
windows, has little noise. F is how much the pairs' differences vary, as a variance, in units of what their windows explain: 1 if
processes are all alike. `differ by` is the standard deviation of processes, by the root of its posterior mean square, `below` what it
is below with 95 % probability. The prior is that of rpcbench (docs/method.md).
"""

import argparse
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from records import Record
from slices import Window, by_process
from table import table

COLUMNS = ["server", "pairs", "windows of each", "pairs vary by", "F", "differ by", "below"]
# The model's prior: the median of the standard deviation, and its grid, dense enough for quantiles.
USUAL = 0.03
GRID = [0.0005 * 1.05**at for at in range(100)]


@dataclass(frozen=True)
class Pair:
    """A process of each build: how their windows differ, as logarithms."""

    differences: list[float]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.differences)

    @property
    def noise(self) -> float:
        """The variance of the mean."""
        return statistics.variance(self.differences) / len(self.differences)


def pairs(record: Record) -> list[Pair]:
    """The pairs of processes that have windows enough to tell their noise."""
    found: dict[int, list[list[Window]]] = defaultdict(list)
    for (_, process), windows in by_process(record).items():
        found[process].append(windows)
    differences = [[new.figures[0] - old.figures[0] for new, old in zip(*own)] for own in found.values() if len(own) == 2]
    return [Pair(own) for own in differences if len(own) >= 3]


def posterior(groups: list[list[Pair]]) -> tuple[float, float]:
    """The root of the posterior mean square of processes' standard deviation, and its 95 % quantile. Each group has its own mean."""
    logs = [sum(likelihood(own, deviation) for own in groups) + prior(deviation) for deviation in GRID]
    weights = [math.exp(log - max(logs)) for log in logs]
    mean = sum(weight * deviation**2 for weight, deviation in zip(weights, GRID)) / sum(weights)
    below = 0.0
    for weight, deviation in zip(weights, GRID):
        below += weight / sum(weights)
        if below >= 0.95:
            break
    return math.sqrt(mean), deviation


def prior(deviation: float) -> float:
    """The logarithm of the prior for a step of the grid, which grows with the variance."""
    return -2 * math.log1p((deviation / USUAL) ** 2) + 2 * math.log(deviation)


def likelihood(own: list[Pair], deviation: float) -> float:
    """The logarithm of the restricted likelihood. The windows' noise is pooled, since few windows hardly determine that of a pair."""
    noise = statistics.fmean(it.noise for it in own)
    variance = noise + 2 * deviation**2
    means = [it.mean for it in own]
    squares = sum((mean - statistics.fmean(means)) ** 2 for mean in means)
    return -((len(own) - 1) * math.log(variance) + squares / variance) / 2


def cells(name: str, groups: list[list[Pair]]) -> list[str]:
    freedom = sum(len(own) - 1 for own in groups)
    between = sum(statistics.variance([it.mean for it in own]) * (len(own) - 1) for own in groups) / freedom
    noise = sum(statistics.fmean(it.noise for it in own) * (len(own) - 1) for own in groups) / freedom
    windows = statistics.fmean(len(it.differences) for own in groups for it in own)
    shares = [math.sqrt(between), *posterior(groups)]
    vary, differ, below = (f"{100 * share:.2f} %" for share in shares)
    return [name, str(freedom + len(groups)), f"{windows:.0f}", vary, f"{between / noise:.2f}", differ, below]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="folder")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    groups: dict[str, list[list[Pair]]] = defaultdict(list)
    for folder in arguments.folders:
        record = Record(Path("rpcbench"), folder)
        own = pairs(record)
        if len(own) >= 2:
            groups[record.entries[0].split("#")[0]].append(own)
    rows = [cells(name, own) for name, own in sorted(groups.items())]
    if len(rows) > 1:
        rows.append(cells("all", [own for of_server in groups.values() for own in of_server]))
    print(table(COLUMNS, rows, range(1, len(COLUMNS)), arguments.markdown))


if __name__ == "__main__":
    main()
