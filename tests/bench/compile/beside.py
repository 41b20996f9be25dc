"""make bench-compile: chains of ops compiled by ltensor (chains.lua) and by PyTorch's Inductor, as a Markdown table.

Inductor compiles first; then, chain by chain, the two programs' calls alternate, a few at a time, and the best of each counts. Both have as many threads. Where
arrays lie differs from process to process and is worth twofold: so there are some processes of either, one after the other, and the median of their bests
counts. First calls are those of the first, in which Inductor compiles; the others of PyTorch's find in a cache what it made.

DEVICE: where they run (cpu). ROWS: a pattern; only chains with such names.

  beside.py LTENSOR [--elements 4000000] [--threads 2] [--rounds 5] [--processes 5]
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("ltensor")
parser.add_argument("--elements", type=int, default=4000000)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--processes", type=int, default=5)
parser.add_argument("--one", action="store_true", help="the measurements of one process as JSON: what there are some of")
options = parser.parse_args()

CALLS = 15  # of each function in a round
DEVICE = os.environ.get("DEVICE", "cpu")
torch.set_num_threads(options.threads)
torch.manual_seed(1)
torch.set_default_device(DEVICE)  # until there are the operands: it costs each call time
x, y = torch.randn(options.elements), torch.randn(options.elements)
rows, more = torch.randn(options.elements // 1000, 1000), torch.randn(options.elements // 1000, 1000)
bias, half = torch.randn(1000), x.bfloat16()
torch.set_default_device(None)

CHAINS = {
    "gelu by tanh": lambda: 0.5 * x * (1 + torch.tanh(0.798 * (x + 0.045 * x**3))),
    "gelu by erf": lambda: 0.5 * x * (1 + torch.erf(x * 0.70710678)),
    "swish": lambda: torch.sigmoid(x * 2) * x,
    "relu of a line": lambda: torch.relu(x * 1.5 + 0.5),
    "three sums": lambda: x + y + x * y,
    "clamped": lambda: (x * 2 - y).clamp(-1, 1),
    "mish": lambda: x * torch.tanh(torch.log1p(torch.exp(x))),
    "chosen": lambda: torch.where(x > 0, x * 2, y * 3),
    "length": lambda: torch.sqrt(x * x + y * y),
    "polynomial": lambda: ((x * 0.1 + 0.2) * x + 0.3) * x + 0.4,
    "bias and relu of rows": lambda: torch.relu(rows + bias),
    "exponential": lambda: torch.exp(-x * x),
    "bfloat16": lambda: half * 2 + 1,
    "mean of squares": lambda: ((x - 0.5) ** 2).mean(),
    "sum of gelu": lambda: (0.5 * x * (1 + torch.tanh(0.798 * (x + 0.045 * x**3)))).sum(),
    "sum of exponentials": lambda: torch.exp(x - 1).sum(),
    "largest distance": lambda: (x - y).abs().amax(),
    "norm of a difference": lambda: (x - y).norm(),
    "sums of rows": lambda: (rows * 2 + 1).abs().sum(1),
    "logsumexp of rows": lambda: (rows * 0.5).logsumexp(1),
    "masked softmax of rows": lambda: (rows * 0.125 + bias).softmax(-1),
    "log_softmax of rows": lambda: (rows * 0.5).log_softmax(-1),
    "layer_norm of a sum": lambda: F.layer_norm(rows + more, (1000,)),
    "rms_norm of a sum": lambda: F.rms_norm(rows + more, (1000,), bias),
}
CHAINS = {name: chain for name, chain in CHAINS.items() if re.search(os.environ.get("ROWS", ""), name)}


def milliseconds(function, calls):
    """Of a call; on a GPU of one among several that wait in its queue, as those of a program do."""
    wait = torch.cuda.synchronize if DEVICE != "cpu" else lambda: None
    wait()
    start = time.perf_counter()
    for _ in range(calls):
        function()
    wait()
    return (time.perf_counter() - start) * 1e3 / calls


def better(best, name, values):
    best[name] = [min(a, b) for a, b in zip(best[name], values)] if name in best else values


def measure():
    """Of each chain the milliseconds of the first call, the best compiled one and the best eager one, of PyTorch's and of ours."""
    compiled = {name: torch.compile(chain) for name, chain in CHAINS.items()}
    first = {name: milliseconds(function, 1) for name, function in compiled.items()}
    theirs, ours = {}, {}
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    here = os.path.dirname(os.path.abspath(__file__))
    command = [options.ltensor, os.path.join(here, "chains.lua"), str(options.elements), str(CALLS)]
    ltensor = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for name, chain in CHAINS.items():
        for _ in range(options.rounds):
            times = [min(milliseconds(f, 1 if DEVICE == "cpu" else 20) for _ in range(CALLS)) for f in (compiled[name], chain)]
            better(theirs, name, [first[name], *times])
            print(name, file=ltensor.stdin, flush=True)
            better(ours, name, [float(value) for value in ltensor.stdout.readline().split("\t")])
    ltensor.stdin.close()
    if ltensor.wait() != 0:
        raise SystemExit("beside.py: ltensor failed")
    return [theirs, ours]


if options.one:
    print(json.dumps(measure()))
    raise SystemExit

processes = []
with tempfile.TemporaryDirectory() as cache:  # a new one: in the first process the first call compiles
    for _ in range(options.processes):
        command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--one"]
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=cache)
        processes.append(json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout))


def median(whose, name, which):
    return statistics.median(one[whose][name][which] for one in processes)


place = f"{options.threads} threads" if DEVICE == "cpu" else torch.cuda.get_device_name()
print(f"{platform.machine()}, {place}, {options.elements} elements, PyTorch {torch.__version__}; milliseconds,")
print(f"the best of {options.rounds} rounds that alternate, the median of {options.processes} processes. First: the first call, with what is compiled for it.\n")
print("| chain | ltensor, eager | compiled | first | PyTorch, eager | Inductor | first | ltensor's share of Inductor's time |")
print("|---|---:|---:|---:|---:|---:|---:|---:|")
product = 1.0
for name in CHAINS:
    (inductor, plain), (best, eager) = ((median(whose, name, 1), median(whose, name, 2)) for whose in (0, 1))
    longest, start = (times[name][0] for times in processes[0])
    product *= best / inductor
    print(f"| {name} | {eager:.3g} | {best:.3g} | {start:.1f} | {plain:.3g} | {inductor:.3g} | {longest:.0f} | {best / inductor:.2f} |")
print(f"\nGeometric mean of the shares: {product ** (1 / len(CHAINS)):.2f}.")
