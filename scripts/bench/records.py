"""Run records and rpcbench's reports on them."""

import json
import subprocess
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path


class Record:
    """A run, in its folder."""

    def __init__(self, rpcbench: Path, folder: Path) -> None:
        self.rpcbench, self.folder, self.name = rpcbench, folder, folder.name

    @cached_property
    def header(self) -> dict:
        return json.loads((self.folder / "run.json").read_text())

    @cached_property
    def export(self) -> dict:
        """The JSON of `rpcbench report`."""
        return self.query("report", self.folder)

    @property
    def table(self) -> dict | None:
        """The first workload of the report. None if nothing was measured."""
        return next(iter(self.export["workloads"]), None)

    @property
    def entries(self) -> list[str]:
        return [server["entry"] for server in self.header["plan"]["servers"]]

    def events(self) -> Iterator[dict]:
        with (self.folder / "events.jsonl").open() as lines:
            # A crash may truncate the last line.
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
        return (parse_time(ended) - parse_time(self.header["started"])).total_seconds() if ended else None

    def query(self, *words: object) -> dict:
        command = [str(word) for word in (self.rpcbench, *words, "--format", "json")]
        process = subprocess.run(command, capture_output=True, text=True)
        # Exit code 1 means that a check or a limit failed; the output is complete.
        if process.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command)} ended with exit code {process.returncode}: {process.stderr.strip()}")
        return json.loads(process.stdout)

    def changes(self, base: "Record | None" = None) -> dict:
        """The JSON of `rpcbench compare` for this run and an earlier one, or for the builds in this one."""
        return self.query("compare", *([base.folder, self.folder, "--force"] if base else [self.folder]))

    def renamed(self, old: str, new: str, folder: Path) -> "Record":
        """A copy in which an entry has another name."""

        def rename(value: dict) -> dict:
            return value | {"entry": new} if value.get("entry") == old else value

        def copy(value: dict) -> str:
            return json.dumps(json.loads(json.dumps(value), object_hook=rename))

        folder.mkdir(parents=True)
        (folder / "run.json").write_text(copy(self.header))
        with (folder / "events.jsonl").open("w") as lines:
            lines.writelines(copy(event) + "\n" for event in self.events())
        return Record(self.rpcbench, folder)


def parse_time(text: str) -> datetime:
    """A timestamp without its fraction of a second and time zone, which is UTC."""
    return datetime.fromisoformat(text[:19])


def records(rpcbench: Path, folder: Path) -> list[Record]:
    """The runs in a folder, oldest first."""
    return [Record(rpcbench, path.parent) for path in sorted(folder.glob("*/run.json"))]
