"""Experiments: runs of servers with known differences, and what the runs must find."""

import shutil
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# Without the variant, the name means all variants.
TONIC = "rust-tonic@multi-thread"
HONEST = "testkit-liar@honest"


@dataclass(frozen=True)
class Experiment:
    # For --experiment, and the folder of its runs.
    name: str
    # Arguments of `rpcbench run` or `compare`. Empty: rpcbench's choice.
    servers: list[str]
    # The minimum share of right runs; of `equal-real`, of right pairs.
    bar: float
    max_time: str = "6m"
    # Empty: the suite's.
    precision: str = ""
    is_real: bool = False
    # A run must be able to see a difference of this share.
    sees: float | None = None
    # The entry in the record that a run must call slower than another.
    costlier: str = ""
    # Compares the current build with one whose calls cost this many percent more; 0: with a copy of its source. None: a run.
    build: int | None = None

    @property
    def is_compared(self) -> bool:
        """True if comparisons of runs or builds have a bar too. Comparing two runs can't show 5 %."""
        return not self.is_real and self.name != "costlier-5"

    def command(self, roots: "Roots") -> list[str]:
        """The arguments of rpcbench, without the suite and the folder for results."""
        root = str(roots.real if self.is_real else roots.testkit)
        action = ["run"] if self.build is None else ["compare", "--build", root, "--build", str(roots.costlier(self))]
        precision = ["--precision", self.precision] if self.precision else []
        return ["--root", root, *action, *self.servers, "--max-time", self.max_time, *precision]


def costlier_variant(name: str) -> dict:
    return {"servers": [HONEST, HONEST, name, HONEST, HONEST, HONEST], "costlier": name}


FAST = ["cpp-grpc", "go-grpc", "go-net-http", "go-thrift", "rust-axum@multi-thread", TONIC]
NEW_GO = {"servers": ["go-grpc"], "costlier": "go-grpc#new"}
EXPERIMENTS = [
    Experiment("bench", [], 0.8, is_real=True, sees=0.07),
    Experiment("bench-6", FAST, 0.8, is_real=True, sees=0.04),
    Experiment("equal-real", ["cpp-grpc", "cpp-grpc", "go-grpc", "go-grpc", TONIC, TONIC], 0.95, is_real=True),
    Experiment("equal-12", ["go-grpc"] * 12, 0.95, is_real=True, max_time="3m"),
    Experiment("known-real-0", ["go-grpc"], 1.0, is_real=True, build=0, max_time="3m"),
    Experiment("known-real-1", bar=0.8, is_real=True, build=1, max_time="3m", precision="1%", **NEW_GO),
    Experiment("known-real-2", bar=0.8, is_real=True, build=2, precision="1%", **NEW_GO),
    Experiment("known-real-5", bar=1.0, is_real=True, build=5, max_time="3m", **NEW_GO),
    Experiment("known-real-10", bar=0.8, is_real=True, build=10, max_time="2m", **NEW_GO),
    Experiment("equal", [HONEST] * 6, 0.9),
    Experiment("costlier-5", bar=0.8, **costlier_variant("testkit-liar@costlier")),
    Experiment("costlier-10", bar=0.8, max_time="2m", **costlier_variant("testkit-liar@costlier-10")),
    Experiment("builds-5", [HONEST], 0.8, costlier=f"{HONEST}#new", build=5),
]


@dataclass(frozen=True)
class Roots:
    """Folders that have `servers/`, for rpcbench's --root and --build."""

    real: Path
    testkit: Path
    costlier_testkit: Path
    # Copies of `real` go here.
    output: Path

    def costlier(self, experiment: Experiment) -> Path:
        return self.output / f"costlier-{experiment.build}" if experiment.is_real else self.costlier_testkit

    def make(self, experiment: Experiment) -> None:
        """Makes the copy of go-grpc that an experiment needs."""
        if not experiment.is_real or experiment.build is None:
            return
        copy = self.costlier(experiment)
        for folder in ("servers", "contract"):
            # An earlier copy may have files that the source lacks.
            shutil.rmtree(copy / folder, ignore_errors=True)
            shutil.copytree(self.real / folder, copy / folder, symlinks=True)
        if experiment.build:
            source = (HERE / "costlier.go").read_text().replace("const percent = 5", f"const percent = {experiment.build}")
            (copy / "servers/go/grpc/costlier.go").write_text(source)
