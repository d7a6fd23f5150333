#!/usr/bin/env python3
"""Compares rpcbench's calls per client CPU-second with those of h2load, ghz, wrk, oha and the floor, or of another build.

scripts/bench-client.sh installs the load generators and runs this.
Exit code: 0 for success, 1 if a line is void, 2 if it could not run."""

import argparse
import os
import platform
import random
import re
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from choices import parse_names
from load_generators import FILES, NAMES, ROWS, Programs, Row, Service, counts
from processes import certificate, cpus, run, server
from samples import Line, Sample, lines, render

NULL_SERVERS = {"grpc": "null", "json": "null-json", "thrift": "thrift"}


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-client.sh", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--rounds", type=positive, default=5, metavar="N", help="rounds; each runs every client of every row once [default: 5]")
    add("--row", type=rows, action="extend", metavar="ROW", help="only this row; repeatable, or separated by commas")
    add("--seconds", type=positive, default=2, metavar="N", help="how long a client runs in each round [default: 2]")
    add("--seed", type=int, default=1, metavar="N", help="seed of the order [default: 1]")
    add("--format", choices=["text", "markdown"], default="text", help="how the table is printed")
    add("--client-cpu", type=int, metavar="CPU", help="CPU of the clients [default: chosen as for a run]")
    add("--server-cpu", type=int, metavar="CPU", help="CPU of the servers [default: chosen as for a run]")
    add("--commands", action="store_true", help="only print the command lines")
    add("--against", type=Path, metavar="DIR", help="compare only with the build of rpcbench in this folder")
    add("--programs", type=Path, default=Path("target/release"), metavar="DIR", help="folder of the built programs")
    add("--tonic", default="build/servers/rust-tonic/server", metavar="FILE", help="the tonic server")
    for name in ("h2load", "ghz", "wrk", "oha"):
        add(f"--{name}", default="", metavar="FILE", help=f"path of {name}; without it, its lines are left out")
    for name in ("ghz", "wrk"):
        add(f"--{name}-version", default="of unknown version", metavar="VERSION", help=f"version of {name}, which it can't print itself")
    return parser.parse_args(words)


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected 1 or more")
    return number


def rows(text: str) -> list[Row]:
    return parse_names("row", ROWS, text)


def order(steps: list[tuple[Row, list[str]]], rounds: int, seed: int) -> Iterator[tuple[int, Row, str]]:
    """All runs in order. Each round runs every client of every row once, row by row, with the clients of a row in random order."""
    rng = random.Random(seed)
    for number in range(1, rounds + 1):
        for row, clients in steps:
            for client in rng.sample(clients, len(clients)):
                yield number, row, client


def clients(row: Row, programs: Programs) -> list[str]:
    """The installed clients of a row. In a comparison of builds: both builds."""
    names = ["baseline", "rpcbench"] if programs.baseline else row.bars
    return [name for name in names if getattr(programs, name)]


def sample(command: list[str], client: str) -> Sample:
    try:
        output, cpu_s = run(command)
        return Sample.of(counts(client, output), cpu_s)
    except (OSError, RuntimeError, ValueError) as error:
        return Sample(problem=str(error))


def measure(args: argparse.Namespace, programs: Programs, servers: dict[Service, str]) -> list[Line]:
    steps = [(row, clients(row, programs)) for row in args.row or ROWS]
    samples: dict[tuple[Row, str], list[Sample]] = {(row, client): [] for row, names in steps for client in names}
    for number, row, client in order(steps, args.rounds, args.seed):
        print(f"round {number} of {args.rounds}: {row.name}, {client}", file=sys.stderr)
        command = programs.command(client, row, servers[row.service], args.seconds)
        samples[row, client].append(sample(command, client))
    return lines(samples, args.seconds)


def command_lines(chosen: list[Row], seconds: int) -> list[str]:
    """What each client of the rows is called with, once the server has an ADDRESS and FILES are in FOLDER."""
    return [shlex.join(NAMES.command(client, row, "ADDRESS", seconds)) for row in chosen for client in clients(row, NAMES)]


def heading(args: argparse.Namespace, programs: Programs, client_cpu: int, server_cpu: int) -> list[str]:
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    printing = [programs.rpcbench, programs.baseline or programs.h2load, programs.oha]
    versions = [run([program, "--version"])[0].strip() for program in printing if program]
    given = {"ghz": args.ghz_version, "wrk": args.wrk_version}
    versions += [f"{name} {version}" for name, version in given.items() if getattr(programs, name) and not programs.baseline]
    return [
        f"{model[1] if model else platform.machine()}, {os.cpu_count()} CPUs, Linux {platform.release()};"
        f" client on CPU {client_cpu}, server on CPU {server_cpu}",
        ", ".join(versions),
        f"rounds: {args.rounds}, {args.seconds} s per client; random order, seed {args.seed}; medians (quartiles)",
    ]


def main() -> int:
    args = parse_arguments(sys.argv[1:])
    if args.commands:
        print("\n".join(command_lines(args.row or ROWS, args.seconds)))
        return 0
    default_client_cpu, default_server_cpu = cpus()
    client_cpu = default_client_cpu if args.client_cpu is None else args.client_cpu
    server_cpu = default_server_cpu if args.server_cpu is None else args.server_cpu
    if client_cpu == server_cpu:
        raise RuntimeError(
            f"client and server need different CPUs, but both have CPU {client_cpu}; change --client-cpu or --server-cpu"
        )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
        programs = Programs(
            rpcbench=str(args.programs / "rpcbench"),
            floor=str(args.programs / "rpcbench-bench"),
            baseline=str(args.against / "rpcbench") if args.against else "",
            h2load=args.h2load,
            ghz=args.ghz,
            wrk=args.wrk,
            oha=args.oha,
            folder=str(folder),
        )
        # All servers stay up; those under no load are idle.
        servers = {}
        chosen = args.row or ROWS
        tls = certificate(folder) if any(row.tls for row in chosen) else {}
        for row in chosen:
            null = [str(args.programs / "rpcbench-testkit"), "--behaviour", NULL_SERVERS[row.protocol]]
            null += ["--tls-records", row.records] if row.tls else []
            command = [args.tonic, "current-thread"] if row.server == "tonic" else null
            if row.service not in servers:
                servers[row.service] = stack.enter_context(server(command, server_cpu, folder, tls if row.tls else {}))
        # Clients inherit the affinity.
        os.sched_setaffinity(0, {client_cpu})
        header = heading(args, programs, client_cpu, server_cpu)
        found = measure(args, programs, servers)
    print(render(header, found, args.format == "markdown"), end="")
    return int(any(line.problem for line in found))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        print(f"bench-client.sh: {error}", file=sys.stderr)
        sys.exit(2)
