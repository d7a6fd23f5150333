"""Starts servers and runs load generators, each on its own CPU."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def run(command: list[str]) -> tuple[str, float]:
    """Runs a program; returns its standard output, and the user and system time of all its threads in seconds."""
    # A full pipe without a reader would block the program; files don't.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (errors, output):
            file.seek(0)
            texts.append(file.read())
        if process.returncode:
            last = [text.strip().splitlines()[-1] for text in texts if text.strip()]
            raise RuntimeError(f"{command[0]} ended with {ending(process.returncode)}: {(last or ['no output'])[0]}")
        return texts[1], usage.ru_utime + usage.ru_stime


def ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def certificate(folder: Path) -> dict[str, str]:
    """Creates a self-signed certificate; returns the environment variables of a server that uses it."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN=localhost"
    extensions = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]
    run([*words.split(), *extensions, "-out", str(cert), "-keyout", str(key)])
    return {"RPCBENCH_TLS_CERT": str(cert), "RPCBENCH_TLS_KEY": str(key)}


@contextmanager
def server(command: list[str], cpu: int, logs: Path, settings: dict[str, str]) -> Iterator[str]:
    """Runs a server on one CPU until the block ends. Yields its address once it accepts connections, or fails after ten seconds."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    environment = os.environ | {"RPCBENCH_HOST": "127.0.0.1", "RPCBENCH_PORT": str(port), "RPCBENCH_CPUS": "1"} | settings
    log = logs / f"{port}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=lambda: os.sched_setaffinity(0, {cpu}),
        )
    try:
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                if process.poll() is not None:
                    last = log.read_text().strip().splitlines() or ["no output"]
                    raise RuntimeError(f"{command[0]} ended with {ending(process.returncode)}: {last[-1]}") from None
                time.sleep(0.01)
        else:
            raise RuntimeError(f"{command[0]} accepts no connections on {address}")
        yield address
    finally:
        process.kill()
        process.wait()


def cpus() -> tuple[int, int]:
    """A CPU for load generators and one for servers, on different cores if possible. As in `rpcbench run`, the server has the last
    core, since the first CPU takes most interrupts."""
    allowed = sorted(os.sched_getaffinity(0))
    cores = [Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list").read_text() for cpu in allowed]
    server = allowed[cores.index(cores[-1])]
    others = [cpu for cpu, core in zip(allowed, cores) if core != cores[-1]] + [cpu for cpu in allowed if cpu != server]
    return (others or [server])[0], server
