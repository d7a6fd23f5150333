#!/usr/bin/env python3
"""Counts the load thread's instructions per call with callgrind: repeatable to about 0.1 %, even on a busy machine.

  python3 scripts/bench/instructions.py target/first --against ../before/target/release

Each folder has a program `rpcbench`; the first also has `rpcbench-testkit`. Needs root, and valgrind 3.22 or later for
epoll_pwait2. Client and server share a CPU and a real-time priority: each runs until it sleeps, so that calls come in the same
batches in every run. The difference between loads of n and 2n calls is divided by n, so that start and end don't count."""

import argparse
import ctypes
import re
import statistics
import struct
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from load_generators import FILES, ROWS, Programs, Row
from processes import certificate, server
from table import table

NULL_SERVERS = {"grpc": "null", "json": "null-json"}
# Rows of load_generators.py, and their number of calls.
LOADS = {
    "null-50x20": 150_000,
    "null-50x1": 40_000,
    "null-1x100": 150_000,
    "json-50x1": 40_000,
    "null-50x20-differing": 150_000,
    "null-50x20-empty": 150_000,
    "null-50x20-expect": 150_000,
    "json-50x1-expect": 40_000,
    "null-tls-50x20": 100_000,
    "null-tls-50x20-per-reply": 100_000,
    "null-tls-50x1": 20_000,
    "null-tls-1x100": 100_000,
    "json-tls-50x1": 20_000,
}
CPU = 0
PRIORITY = 10

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SYS_PRCTL, PR_GET_AUXV, EINVAL = 157, 0x41555856, 22


def hide_auxv() -> None:
    """Makes prctl(PR_GET_AUXV) fail in this process and its children. With it, programs would find the vDSO, which valgrind does not
    map; without it, they read /proc/self/auxv, which valgrind replaces."""
    # A BPF program: code, jump if true, jump if false, operand.
    steps = [
        (0x20, 0, 0, 0),  # Load the number of the system call.
        (0x15, 0, 3, SYS_PRCTL),
        (0x20, 0, 0, 16),  # Load its first argument.
        (0x15, 0, 1, PR_GET_AUXV),
        (0x06, 0, 0, 0x50000 | EINVAL),
        (0x06, 0, 0, 0x7FFF0000),  # Allow.
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def load_thread(folder: Path) -> int:
    """Instructions of the thread that makes the calls. callgrind writes a file per thread."""
    counts = []
    for path in folder.glob("out-*"):
        text = path.read_text()
        if re.search(r"Worker.*::turn", text):
            counts.append(int(re.search(r"^(?:totals|summary): (\d+)", text, re.M).group(1)))
    if not counts:
        raise RuntimeError("callgrind reported no load thread")
    return max(counts)


def help_of_load(programs: Path) -> str:
    return subprocess.run([programs / "rpcbench", "load", "--help"], capture_output=True, text=True, check=True).stdout


def rows(arguments: argparse.Namespace) -> list[Row]:
    """The chosen rows that both builds can run; names the others on standard error."""
    chosen = [row for row in ROWS if row.name in (arguments.row or LOADS)]
    builds = filter(None, [arguments.against, arguments.programs])
    # Older builds only have --calls.
    older = next((programs for programs in builds if not re.search(r"--call\b", help_of_load(programs))), None)
    if older is None:
        return chosen
    left_out = ", ".join(row.name for row in chosen if row.call)
    if left_out:
        print(f"instructions.py: {older}/rpcbench has no --call, so these rows are left out: {left_out}", file=sys.stderr)
    return [row for row in chosen if not row.call]


def instructions(programs: Path, address: str, row: Row, calls: int) -> int:
    # Older builds only have the long option.
    flag = "-m" if " -m," in help_of_load(programs) else "--in-flight"
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            (Path(folder) / name).write_bytes(content)
        target = Programs(rpcbench="", floor="", folder=folder).target(row, address)
        command = ["chrt", "-f", str(PRIORITY), "taskset", "-c", str(CPU), "valgrind", "--tool=callgrind", "--separate-threads=yes"]
        command += [f"--callgrind-out-file={folder}/out", str(programs / "rpcbench"), "load", *target]
        command += ["-c", str(row.connections), flag, str(row.in_flight), "-n", str(calls), "--warmup", "none", "--timeout", "60s"]
        command += Programs(rpcbench="", floor="").connection_options(row).split()
        ended = subprocess.run(command, capture_output=True, text=True, preexec_fn=hide_auxv)
        if ended.returncode not in (0, 1):
            raise RuntimeError(without_valgrind(ended.stderr))
        return load_thread(Path(folder))


def without_valgrind(stderr: str) -> str:
    """The program's own lines."""
    return "\n".join(line for line in stderr.splitlines() if not line.startswith("=="))


def per_call(programs: Path, address: str, row: Row) -> float:
    calls = LOADS[row.name]
    single, double = (instructions(programs, address, row, number) for number in (calls, 2 * calls))
    return (double - single) / calls


def cells(row: Row, arguments: argparse.Namespace) -> list[str]:
    command = ["chrt", "-f", str(PRIORITY), str(arguments.programs / "rpcbench-testkit"), "--behaviour", NULL_SERVERS[row.protocol]]
    command += ["--tls-records", row.records] if row.tls else []
    counts: dict[Path, list[float]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(server(command, CPU, folder, certificate(folder) if row.tls else {}))
        for _ in range(arguments.rounds):
            for programs in filter(None, [arguments.against, arguments.programs]):
                counts.setdefault(programs, []).append(per_call(programs, address, row))
    found = [row.transport, row.load]
    for values in counts.values():
        found.append(f"{statistics.median(values):,.1f} ({min(values):,.1f} to {max(values):,.1f})")
    if arguments.against:
        before, after = (statistics.median(values) for values in counts.values())
        found.append(f"{100 * (after / before - 1):+.2f} %")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("--against", type=Path, metavar="DIR", help="another build, to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--row", action="append", choices=LOADS, help="only this row; repeatable")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    titles = ["protocol", "load", "instructions per call"]
    if arguments.against:
        titles[2:] = ["before", "after", "change"]
    print(table(titles, (cells(row, arguments) for row in rows(arguments)), range(2, len(titles)), arguments.markdown), end="")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        print(f"instructions.py: {error}", file=sys.stderr)
        sys.exit(2)
