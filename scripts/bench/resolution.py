#!/usr/bin/env python3
"""Measures which differences runs detect on this machine, with servers whose differences are known.

Results accumulate: each invocation adds runs to the folder and judges all of them. A run takes two to six minutes.
Exit code: 0 if every bar is met, 1 if not, 2 if it could not run."""

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from choices import parse_names
from experiments import EXPERIMENTS, Experiment, Roots
from judge import ALONE_BAR, HALVES_BAR, AloneComparison, Comparison, Judgement, Noise, WindowHalves
from judge import compare_alone, levels, window_halves
from records import records
from table import table

RUNS = ["experiment", "run", "time", "processes", "unranked", "false differences", "slower than", "smallest difference", "right"]
COMPARISONS = ["experiment", "run", "baseline", "machine", "false differences", "slower", "smallest change", "right"]
NOISE = ["experiment", "windows", "within rounds"]
# One window, as long as a dozen of the table's.
ALONE = ["--processes", "1", "--rounds", "1", "--duration", "12s", "--max-time", "3m"]


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make resolution", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--experiment", type=experiments, action="extend", metavar="NAME", help="only this one; repeatable [default: real servers]")
    add("--runs", type=int, default=1, metavar="N", help="runs to add to each; 0 only judges existing ones [default: 1]")
    add("--alone", action="store_true", help="after a run of `bench`, also load each of its servers alone, without interruption")
    add("--format", choices=["text", "markdown"], default="text", help="how the tables are printed")
    folders = {
        "results": ("results/resolution", "the runs"),
        "programs": ("target/release", "rpcbench and rpcbench-testkit"),
        "root": (".", "the real servers"),
        "testkit": ("crates/testkit/root", "the testkit's servers"),
        "costlier-5": ("crates/testkit/costlier-5", "a build of them whose calls cost 5 % more"),
    }
    for name, (default, content) in folders.items():
        add(f"--{name}", type=Path, default=Path(default), metavar="DIR", help=f"folder of {content} [default: {default}]")
    add("--suite", default="suites/quick.toml", metavar="FILE", help="the suite; each experiment sets --max-time")
    return parser.parse_args(words)


def experiments(text: str) -> list[Experiment]:
    return parse_names("experiment", EXPERIMENTS, text)


def measure(args: argparse.Namespace, experiment: Experiment) -> None:
    """Adds one run. Its progress goes to standard error."""
    roots = Roots(args.root, args.testkit, args.costlier_5, output=args.results)
    roots.make(experiment)
    rpcbench(args, experiment.command(roots), args.results / experiment.name)
    if args.alone and experiment.name == "bench":
        bench = records(args.programs / "rpcbench", args.results / experiment.name)[-1]
        for entry in levels(bench):
            rpcbench(args, ["--root", str(args.root), "run", entry, *ALONE], args.results / "alone" / bench.name)


def rpcbench(args: argparse.Namespace, words: list[str], results: Path) -> None:
    command = [args.programs / "rpcbench", *words, "--suite", args.suite, "--results", results]
    environment = os.environ | {"RPCBENCH_TESTKIT": str((args.programs / "rpcbench-testkit").resolve())}
    code = subprocess.run(command, env=environment, stdout=sys.stderr).returncode
    if code:
        raise RuntimeError(f"{command[0]} {words[2]} ended with exit code {code}")


@dataclass
class Results:
    """All runs in a folder. `rpcbench compare` also compares those of the testkit with the last `equal` run before, and new builds
    with old ones."""

    runs: list[Judgement]
    comparisons: list[Comparison]
    alone: list[AloneComparison]
    halves: list[WindowHalves]

    @staticmethod
    def read(program: Path, folder: Path) -> "Results":
        own = {experiment.name: records(program, folder / experiment.name) for experiment in EXPERIMENTS}
        measured = [(it, run) for it in EXPERIMENTS for run in own[it.name] if run.table]
        return Results(
            runs=[judgement for it, run in measured if (judgement := Judgement.of(it, run))],
            comparisons=[comparison for it, run in measured if (comparison := Comparison.of(it, run, own["equal"]))],
            alone=compare_alone((run, records(program, folder / "alone" / run.name)) for run in own["bench"]),
            halves=window_halves(own["bench"]),
        )

    def scores(self) -> list["Score"]:
        return [score for it in EXPERIMENTS for score in Score.of(it, self.runs)]

    def comparison_scores(self) -> list["Score"]:
        return [score for it in EXPERIMENTS if it.is_compared for score in Score.of(it, self.comparisons)]

    @property
    def is_met(self) -> bool:
        return all(it.is_met for it in [*self.scores(), *self.comparison_scores(), *self.alone, *self.halves])

    def render(self, markdown: bool) -> str:
        sections = [
            section("Runs", table(RUNS, map(run_cells, self.runs), range(2, 9), markdown)),
            "".join(map(str, self.scores())),
            section(
                "Ranking figures in the table, relative to an uninterrupted load right after it, median of the runs;"
                f" the bar is {ALONE_BAR * 100:.0f} % difference",
                table(["server", "runs", "in the table / alone", "met"], map(alone_cells, self.alone), range(1, 3), markdown),
            ),
            section(
                "Calls in the second half of windows in the table, relative to the first;"
                f" the bar is {HALVES_BAR * 100:.0f} % more",
                table(["server", "windows", "second half / first", "met"], map(halves_cells, self.halves), range(1, 3), markdown),
            ),
            section(
                "Comparisons by rpcbench compare: with the last run of equal entries, and of new builds with old ones",
                table(COMPARISONS, map(comparison_cells, self.comparisons), range(3, 8), markdown),
            ),
            "".join(map(str, self.comparison_scores())),
            section("Standard deviation of windows, median of the runs", table(NOISE, self.noise(), range(1, 3), markdown)),
        ]
        return "\n".join(filter(None, sections))

    def noise(self) -> list[list[str]]:
        by_experiment = [(it.name, [run.noise for run in self.runs if run.experiment == it]) for it in EXPERIMENTS]
        return [[name, *noise_cells(noise)] for name, noise in by_experiment if noise]


@dataclass(frozen=True)
class Score:
    experiment: Experiment
    right: int
    total: int

    @staticmethod
    def of(experiment: Experiment, results: list) -> list["Score"]:
        """The score of an experiment; an empty list without results."""
        scores = [it.score for it in results if it.experiment == experiment]
        score = Score(experiment, sum(right for right, _ in scores), sum(total for _, total in scores))
        return [score] if score.total else []

    @property
    def is_met(self) -> bool:
        return self.right >= self.experiment.bar * self.total

    def __str__(self) -> str:
        met = "met" if self.is_met else "not met"
        return f"{self.experiment.name}: {self.right} of {self.total} right; the bar is {self.experiment.bar * 100:.0f} %: {met}\n"


def section(title: str, table: str) -> str:
    return f"{title}:\n\n{table}" if table else ""


def run_cells(run: Judgement) -> list[str]:
    return [
        run.experiment.name,
        run.name,
        "unfinished" if run.seconds is None else f"{run.seconds:.0f} s",
        str(run.processes),
        str(run.unranked),
        f"{run.pairs.wrong} of {run.pairs.equal}",
        str(run.pairs.found) if run.experiment.costlier else "",
        percent(run.resolution),
        yes_or_no(run.is_right),
    ]


def alone_cells(alone: AloneComparison) -> list[str]:
    return [alone.entry, str(len(alone.ratios)), f"{median(alone.ratios):.3f}", yes_or_no(alone.is_met)]


def halves_cells(halves: WindowHalves) -> list[str]:
    return [halves.entry, str(halves.windows), f"{halves.ratio:.3f}", yes_or_no(halves.is_met)]


def comparison_cells(comparison: Comparison) -> list[str]:
    return [
        comparison.experiment.name,
        comparison.name,
        comparison.base,
        percent(None if comparison.machine is None else comparison.machine - 1),
        str(comparison.wrong),
        "" if comparison.found is None else yes_or_no(comparison.found),
        percent(comparison.resolution),
        yes_or_no(comparison.is_right),
    ]


def noise_cells(noise: list[Noise]) -> list[str]:
    figures = zip(*([it.windows, it.in_rounds] for it in noise))
    known = ([value for value in values if value is not None] for values in figures)
    return [percent(median(values) if values else None) for values in known]


def yes_or_no(answer: bool) -> str:
    return "yes" if answer else "no"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.1f} %"


def main() -> int:
    args = parse_arguments(sys.argv[1:])
    chosen = args.experiment or [it for it in EXPERIMENTS if it.is_real]
    for experiment in chosen * args.runs:
        measure(args, experiment)
    results = Results.read(args.programs / "rpcbench", args.results)
    print(results.render(args.format == "markdown"), end="")
    return 0 if results.is_met else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        print(f"resolution.py: {error}", file=sys.stderr)
        sys.exit(2)
