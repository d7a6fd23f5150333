"""Measures what slices do to figures, from a run whose rounds alternate between slices of several lengths.

  rpcbench run SERVERS... --slices 20+180,1000+1000 --rounds 60
  python3 scripts/bench/slices.py results/THE-RUN

Bias: the longest slices start counting a second after the thaw, so they show an uninterrupted load. Each figure of a short window is
compared with the mean of the longest ones before and after it: for all servers together, and for each relative to all, so that
changes of the machine from round to round cancel out.

Noise: how much windows of each length vary within rounds, and what is left of that after a minute of each server's slices.

Start: calls that end in each 100 ms after a thaw, relative to the rest of the longest slices (try --slices 10+800).
"""

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from records import Record
from table import table

FIGURES = ["calls/cpu-s", "calls/client cpu-s", "p50", "p99"]
NOISE = ["discarded + counted", "windows of each", "take", "vary within rounds by", "after a minute"]

# Discarded and counted milliseconds of a window's slices, as in --slices.
Kind = tuple[int, int]
# An entry, and the number of its process.
Process = tuple[str, int]

# Length of a step of a record's series, ms.
STEP = 100
# Starts of the first steps after a thaw, ms. They are compared with the rest of the slice.
FIRST = [0, STEP, 2 * STEP]


@dataclass(frozen=True)
class Window:
    number: int
    kind: Kind
    # Of all its slices.
    seconds: float
    # Logarithms of FIGURES.
    figures: list[float]
    # Of each step of its series that lies within a slice: its middle, in ms since the thaw, and the calls that ended in it.
    steps: list[tuple[int, int]]

    @staticmethod
    def of(trial: dict, window: dict) -> "Window":
        slicing = window["slicing"]
        discarded, counted = slicing["discarded_ns"] // 10**6, slicing["counted_ns"] // 10**6
        seconds = slicing["slices"] * (discarded + counted) / 1e3
        logarithms = [math.log(value) for value in figures(window)]
        return Window(trial["number"], (discarded, counted), seconds, logarithms, steps(window["series"], discarded, counted))


def figures(window: dict) -> list[float]:
    usage, latency = window["server"], window["latency"]
    seconds = (usage["cpu_user_ns"] + usage["cpu_system_ns"]) / 1e9 * window["window_ns"] / usage["interval_ns"]
    calls = window["ok_pro_rata"]
    return [calls / seconds, calls / (window["client"]["cpu_ns"] / 1e9), latency["p50_ns"], latency["p99_ns"]]


def steps(series: list[dict], discarded: int, counted: int) -> list[tuple[int, int]]:
    offsets = ((at * STEP % counted, step["ok"] + step.get("carried_in", 0)) for at, step in enumerate(series))
    return [(discarded + offset + STEP // 2, calls) for offset, calls in offsets if offset + STEP <= counted]


def by_process(record: Record) -> dict[Process, list[Window]]:
    """The windows of each process, in order."""
    found: dict[Process, list[Window]] = defaultdict(list)
    for trial, window in record.windows():
        found[trial["entry"], trial["process"]].append(Window.of(trial, window))
    return {process: sorted(windows, key=lambda it: it.number) for process, windows in sorted(found.items())}


def in_common(measured: dict[Process, list[Window]]) -> dict[Process, list[Window]]:
    """The windows in the rounds that all processes have."""
    rounds = min(map(len, measured.values()))
    return {process: windows[:rounds] for process, windows in measured.items()}


def common(series: list[list[float]]) -> list[float]:
    """What all processes share in each round."""
    return [statistics.fmean(own) for own in zip(*series)]


def differences(rounds: list[tuple[Kind, float]], long: Kind) -> list[float]:
    """Short windows minus the mean of the long ones before and after."""
    found = []
    for before, (own, value), after in zip(rounds, rounds[1:], rounds[2:]):
        if own != long and before[0] == after[0] == long:
            found.append(value - (before[1] + after[1]) / 2)
    return found


def longest(kinds: Iterable[Kind]) -> Kind:
    return max(kinds, key=sum)


def format_mean(values: list[float]) -> str:
    """The mean in percent, with its standard error."""
    if len(values) < 3:
        return "-"
    error = statistics.stdev(values) / math.sqrt(len(values))
    return format_error(statistics.fmean(values), error)


def format_error(share: float, error: float) -> str:
    return f"{100 * share:+.1f} ± {100 * error:.1f}"


def bias(measured: dict[Process, list[Window]]) -> list[list[str]]:
    kinds = [window.kind for window in next(iter(measured.values()))]
    entries = ["all servers", *dict.fromkeys(entry for entry, _ in measured)]
    found: dict[str, list[list[float]]] = {entry: [[] for _ in FIGURES] for entry in entries}
    for at in range(len(FIGURES)):
        series = {process: [window.figures[at] for window in windows] for process, windows in measured.items()}
        shared = common(list(series.values()))
        own = [(entry, [value - mean for value, mean in zip(values, shared)]) for (entry, _), values in series.items()]
        for entry, values in [("all servers", shared), *own]:
            found[entry][at] += differences(list(zip(kinds, values)), longest(kinds))
    return [[entry, str(len(own[0])), *map(format_mean, own)] for entry, own in found.items()]


def noise(measured: dict[Process, list[Window]]) -> list[list[str]]:
    kinds = sorted({window.kind for windows in measured.values() for window in windows})
    return [noise_of(kind, [[it for it in windows if it.kind == kind] for windows in measured.values()]) for kind in kinds]


def noise_of(kind: Kind, measured: list[list[Window]]) -> list[str]:
    rounds, seconds = len(measured[0]), statistics.fmean(window.seconds for own in measured for window in own)
    cells = [f"{kind[0]} + {kind[1]} ms", str(rounds), f"{seconds:.2f} s"]
    if rounds < 3 or len(measured) < 2:
        return [*cells, "-", "-"]
    deviation = deviation_in_rounds([[window.figures[0] for window in own] for own in measured])
    return [*cells, f"{100 * deviation:.1f} %", f"{100 * deviation * math.sqrt(seconds / 60):.2f} %"]


def deviation_in_rounds(series: list[list[float]]) -> float:
    """The standard deviation of values without the means of their processes and rounds."""
    shared = common(series)
    rests = [[value - mean for value, mean in zip(own, shared)] for own in series]
    squares = sum((value - statistics.fmean(own)) ** 2 for own in rests for value in own)
    return math.sqrt(squares / ((len(series) - 1) * (len(shared) - 1)))


def starts(measured: dict[Process, list[Window]]) -> list[list[str]]:
    long = longest(window.kind for windows in measured.values() for window in windows)
    found: dict[str, list[list[tuple[int, int]]]] = defaultdict(list)
    for (entry, _), windows in measured.items():
        found[entry] += [window.steps for window in windows if window.kind == long]
    return [[entry, *(start(first, windows) for first in FIRST)] for entry, windows in found.items()]


def start(first: int, windows: list[list[tuple[int, int]]]) -> str:
    """Calls in the steps whose middle is in the 100 ms from `first` on, relative to those after FIRST, in percent, with the
    standard error of a ratio of sums."""
    pairs = []
    for window in windows:
        early = [calls for middle, calls in window if first <= middle < first + STEP]
        late = [calls for middle, calls in window if middle >= FIRST[-1] + STEP]
        if early and late:
            pairs.append((statistics.fmean(early), statistics.fmean(late)))
    if len(pairs) < 3:
        return "-"
    early, late = (statistics.fmean(side) for side in zip(*pairs))
    rests = [own / late - other * early / late**2 for own, other in pairs]
    error = statistics.stdev(rests) / math.sqrt(len(rests))
    return format_error(early / late - 1, error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    measured = in_common(by_process(Record(Path("rpcbench"), arguments.folder)))
    columns = ["server", "pairs", *(f"{name}, %" for name in FIGURES)]
    print(table(columns, bias(measured), range(1, len(columns)), arguments.markdown))
    print(table(NOISE, noise(measured), range(1, len(NOISE)), arguments.markdown))
    columns = ["server", *(f"{first} to {first + STEP} ms, %" for first in FIRST)]
    print(table(columns, starts(measured), range(1, len(columns)), arguments.markdown))


if __name__ == "__main__":
    main()
