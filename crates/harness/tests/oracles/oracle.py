"""Collects garbage a known number of times, and prints the window and CPython's own count of each generation's collections."""

import gc
import time

from runtime_log import log_collections

log_collections()
before = [generation["collections"] for generation in gc.get_stats()]
start = time.monotonic_ns()
kept = [[i] for i in range(100_000)]
for generation in (0, 0, 1, 2, 2):
    gc.collect(generation)
end = time.monotonic_ns()
after = [generation["collections"] for generation in gc.get_stats()]
print("window", start, end)
for generation, (old, new) in enumerate(zip(before, after, strict=True)):
    print(f"generation-{generation}", new - old)
