"""Run records, and what rpcbench says of them."""

import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path


class Record:
    """A run's folder."""

    def __init__(self, rpcbench: Path, folder: Path) -> None:
        self.rpcbench, self.folder, self.name = rpcbench, folder, folder.name

    @cached_property
    def header(self) -> dict:
        return json.loads((self.folder / "run.json").read_text())

    @cached_property
    def export(self) -> dict:
        """What `rpcbench report` says."""
        return self.ask("report", self.folder)

    @property
    def table(self) -> dict | None:
        """The first workload. None if nothing was measured."""
        return next(iter(self.export["workloads"]), None)

    @property
    def entries(self) -> list[str]:
        return [server["entry"] for server in self.header["plan"]["servers"]]

    def events(self) -> Iterator[dict]:
        with (self.folder / "events.jsonl").open() as lines:
            # A crash truncates the last line.
            yield from (json.loads(line) for line in lines if line.endswith("\n"))

    def windows(self) -> Iterator[tuple[dict, dict]]:
        """Measured trials and their windows."""
        for event in self.events():
            window = event.get("trial", {}).get("result", {}).get("measured")
            if window:
                yield event["trial"], window

    @property
    def seconds(self) -> float | None:
        """Length of the run including builds and checks. None if it has not ended."""
        ended = next((event["finished"]["at"] for event in self.events() if "finished" in event), None)
        return (time(ended) - time(self.header["started"])).total_seconds() if ended else None

    def ask(self, *words: object) -> dict:
        command = [str(word) for word in (self.rpcbench, *words, "--format", "json")]
        asked = subprocess.run(command, capture_output=True, text=True)
        # 1: a check or a limit failed.
        if asked.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command)} ended with exit code {asked.returncode}: {asked.stderr.strip()}")
        return json.loads(asked.stdout)

    def changes(self, base: "Record | None" = None) -> dict:
        """What `rpcbench compare` says of this run and an earlier one, or of the builds in this one."""
        return self.ask("compare", *([base.folder, self.folder, "--force"] if base else [self.folder]))

    def altered(self, alter: Callable[[dict], dict], folder: Path) -> "Record":
        """A copy whose JSON objects went through `alter`."""
        load = lambda text: json.loads(text, object_hook=alter)
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps(load((self.folder / "run.json").read_text())))
        with (folder / "events.jsonl").open("w") as lines:
            lines.writelines(json.dumps(load(json.dumps(event))) + "\n" for event in self.events())
        return Record(self.rpcbench, folder)

    def renamed(self, old: str, new: str, folder: Path) -> "Record":
        """A copy in which an entry has another name."""
        return self.altered(lambda value: value | ({"entry": new} if value.get("entry") == old else {}), folder)


def time(text: str) -> datetime:
    """A timestamp, to the second."""
    return datetime.fromisoformat(text[:19])


def records(rpcbench: Path, folder: Path) -> list[Record]:
    """The runs in a folder, oldest first."""
    return [Record(rpcbench, path.parent) for path in sorted(folder.glob("*/run.json"))]
