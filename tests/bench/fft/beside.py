"""make bench-fft: Fourier transforms beside PyTorch's, a Markdown table of ratios. Rounds of the two alternate, and the best of each
counts: a machine that has other work disturbs both. Usage: beside.py LTENSOR THREADS LINES"""

import os
import subprocess
import sys
import time

import torch

LENGTHS = [2, 3, 7, 16, 31, 64, 100, 127, 256, 1000, 1009, 1024, 4096, 4099, 10007, 16384, 65536, 65537, 100003, 131072, 177147, 262144,
           524288, 1000000, 1000003, 1048576, 2097152, 2097143, 4194304, 4194301]
MOST = 1 << 23  # elements of all lines
COLUMNS = [(kind, dtype) for dtype in ("float32", "float64") for kind in ("fft", "rfft", "irfft")]


def tensor(kind, dtype, n, lines):
    x = torch.randn(lines, n, dtype=getattr(torch, dtype))
    if kind == "fft":
        return torch.complex(x, x.flip(1))
    return torch.fft.rfft(x) if kind == "irfft" else x


def seconds(transform, x, n, repetitions):
    transform(x, n)
    start = time.perf_counter()
    for _ in range(repetitions):
        transform(x, n)
    return (time.perf_counter() - start) / repetitions


def main(ltensor, threads, lines):
    torch.set_num_threads(threads)
    here = os.path.dirname(os.path.abspath(__file__))
    ours = subprocess.Popen([ltensor, os.path.join(here, "lines.lua"), str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(*words):
        ours.stdin.write(" ".join(map(str, words)) + "\n")
        ours.stdin.flush()
        return float(ours.stdout.readline())

    print(f"{lines} lines, {threads} threads; microseconds of ltensor, and the ratio to PyTorch's. Load before: {os.getloadavg()[0]:.1f}\n")
    print("| length | " + " | ".join(f"{kind} {dtype}" for kind, dtype in COLUMNS) + " |")
    print("|---:|" + "---:|" * len(COLUMNS))
    for n in LENGTHS:
        if n * lines > MOST:
            continue
        row = []
        for kind, dtype in COLUMNS:
            x, transform = tensor(kind, dtype, n, lines), getattr(torch.fft, kind)
            once = min(seconds(transform, x, n, 1) for _ in range(2))
            repetitions, rounds = max(1, int(0.002 / once)), 40 if once < 0.002 else 8 if once < 0.1 else 3
            mine, other = [], []
            for _ in range(rounds):
                mine.append(ask(kind, dtype, n, lines, repetitions))
                other.append(seconds(transform, x, n, repetitions))
            row.append(f"{min(mine) * 1e6:.1f} ({min(mine) / min(other):.2f})")
        print(f"| {n} | " + " | ".join(row) + " |", flush=True)
    print(f"\nLoad after: {os.getloadavg()[0]:.1f}")
    ours.stdin.close()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
