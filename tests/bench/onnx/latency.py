"""The latency of lt_model_run beside onnxruntime: a Markdown table of microseconds of a call.

    latency.py BUILD THREADS MODEL.onnx ... [NAME=8x3x24x24 ...]

Both run in this process, in alternating rounds, with inputs and outputs that exist before the call: lt_model_run by ctypes, onnxruntime by
run_with_iobinding without its Python wrapper. The median of all calls counts. Inputs are as in beside.py. Needs numpy and onnxruntime."""

import ctypes
import math
import os
import statistics
import sys
import time

import numpy
import onnxruntime

from beside import inputs_of


class Ltensor:
    def __init__(self, build, threads):
        self.lib = ctypes.CDLL(os.path.join(build, "libltensor_lua.so"))
        self.lib.lt_error_message.restype = ctypes.c_char_p
        self.lib.lt_model_interpreted.restype = ctypes.c_char_p
        self.lib.lt_tensor_data.restype = ctypes.c_void_p
        self.lib.lt_dtype_from_name.argtypes = [ctypes.c_char_p]
        self.check(self.lib.lt_set_num_threads(threads))
        self.lib.lt_set_grad_enabled(False)

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.lt_error_message().decode())

    def tensor(self, array):
        """A tensor over the elements of an array."""
        sizes, result = (ctypes.c_int64 * array.ndim)(*array.shape), ctypes.c_void_p()
        dtype = self.lib.lt_dtype_from_name(str(array.dtype).encode())
        self.check(self.lib.lt_tensor_wrap(ctypes.c_void_p(array.ctypes.data), dtype, array.ndim, sizes, None, None, ctypes.byref(result)))
        return result

    def prepare(self, path, inputs, outputs):
        """A function that runs the model of a file into the arrays of outputs."""
        model, n, m = ctypes.c_void_p(), len(inputs), len(outputs)
        self.check(self.lib.lt_model_load(path.encode(), ctypes.byref(model)))
        given = (ctypes.c_void_p * n)(*(self.tensor(array).value for array in inputs))
        made = (ctypes.c_void_p * m)(*(self.tensor(array).value for array in outputs))
        run = self.lib.lt_model_run
        run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
        addresses = ctypes.addressof(given), ctypes.addressof(made)

        def call(given=given, made=made):
            if run(model, addresses[0], n, addresses[1], m):
                raise RuntimeError(self.lib.lt_error_message().decode())

        call()
        reason = self.lib.lt_model_interpreted(model)
        return call, reason.decode() if reason else ""


def prepare_onnxruntime(path, threads, feed, outputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in feed.items():
        binding.bind_cpu_input(name, array)
    for entry, array in zip(session.get_outputs(), outputs):
        binding.bind_output(entry.name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    run, inner = session._sess.run_with_iobinding, binding._iobinding
    return lambda: run(inner, None)


def times_of(call, seconds):
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    return times


def main(build, threads, *arguments):
    sizes = {name: [int(n) for n in text.split("x")] for name, text in (word.split("=") for word in arguments if "=" in word)}
    library, ratios = Ltensor(build, int(threads)), []
    print(f"{threads} threads. Load before: {os.getloadavg()[0]:.1f}\n")
    print("| model | µs | of onnxruntime | ratio | difference | note |\n|---|---:|---:|---:|---:|---|", flush=True)
    for path in (word for word in arguments if "=" not in word):
        feed = inputs_of(path, sizes)
        wanted = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feed)
        results = [[numpy.zeros_like(array) for array in wanted] for _ in range(2)]
        mine, reason = library.prepare(path, list(feed.values()), results[0])
        calls = [mine, prepare_onnxruntime(path, int(threads), feed, results[1])]
        times = [[], []]
        for call in calls:
            times_of(call, 0.05)
        for _ in range(20):
            for i, call in enumerate(calls):
                times[i] += times_of(call, 0.05)
        difference = max(float(abs(a.astype(float) - b).max()) for a, b in zip(results[0], wanted) if a.size)
        own, other = (statistics.median(list_) for list_ in times)
        ratios.append(own / other)
        print(f"| {os.path.basename(path)} | {own:.1f} | {other:.1f} | {own / other:.2f} | {difference:.0e} | {reason} |", flush=True)
    print(f"\nGeometric mean of the ratios: {math.exp(statistics.mean(map(math.log, ratios))):.2f}. Load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
