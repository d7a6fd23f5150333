"""Measures what slices do to figures, from a run whose rounds alternate between short and long slices.

  rpcbench run SERVERS... --slices 20+180,1000+1000 --rounds 60
  python3 scripts/bench/slices.py results/THE-RUN

Long slices start counting a second after the thaw, so they show an uninterrupted load. Each figure of a short window is compared
with the mean of the long windows before and after it: for all servers together, and for each relative to all, so that changes of
the machine from round to round cancel out.
"""

import argparse
import math
import statistics
from collections import defaultdict
from pathlib import Path

from records import Record
from table import table

Kind = tuple[int, int]


def figures(window: dict) -> dict[str, float]:
    usage, latency = window["server"], window["latency"]
    seconds = (usage["cpu_user_ns"] + usage["cpu_system_ns"]) / 1e9 * window["window_ns"] / usage["interval_ns"]
    return {
        "calls/cpu-s": window["ok_pro_rata"] / seconds,
        "calls/client cpu-s": window["ok_pro_rata"] / (window["client"]["cpu_ns"] / 1e9),
        "p50": latency["p50_ns"],
        "p99": latency["p99_ns"],
    }


def kind(window: dict) -> Kind:
    """Discarded and counted milliseconds of a window's slices, as in --slices."""
    slicing = window["slicing"]
    return slicing["discarded_ns"] // 10**6, slicing["counted_ns"] // 10**6


def differences(rounds: list[tuple[Kind, float]], long: Kind) -> list[float]:
    """Short windows minus the mean of the long ones before and after; all as logarithms."""
    found = []
    for before, (own, value), after in zip(rounds, rounds[1:], rounds[2:]):
        if own != long and before[0] == after[0] == long:
            found.append(value - (before[1] + after[1]) / 2)
    return found


def format_mean(values: list[float]) -> str:
    """The mean in percent, with its standard error."""
    if len(values) < 3:
        return "-"
    error = statistics.stdev(values) / math.sqrt(len(values))
    return f"{100 * statistics.fmean(values):+.1f} ± {100 * error:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    processes: dict[tuple[str, int], list[tuple[int, Kind, dict[str, float]]]] = defaultdict(list)
    for trial, window in Record(Path("rpcbench"), arguments.folder).windows():
        key = (trial["entry"], trial["process"])
        processes[key].append((trial["number"], kind(window), figures(window)))
    long = max(own for windows in processes.values() for _, own, _ in windows)
    for windows in processes.values():
        windows.sort(key=lambda window: window[0])
    rounds = min(map(len, processes.values()))
    names = ["calls/cpu-s", "calls/client cpu-s", "p50", "p99"]
    entries = ["all servers", *sorted({entry for entry, _ in processes})]
    found: dict[str, list[list[float]]] = {entry: [[] for _ in names] for entry in entries}
    for at, name in enumerate(names):
        logs = {key: [math.log(values[name]) for _, _, values in windows[:rounds]] for key, windows in processes.items()}
        common = [statistics.fmean(series[at] for series in logs.values()) for at in range(rounds)]
        kinds = [own for _, own, _ in next(iter(processes.values()))[:rounds]]
        found["all servers"][at] += differences(list(zip(kinds, common)), long)
        for (entry, _), series in logs.items():
            found[entry][at] += differences([(own, value - mean) for own, value, mean in zip(kinds, series, common)], long)
    shown = [[entry, str(len(own[0])), *map(format_mean, own)] for entry, own in found.items()]
    print(table(["server", "pairs", *(f"{name}, %" for name in names)], shown, range(1, 2 + len(names)), arguments.markdown))


if __name__ == "__main__":
    main()
