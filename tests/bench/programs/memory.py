"""make bench-memory: the memory that steps of training need by ltensor (memory.lua) and by PyTorch (programs.py), eager and compiled, as a
Markdown table. Each is a process of its own. ROWS: a pattern; only programs with such names.

  memory.py LTENSOR [--threads 2]

Tensors: the most bytes that they held at once, by ltensor's count (in blocks as large as they are) and by PyTorch's profiler (in elements).
Above: less what they hold between two steps, which is parameters, their gradients, the optimizer's state and the data. Process: the most memory that it
had of the system above what it had before the program was made, files left out; what libraries need for themselves is among it.
"""

import argparse
import os
import platform
import re
import subprocess
import sys

STEPS = 8
PROGRAMS = ["LeNet, training, 64 images", "ResNet-18, training, 8 of 3x96x96", "GPT, training, 16 x 64"]
HERE = os.path.dirname(os.path.abspath(__file__))


def status():
    with open("/proc/self/status") as lines:
        pairs = (line.split() for line in lines)
        return {pair[0][:-1]: int(pair[1]) * 1024 for pair in pairs if len(pair) == 3 and pair[2] == "kB"}


def steps_of(name, compiled):
    import torch
    from programs import PROGRAMS

    torch.manual_seed(0)
    step = PROGRAMS[name](torch.compile if compiled else lambda f: f)
    return step, lambda: [step() for _ in range(STEPS)]


def tensors(name, compiled):
    """The most bytes of tensors at once, and those at the end."""
    from torch.profiler import ProfilerActivity, profile

    if compiled:
        steps_of(name, compiled)[1]()  # what compiling takes does not count
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        step, run = steps_of(name, compiled)
        run()
    live = most = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            most = max(most, live)
    return most, live


def process(name, compiled):
    before = status()["RssAnon"]
    steps_of(name, compiled)[1]()
    end = status()
    return end["VmHWM"] - end["RssFile"] - end["RssShmem"] - before


def child(name, compiled, what):
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if what == "tensors":
        print(*tensors(name, compiled), sep="\t")
    else:
        print(process(name, compiled))


def numbers(*command):
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    return [int(word) for word in output.splitlines()[-1].split("\t")]


def ours(ltensor, name, way):
    most, stays, resident = numbers(ltensor, os.path.join(HERE, "memory.lua"), name, way)
    return most, most - stays, resident


def theirs(name, way):
    most, stays = numbers(sys.executable, __file__, "--child", name, way, "tensors")
    # The compiler's own memory would be most of the process's.
    resident = numbers(sys.executable, __file__, "--child", name, way, "process")[0] if way == "eager" else None
    return most, most - stays, resident


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ltensor")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    import torch

    print(f"{platform.machine()}, {options.threads} threads, PyTorch {torch.__version__}; megabytes, the most during {STEPS} steps.\n")
    print("| program | | ltensor: tensors | above | process | PyTorch: tensors | above | process | shares |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in PROGRAMS:
        if not re.search(os.environ.get("ROWS", ""), name):
            continue
        for way in ("eager", "compiled"):
            a, b = ours(options.ltensor, name, way), theirs(name, way)
            cells = [f"{x / 1e6:.1f}" if x is not None else "" for x in a + b]
            shares = " ".join(f"{x / y:.2f}" if y is not None else "–" for x, y in zip(a, b))
            print(f"| {name} | {way} | " + " | ".join(cells) + f" | {shares} |", flush=True)


if sys.argv[1:2] == ["--child"]:
    child(sys.argv[2], sys.argv[3] == "compiled", sys.argv[4])
else:
    main()
