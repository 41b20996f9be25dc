"""Exported networks (models.py) as .pt2 in C (lt_model_run) and Lua and as ONNX in Lua, beside eager PyTorch and ONNX Runtime: Markdown tables of
milliseconds of a call, and of the growth of the largest memory after loading in MB, with the whole memory in parentheses.

    beside.py BUILD THREADS [--match PATTERN] [--rounds 12] [--folder FOLDER]

Each has a process of its own; their calls alternate, the other processes are stopped meanwhile, and the minimum of all calls counts. With one
thread it is of processor time, otherwise by the clock. --folder keeps the files of the models. Needs numpy, torch, onnx and onnxruntime, and
torchvision for four of the networks."""
import argparse
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))


def memory(name):
    return float(re.search(name + r":\s*(\d+)", open("/proc/self/status").read())[1]) / 1024


def serve(kind, path, threads, inputs, build):
    """The counterpart of model.lua for C, PyTorch and ONNX Runtime."""
    import numpy

    x, result = numpy.load(inputs)["x"], numpy.load(inputs)["y"]
    start = time.perf_counter()
    if kind == "c":
        sys.path.insert(0, os.path.join(HERE, "../onnx"))
        from latency import Ltensor

        call, reason = Ltensor(build, int(threads)).prepare(path, [x], [result])
        if reason:
            raise RuntimeError(reason)
    elif kind == "torch":
        import torch

        import models

        torch.set_num_threads(int(threads))
        torch.inference_mode().__enter__()
        module, x = models.make(path)[0], torch.from_numpy(x)

        def call():
            module(x)
    else:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = int(threads), 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: x}

        def call():
            session.run(None, feed)

    print((time.perf_counter() - start) * 1e3, flush=True)
    loaded = memory("VmRSS")
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            busy, start = time.process_time(), time.perf_counter()
            call()
            times.append(f"{(time.perf_counter() - start) * 1e3},{(time.process_time() - busy) * 1e3}")
        print(*times, flush=True)
    print(f"{memory('VmHWM') - loaded:.1f} ({memory('VmHWM'):.0f})")


class Child:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.clock, self.busy = [], []
        self.process.send_signal(signal.SIGSTOP)

    def run(self, n):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        for word in self.process.stdout.readline().split():
            clock, busy = word.split(",")
            self.clock.append(float(clock))
            self.busy.append(float(busy))
        self.process.send_signal(signal.SIGSTOP)

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        grown = self.process.stdout.readline().strip()
        self.process.wait()
        return grown


def write(name, folder):
    """The files of a model, which are written once: its .pt2, its .onnx and its input."""
    pt2, onnx, inputs = (os.path.join(folder, name + suffix) for suffix in (".pt2", ".onnx", ".npz"))
    if not os.path.exists(inputs):
        import numpy
        import torch

        import models

        module, x = models.make(name)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = module(x)
            torch.export.save(torch.export.export(module, (x,)), pt2)
            torch.onnx.export(module, (x,), onnx, dynamo=False, opset_version=18)
        numpy.savez(inputs, x=x.numpy(), y=y.numpy())
    return pt2, onnx, inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("threads", type=int)
    parser.add_argument("--match", default="")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--folder")
    options = parser.parse_args()
    import models

    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
    print(f"{options.threads} threads. Load before: {os.getloadavg()[0]:.1f}\n")
    print("| network | C | Lua | ONNX in Lua | PyTorch | ONNX Runtime | C / PyTorch | C / ORT | Lua / ORT | ONNX / ORT |\n|---|" + "---:|" * 9, flush=True)
    ratios, threads, memories = ([], [], [], []), str(options.threads), []
    with tempfile.TemporaryDirectory() as temporary:
        for name in models.makers:
            if not re.search(options.match, name):
                continue
            pt2, onnx, inputs = write(name, options.folder or temporary)
            lua = (os.path.join(options.build, "ltensor"), "--disable-cuda", os.path.join(HERE, "model.lua"))
            commands = [(*lua, pt2, threads, inputs), (*lua, onnx, threads, inputs)]
            served = (("c", pt2), ("torch", name), ("onnx", onnx))
            commands += [(sys.executable, __file__, "serve", kind, path, threads, inputs, options.build) for kind, path in served]
            children = [Child(*commands[i]) for i in (2, 0, 1, 3, 4)]
            for child in children:
                child.run(3)
            n = max(2, int(20 / max(min(child.clock) for child in children)))
            for _ in range(options.rounds):
                for child in children:
                    child.run(n)
            times = [min(child.busy if options.threads == 1 else child.clock) for child in children]
            memories.append([name, *[child.end() for child in children][1:]])
            c, program, graph, eager, runtime = times
            pairs = (c / eager, c / runtime, program / runtime, graph / runtime)
            for list_, ratio in zip(ratios, pairs):
                list_.append(ratio)
            print("| " + " | ".join([name, *(f"{x:.3f}" for x in times), *(f"{x:.2f}" for x in pairs)]) + " |", flush=True)
    means = (f"{math.exp(statistics.mean(map(math.log, list_))):.2f}" for list_ in ratios)
    print("| geometric mean | | | | | | " + " | ".join(means) + " |")
    print("\n| MB | Lua | ONNX in Lua | PyTorch | ONNX Runtime |\n|---|" + "---:|" * 4)
    for row in memories:
        print("| " + " | ".join(row) + " |")
    print(f"\nLoad after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
    else:
        main()
