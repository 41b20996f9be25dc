"""measure(name, f): the median time of a call of f, after warm ones, as a line name TAB us TAB value, as measure.lua's."""

import os
import re
import time

import torch

SAMPLES, SECONDS = 3, float(os.environ.get("SECONDS", "0.03"))
WARM, WARM_SECONDS = 24, 0.25  # calls before the first sample, if they take no longer
ONLY = os.environ.get("ROWS")

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
torch.manual_seed(0)


def measure(name, f):
    if ONLY and not re.search(ONLY, name):
        return

    def run(n):
        start = time.perf_counter()
        for _ in range(n):
            f()
        return time.perf_counter() - start

    begin, calls = time.perf_counter(), 0
    while calls < WARM and time.perf_counter() - begin <= WARM_SECONDS:
        f()
        calls += 1
    n = 1
    while True:
        took = run(n)
        if took > SECONDS / 4:
            break
        n *= 2
    n = max(1, int(n * SECONDS / took))
    samples = sorted(run(n) / n for _ in range(SAMPLES))
    print(f"{name}\tus\t{samples[SAMPLES // 2] * 1e6:.6g}", flush=True)
