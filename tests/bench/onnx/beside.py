"""ONNX models beside onnxruntime: a Markdown table of milliseconds of a call, of loading, and of megabytes.

    beside.py LTENSOR THREADS MODEL.onnx ...

Each has a process of its own; their calls alternate, and the median counts. The other one stands still meanwhile: its threads would go on
looking for work for some milliseconds. Inputs are random; sizes that a model leaves open are 1, or what NAME=8x3x24x24
after the models says. Silero's are known: `sr` is 16000. Needs numpy and onnxruntime."""

import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy


def serve(path, threads, inputs):
    """onnxruntime's twin of model.lua."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = int(threads), 1
    options.log_severity_level = 3
    feed = dict(numpy.load(inputs))
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    print((time.perf_counter() - start) * 1e3, flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            session.run(None, feed)
            times.append((time.perf_counter() - start) * 1e3)
        print(*times, flush=True)
    print(float(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) / 1024)


def inputs_of(path, sizes):
    import onnxruntime

    generator, feed = numpy.random.default_rng(0), {}
    dtypes = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(float16)": numpy.float16}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    for entry in onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).get_inputs():
        shape = sizes.get(entry.name) or [n if isinstance(n, int) else 1 for n in entry.shape]
        dtype = dtypes[entry.type]
        feed[entry.name] = generator.standard_normal(shape).astype(dtype) if dtype != numpy.int64 else generator.integers(0, 10, shape)
        if entry.name == "sr":
            feed[entry.name] = numpy.array(16000)
    return feed


class Child:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.load = float(self.process.stdout.readline())
        self.times = []
        self.process.send_signal(signal.SIGSTOP)

    def run(self, n, counts=True):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        times = [float(word) for word in self.process.stdout.readline().split()]
        self.process.send_signal(signal.SIGSTOP)
        if counts:
            self.times += times
        return min(times)

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        memory = float(self.process.stdout.readline())
        self.process.wait()
        return memory


def main(ltensor, threads, *arguments):
    sizes = {name: [int(n) for n in text.split("x")] for name, text in (word.split("=") for word in arguments if "=" in word)}
    here, ratios = os.path.dirname(os.path.abspath(__file__)), []
    print(f"{threads} threads. Load before: {os.getloadavg()[0]:.1f}\n")
    print("| model | ms | of onnxruntime | ratio | loading | of onnxruntime | MB | of onnxruntime |\n|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in (word for word in arguments if "=" not in word):
            inputs = os.path.join(folder, "inputs.npz")
            numpy.savez(inputs, **inputs_of(path, sizes))
            commands = ((ltensor, "--disable-cuda", os.path.join(here, "model.lua"), path, threads, inputs),
                        (sys.executable, __file__, "serve", path, threads, inputs))
            loads = [[], []]
            for attempt in range(3):
                children = [Child(*command) for command in commands]
                for list_, child in zip(loads, children):
                    list_.append(child.load)
                if attempt < 2:
                    for child in children:
                        child.end()
            once = max(child.run(3, False) for child in children)
            n, rounds = max(1, int(20 / once)), 12 if once < 50 else 6
            for _ in range(rounds):
                for child in children:
                    child.run(n)
            mine, other = (statistics.median(child.times) for child in children)
            memories = [child.end() for child in children]
            ratios.append(mine / other)
            print(f"| {os.path.basename(path)} | {mine:.3f} | {other:.3f} | {mine / other:.2f} | {min(loads[0]):.1f} | {min(loads[1]):.1f} | {memories[0]:.0f} | {memories[1]:.0f} |", flush=True)
    print(f"\nGeometric mean of the ratios: {math.exp(statistics.mean(map(math.log, ratios))):.2f}. Load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    (serve if sys.argv[1] == "serve" else main)(*sys.argv[2 if sys.argv[1] == "serve" else 1 :])
