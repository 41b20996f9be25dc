"""measure(name, f): the time of a call of f, the least of some samples, after warm ones, as a line name TAB us TAB value, as measure.lua's; in turns with it
where TURN_FROM and TURN_TO name pipes."""

import os
import re
import time

import torch

SAMPLES, SECONDS = 5, float(os.environ.get("SAMPLE", "0.03"))
WARM, WARM_SECONDS = 24, 0.25  # calls before the first sample, if they take no longer
REST = 0.01  # seconds after which the other's threads no longer look for work
ONLY = os.environ.get("ROWS")

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
torch.manual_seed(0)

turns = None
if "TURN_FROM" in os.environ:  # in the other's order, as opening waits for it
    to = os.open(os.environ["TURN_TO"], os.O_WRONLY)
    turns = os.open(os.environ["TURN_FROM"], os.O_RDONLY), to
    os.write(to, b".")  # ltensor's is the first


def in_turn(f):
    global turns
    if turns and not os.read(turns[0], 1):
        turns = None
    if not turns:
        return f()
    begin = time.perf_counter()
    while time.perf_counter() - begin < REST:
        pass
    result = f()
    try:
        os.write(turns[1], b".")
    except BrokenPipeError:
        turns = None
    return result


def measure(name, f):
    if ONLY and not re.search(ONLY, name):
        return

    def run(n):
        start = time.perf_counter()
        for _ in range(n):
            f()
        return time.perf_counter() - start

    def calls_of_sample():
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
        return max(1, int(n * SECONDS / took))

    n = in_turn(calls_of_sample)

    def sample():
        f()
        return run(n) / n

    print(f"{name}\tus\t{min(in_turn(sample) for _ in range(SAMPLES)) * 1e6:.6g}", flush=True)
