"""make bench-programs: whole programs by ltensor (times.lua) and by PyTorch (programs.py), eager and compiled, as a Markdown table.

Inductor compiles first; then rounds of the two alternate, and the best of each counts. Both have as many threads. ROWS: a pattern; only
programs with such names. DEVICE: where they run (cpu).

  beside.py LTENSOR [--threads 2] [--rounds 3] [--plain]
"""

import argparse
import math
import os
import platform
import re
import subprocess
import time

os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")  # the first call compiles

import torch  # noqa: E402
from programs import DEVICE, PROGRAMS  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("ltensor")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--plain", action="store_true", help="leave Inductor out, which takes minutes to compile them")
options = parser.parse_args()

SECONDS, LEAST = 0.3, 5  # that the steps of a measurement take together, and how many they are at least
torch.set_num_threads(options.threads)
names = [name for name in PROGRAMS if re.search(os.environ.get("ROWS", ""), name)]


def milliseconds(function):
    start = time.perf_counter()
    function()
    if DEVICE != "cpu":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def best(step):
    times = []
    while sum(times) < SECONDS * 1e3 or len(times) < LEAST:
        times.append(milliseconds(step))
    return min(times)


def made(name, compiler):
    torch.manual_seed(0)
    return PROGRAMS[name](compiler)


def better(figures, name, values):
    figures[name] = [min(a, b) for a, b in zip(figures[name], values)] if name in figures else values


compilers = (lambda f: f,) if options.plain else (torch.compile, lambda f: f)
steps = {name: [made(name, compiler) for compiler in compilers] for name in names}
first = {name: milliseconds(steps[name][0]) for name in names}
theirs, ours = {}, {}
here = os.path.dirname(os.path.abspath(__file__))
environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
for _ in range(options.rounds):
    for name in names:
        better(theirs, name, [best(step) for step in steps[name]])
    command = [options.ltensor, os.path.join(here, "times.lua")]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in output.splitlines():
        name, *values = line.split("\t")
        better(ours, name, [float(value) for value in values])

place = f"{options.threads} threads" if DEVICE == "cpu" else torch.cuda.get_device_name()
print(f"{platform.machine()}, {place}, PyTorch {torch.__version__}; milliseconds of a step, the best of {options.rounds} rounds")
print("that alternate. First: until the first compiled step has ended, with what is compiled for it.\n")
columns = ["program", "ltensor, eager", "compiled", "first", "PyTorch, eager", "Inductor", "first", "eager's share", "compiled's share of Inductor's"]
if options.plain:
    columns[5:] = ["eager's share", "compiled's share"]
print("| " + " | ".join(columns) + " |")
print("|---|" + "---:|" * (len(columns) - 1))
shares = []
for name in names:
    (start, quick, eager), other, plain = ours[name], theirs[name][0], theirs[name][-1]
    shares.append((eager / plain, quick / other))
    compiled = "" if options.plain else f"{other:.3g} | {first[name]:.0f} | "
    print(f"| {name} | {eager:.3g} | {quick:.3g} | {start:.3g} | {plain:.3g} | {compiled}{shares[-1][0]:.2f} | {shares[-1][1]:.2f} |")
means = [math.exp(sum(map(math.log, column)) / len(column)) for column in zip(*shares)]
print(f"\nGeometric means of the shares: {means[0]:.2f} of eager PyTorch's time, {means[1]:.2f} " + ("compiled." if options.plain else "of Inductor's."))
