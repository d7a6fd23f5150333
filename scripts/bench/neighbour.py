"""A noisy neighbour on demand: copies blocks within 128 MiB at random, in bursts of 0.2 to 2.2 s with pauses of the same length.

It competes for cache and memory bandwidth with the servers' CPUs, as other virtual machines do. Run it on a CPU that servers don't
use: taskset -c 0 nice -n 10 python3 scripts/bench/neighbour.py 360
"""

import argparse
import random
import time

MEMORY = 128 << 20
BLOCK = 64 << 10
# Copies between readings of the clock: a few milliseconds.
COPIES = 256


def copy_until(end: float, memory: memoryview, rng: random.Random) -> None:
    blocks = MEMORY // BLOCK
    while time.monotonic() < end:
        for _ in range(COPIES):
            source, target = rng.randrange(blocks) * BLOCK, rng.randrange(blocks) * BLOCK
            memory[target : target + BLOCK] = memory[source : source + BLOCK]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float)
    end = time.monotonic() + parser.parse_args().seconds
    rng = random.Random(7)
    memory = memoryview(bytearray(rng.randbytes(1 << 20) * (MEMORY >> 20)))
    while time.monotonic() < end:
        copy_until(min(end, time.monotonic() + rng.uniform(0.2, 2.2)), memory, rng)
        time.sleep(max(0.0, min(end - time.monotonic(), rng.uniform(0.2, 2.2))))


if __name__ == "__main__":
    main()
