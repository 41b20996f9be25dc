"""measure(name, f): the median time of a call of f, after warm ones, as a line name TAB us TAB value, as measure.lua's."""

import os
import re
import time

import torch

SAMPLES, WARM, SECONDS = 3, 8, float(os.environ.get("SECONDS", "0.03"))
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

    run(WARM)
    n = 1
    while True:
        took = run(n)
        if took > SECONDS / 4:
            break
        n *= 2
    n = max(1, int(n * SECONDS / took))
    samples = sorted(run(n) / n for _ in range(SAMPLES))
    print(f"{name}\tus\t{samples[SAMPLES // 2] * 1e6:.6g}", flush=True)
