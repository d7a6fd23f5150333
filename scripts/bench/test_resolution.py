"""Tests of resolution.py over records of real runs, judged by the rpcbench that RPCBENCH names [default: target/debug/rpcbench]. Run
by crates/cli/tests/it/benchmarks.rs, or: python3 -m unittest discover scripts/bench"""

import gzip
import hashlib
import json
import os
import tempfile
import unittest
from collections import Counter
from dataclasses import replace
from pathlib import Path

from experiments import EXPERIMENTS, HERE, HONEST, Experiment, Roots
from judge import AloneComparison, Comparison, Judgement, Noise, Pairs, WindowHalves, compare_alone, levels, window_halves
from records import Record
from resolution import Results, percent

ROOT = HERE.parents[1]
GOLDEN = ROOT / "web/tests/records/quick"
RPCBENCH = Path(os.environ.get("RPCBENCH", ROOT / "target/debug/rpcbench"))
BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}
EQUAL, COSTLIER = BY_NAME["equal"], BY_NAME["costlier-10"]
# Processes of each entry of a synthetic run.
PROCESSES = 8


def golden(folder: Path) -> Record:
    """The golden record of the suite `quick`."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text((GOLDEN / "run.json").read_text())
    (folder / "events.jsonl").write_bytes(gzip.decompress((GOLDEN / "events.jsonl.gz").read_bytes()))
    return Record(RPCBENCH, folder)


def entries(experiment: Experiment) -> list[str]:
    """The entries in the record of an experiment with the testkit's servers: `#2` and so on after repeated names."""
    seen: Counter[str] = Counter()
    names = []
    for name in experiment.servers:
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def synthetic(folder: Path, experiment: Experiment, slow: str = "") -> Record:
    """A run of an experiment with go-grpc's windows, in which the entry `slow` uses twice the CPU time."""
    run = golden(folder)
    header, events = run.header, list(run.events())
    server = next(it for it in header["plan"]["servers"] if it["entry"] == "go-grpc")
    prepared = next(it["prepared"] for it in events if it.get("prepared", {}).get("entry") == "go-grpc")
    windows = [event["trial"] for event in events if event.get("trial", {}).get("entry") == "go-grpc"]
    preparations, trials = [], []
    for entry in entries(experiment):
        for process in range(1, PROCESSES + 1):
            preparations.append(prepared | {"entry": entry, "process": process})
            half = [trial for trial in windows if trial["process"] == 1 + process % 2]
            for at, trial in enumerate(json.loads(json.dumps(half)), 1):
                scale_cpu(trial, 2 if entry == slow else 1)
                trials.append(trial | {"entry": entry, "process": process, "number": process * 100 + at})
    # Different ids, so that `rpcbench compare` takes two of these for two runs.
    header["id"] = header["id"][:-12] + hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    header["plan"]["servers"] = [server | {"entry": entry} for entry in entries(experiment)]
    header["plan"]["order"] = [{key: trial[key] for key in ("entry", "workload", "process", "number")} for trial in trials]
    write(run, [*({"prepared": it} for it in preparations), *({"trial": it} for it in trials), events[-1]])
    return run


def write(run: Record, events: list[dict]) -> None:
    (run.folder / "run.json").write_text(json.dumps(run.header))
    (run.folder / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))


def scale_cpu(trial: dict, factor: float) -> None:
    usage = trial["result"]["measured"]["server"]
    for key in ("cpu_user_ns", "cpu_system_ns"):
        usage[key] = int(usage[key] * factor)


def pair(first: str, second: str, finding: str) -> dict:
    return {"first": first, "second": second, "finding": finding}


class PairsOfKnownEntries(unittest.TestCase):
    def test_costlier_entry_is_found_only_if_called_slower(self):
        costlier = BY_NAME["costlier-5"].costlier
        pairs = [
            pair(HONEST, costlier, "faster"),
            pair(f"{HONEST}#2", costlier, "slightly faster"),
            pair(costlier, f"{HONEST}#3", "slower"),
            pair(costlier, f"{HONEST}#4", "faster"),
            pair(HONEST, f"{HONEST}#2", "equal"),
            pair(HONEST, f"{HONEST}#3", "open"),
            pair(HONEST, f"{HONEST}#4", "slower"),
        ]
        self.assertEqual(Pairs.of(pairs, costlier), Pairs(equal=3, wrong=2, found=3))
        self.assertEqual(Pairs.of(pairs[4:], ""), Pairs(equal=3, wrong=1, found=0))

    def test_only_doubles_of_real_servers_are_equal(self):
        pairs = [
            pair("go-grpc", "go-grpc#2", "slower"),
            pair("rust-tonic", "rust-tonic#2", "equal"),
            pair("rust-tonic", "go-grpc", "faster"),
        ]
        self.assertEqual(Pairs.of(pairs, ""), Pairs(equal=2, wrong=1, found=0))
        builds = [pair("go-grpc#old", "go-grpc#new", "faster")]
        self.assertEqual(Pairs.of(builds, "go-grpc#new"), Pairs(equal=0, wrong=0, found=1))


class Windows(unittest.TestCase):
    def test_early_window_is_faster_in_its_second_half(self):
        def series(*slices: tuple[int, int]) -> list[dict]:
            return [{"ok": ok, "carried_in": carried, "errors": 0} for ok, carried in slices]

        halves = WindowHalves("go-grpc")
        halves.add(series((0, 400), (500, 0), (700, 0), (500, 0), (470, 0)))
        self.assertEqual(halves, WindowHalves("go-grpc", 1, 900, 970))
        self.assertTrue(halves.is_met)
        halves.add(series((0, 400), (500, 0)))
        self.assertEqual(halves, WindowHalves("go-grpc", 2, 1300, 1470))
        self.assertFalse(halves.is_met)


class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_golden_record_is_judged(self):
        judgement = Judgement.of(BY_NAME["bench"], golden(self.folder / "golden"))
        self.assertEqual((judgement.processes, f"{judgement.seconds:.0f}"), (2, "579"))
        self.assertFalse(judgement.is_right)

    def test_noise_of_golden_record(self):
        # Rounded, since the last digits depend on the processor.
        noise = Noise.of(golden(self.folder / "golden"))
        self.assertEqual([percent(share) for share in (noise.windows, noise.in_rounds)], ["17.5 %", "19.2 %"])

    def test_costlier_entry_is_compared_with_an_equal_one(self):
        self.assertEqual(self.compare(COSTLIER, COSTLIER.costlier), (0, True, True))
        self.assertEqual(self.compare(COSTLIER, ""), (0, False, False))

    def test_equal_entry_called_changed_is_wrong(self):
        self.assertEqual(self.compare(EQUAL, ""), (0, None, True))
        self.assertEqual(self.compare(EQUAL, f"{HONEST}#2"), (1, None, False))
        self.assertEqual(self.compare(COSTLIER, HONEST), (1, False, False))

    def compare(self, experiment: Experiment, slow: str) -> tuple:
        folder = self.folder / f"{experiment.name}-{slow}"
        base = synthetic(folder / "1-base", EQUAL)
        new = synthetic(folder / "2-new", experiment, slow)
        comparison = Comparison.of(experiment, new, [base, new])
        self.assertEqual((comparison.base, comparison.resolution < 0.5), ("1-base", True))
        return comparison.wrong, comparison.found, comparison.is_right

    def test_run_of_an_experiment_is_judged(self):
        run = synthetic(self.folder / "run", COSTLIER, COSTLIER.costlier)
        judgement = Judgement.of(COSTLIER, run)
        self.assertEqual((judgement.processes, judgement.pairs.found, judgement.is_right), (PROCESSES, 5, True))

    def test_server_alone_is_compared_with_its_table(self):
        table = golden(self.folder / "table")
        found = compare_alone([(table, [table])])
        self.assertEqual(found, [AloneComparison(entry, [1.0]) for entry in sorted(levels(table))])
        self.assertIn("go-grpc", [it.entry for it in found])
        self.assertEqual([it.windows for it in window_halves([table]) if it.entry == "go-grpc"], [8])


class Experiments(unittest.TestCase):
    def test_copy_burns_the_share_of_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            real = Path(folder) / "real"
            for path in ("servers/go/grpc/go.mod", "contract/echo.proto"):
                (real / path).parent.mkdir(parents=True)
                (real / path).write_text("module")
            roots = Roots(real, ROOT / "crates/testkit/root", ROOT / "crates/testkit/costlier-5", Path(folder) / "output")
            for percent in (0, 1, 2, 5, 10):
                experiment = BY_NAME[f"known-real-{percent}"]
                copy = roots.costlier(experiment)
                (copy / "servers/go/grpc").mkdir(parents=True)
                (copy / "servers/go/grpc/costlier.go").write_text("of an earlier copy")
                roots.make(experiment)
                self.assertEqual((copy / "contract/echo.proto").read_text(), "module")
                costlier = copy / "servers/go/grpc/costlier.go"
                self.assertEqual(costlier.exists(), percent > 0)
                if percent:
                    self.assertIn(f"\nconst percent = {percent}\n", costlier.read_text())
                command = ["--root", real, "compare", "--build", real, "--build", copy, "go-grpc", "--max-time", experiment.max_time]
                precision = ["--precision", "1%"] if percent in (1, 2) else []
                self.assertEqual(experiment.command(roots), [str(word) for word in command] + precision)

    def test_experiments_name_known_servers(self):
        listed = {path.parent.parent.name + "-" + path.parent.name for path in ROOT.glob("servers/*/*/server.toml")}
        for server in (it for experiment in EXPERIMENTS if experiment.is_real for it in experiment.servers):
            self.assertIn(server.split("@")[0], listed)


class Tables(unittest.TestCase):
    def test_runs_comparisons_and_noise_are_tables(self):
        def run(experiment: str, found: int, wrong: int, windows: float) -> Judgement:
            noise = Noise(windows, 0.071)
            pairs = Pairs(equal=15, wrong=wrong, found=found)
            return Judgement(BY_NAME[experiment], "2026-11-23T10-00-00", 9, 371.4, 0, pairs, 0.0312, noise)

        def comparison(experiment: str, found: bool | None, wrong: int) -> Comparison:
            return Comparison(BY_NAME[experiment], "2026-11-23T11-00-00", "2026-11-23T10-00-00", 1.083, wrong, found, 0.0723)

        results = Results(
            runs=[
                run("equal", 0, 0, 0.2),
                run("equal", 0, 1, 0.1),
                run("costlier-10", 5, 0, 0.12),
                replace(run("costlier-10", 4, 0, 0.14), seconds=None, resolution=None),
                run("equal", 0, 0, 0.3),
            ],
            comparisons=[
                comparison("equal", None, 0),
                replace(comparison("costlier-10", True, 0), machine=None),
                comparison("costlier-10", True, 1),
                replace(comparison("costlier-5", False, 0), resolution=None),
            ],
            alone=[AloneComparison("go-grpc", [0.99, 1.04, 1.02]), AloneComparison("java-grpc", [0.95, 1.01, 0.96])],
            halves=[WindowHalves("go-grpc", 10, 500, 510), WindowHalves("node-grpc-js", 10, 400, 560)],
        )
        self.assertEqual(results.render(True), (HERE / "captured/resolution.md").read_text())
        self.assertFalse(results.is_met)
        self.assertTrue(replace(results, runs=[], comparisons=[], alone=results.alone[:1], halves=results.halves[:1]).is_met)


if __name__ == "__main__":
    unittest.main()
