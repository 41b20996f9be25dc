"""Measures the errors of every elementwise function of floating-point numbers and writes docs/accuracy.md.

    python3 tests/accuracy/measure.py [-n COUNT] [-s SEED] [--only NAME,...] [--dtypes float32,...] [--docs FILE]

needs PyTorch, numpy, a C compiler and build/ltensor (or LTENSOR_BIN). float16 and bfloat16: every bit pattern. float32 and
float64: COUNT patterns, half of them drawn among all, half among sizes from 2^-30 to 2^10, and the special values in every
combination. References are computed in long double. An error is the distance from the true value in units of the last
place that the dtype has there; results of another kind (nan, infinity, sign of a zero) are listed with PyTorch's.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
L = numpy.longdouble
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64}
CODES = {"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "bool": "BOOL"}
MANTISSA = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
LEAST = {"float16": -24, "bfloat16": -133, "float32": -149, "float64": -1074}  # exponents of the least subnormal numbers
BITS = {"float16": numpy.uint16, "bfloat16": numpy.uint16, "float32": numpy.uint32, "float64": numpy.uint64}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 6.0, -6.0, 20.0, 89.0, -89.0, 100.0, -100.0, 1e-3,
           float("inf"), float("-inf"), float("nan")]


def library(folder):
    path = os.path.join(folder, "reference.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", path, os.path.join(HERE, "reference.c"), "-lm"], check=True)
    loaded = ctypes.CDLL(path)

    def array(name):
        f = getattr(loaded, "reference_" + name)
        f.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]

        def call(x):
            x = numpy.ascontiguousarray(x)
            out = numpy.empty_like(x)
            f(x.ctypes.data, out.ctypes.data, x.size)
            return out
        return call
    return {name: array(name) for name in "erf erfc erfinv lgamma digamma trigamma".split()}


def references(c):
    """By name: the function in long double, and PyTorch's."""
    np, F = numpy, torch.nn.functional
    pi = L("3.14159265358979323846264338327950288")
    where = np.where

    def sigmoid(x):
        return where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x)))

    def phi(x):  # the normal distribution function
        return c["erfc"](-x / np.sqrt(L(2))) / 2

    def softplus(x):
        return where(x > 0, x, L(0)) + np.log1p(np.exp(-np.abs(x)))

    def gelu_tanh(x):
        return x * sigmoid(2 * np.sqrt(2 / pi) * (x + L(0.044715) * x**3))

    def clamp(x, low, high):
        return where(np.isnan(x), x, np.minimum(np.maximum(x, L(low)), L(high)))

    def by_exp(x, slope, size, rate):
        return where(x > 0, x * slope, size * np.expm1(x * rate))

    selu = L(1.6732632423543772848170429916717), L(1.0507009873554804934193349852946)

    def line(x, below, inside, above, low, high):
        y = where(x <= low, L(below), where(x >= high, L(above), L(inside)))
        return where(np.isnan(x), L("nan"), y)

    def floor_divide(a, b):
        return torch.floor_divide(torch.from_numpy(a.astype(np.float64)), torch.from_numpy(b.astype(np.float64))).numpy().astype(L)

    def remainder(a, b):
        r = np.fmod(a, b)
        return where((r != 0) & ((b < 0) != (r < 0)), r + b, r)

    def logit(x):
        return np.log(x) - np.log1p(-x)

    def heaviside(a, b):
        return where(np.isnan(a), L(0), np.heaviside(a, b))

    def mish(x):
        e = np.exp(np.minimum(x, L(40)))
        odd = e * (e + 2)
        return where(x > 40, x, x * (odd / (odd + 2)))

    unary = {
        "neg": np.negative, "abs": np.abs, "sign": lambda x: where(np.isnan(x), L(0), np.sign(x)), "square": np.square, "reciprocal": lambda x: 1 / x, "exp": np.exp,
        "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2, "log10": np.log10,
        "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
        "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "sigmoid": sigmoid,
        "erf": c["erf"], "relu": lambda x: where(x < 0, L(0), x), "floor": np.floor, "ceil": np.ceil, "round": np.rint,
        "trunc": np.trunc, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erfc": c["erfc"],
        "erfinv": c["erfinv"], "lgamma": c["lgamma"], "digamma": c["digamma"], "logit": logit,
        "frac": lambda x: x - np.trunc(x),
    }
    table = {name: (f, getattr(torch, name)) for name, f in unary.items()}
    table |= {
        "relu6": (lambda x: clamp(x, 0, 6), F.relu6),
        "hardtanh": (lambda x: clamp(x, -1, 1), F.hardtanh),
        "hardsigmoid": (lambda x: clamp(x + 3, 0, 6) / 6, F.hardsigmoid),
        "hardswish": (lambda x: x * clamp(x + 3, 0, 6) / 6, F.hardswish),
        "elu": (lambda x: by_exp(x, 1, 1, 1), F.elu),
        "selu": (lambda x: by_exp(x, selu[1], selu[0] * selu[1], 1), F.selu),
        "celu": (lambda x: by_exp(x, 1, 1, 1), F.celu),
        "leaky_relu": (lambda x: where(x > 0, x, x * L(0.01)), F.leaky_relu),
        "gelu": (lambda x: x * phi(x), F.gelu),
        "gelu_tanh": (gelu_tanh, lambda x: F.gelu(x, approximate="tanh")),
        "silu": (lambda x: x * sigmoid(x), F.silu),
        "mish": (mish, F.mish),
        "softplus": (lambda x: where(x > 20, x, softplus(x)), F.softplus),
        "logsigmoid": (lambda x: -softplus(-x), F.logsigmoid),
        "softsign": (lambda x: x / (1 + np.abs(x)), F.softsign),
        "hardshrink": (lambda x: where(np.abs(x) <= 0.5, L(0), x), F.hardshrink),
        "softshrink": (lambda x: where(np.abs(x) <= 0.5, L(0), x - np.copysign(L(0.5), x)), F.softshrink),
        "clamp": (lambda x: clamp(x, -1.5, 2.25), lambda x: x.clamp(-1.5, 2.25)),
        "clamp_min": (lambda x: clamp(x, -1.5, np.inf), lambda x: x.clamp_min(-1.5)),
        "clamp_max": (lambda x: clamp(x, -np.inf, 2.25), lambda x: x.clamp_max(2.25)),
        "threshold": (lambda x: where(x <= 0.5, L(7), x), lambda x: F.threshold(x, 0.5, 7)),
    }
    for name, exponent in {"2": 2, "3": 3, "half": 0.5, "minus_half": -0.5, "minus_1": -1, "minus_2": -2, "2_5": 2.5}.items():
        table["pow_" + name] = (lambda x, e=exponent: np.power(x, L(e)), lambda x, e=exponent: x**e)

    def gradient(f):
        def call(x):
            leaf = x.detach().clone().requires_grad_()
            y = f(leaf)
            y.backward(torch.full_like(y, 1.5))
            return leaf.grad
        return call

    slopes = {
        "tanh": lambda x: 1 / np.cosh(x) ** 2, "sigmoid": lambda x: sigmoid(x) * sigmoid(-x),
        "relu": lambda x: where(x > 0, L(1), L(0)), "digamma": c["trigamma"],
        "elu": lambda x: where(x > 0, L(1), np.exp(x)), "celu": lambda x: where(x > 0, L(1), np.exp(x)),
        "selu": lambda x: where(x > 0, selu[1], selu[0] * selu[1] * np.exp(x)),
        "silu": lambda x: sigmoid(x) * (1 + x * sigmoid(-x)),
        "gelu": lambda x: phi(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * pi),
        "softplus": lambda x: where(x > 20, L(1), sigmoid(x)), "logsigmoid": lambda x: sigmoid(-x),
        "leaky_relu": lambda x: where(x > 0, L(1), L(0.01)),
    }
    for name, f in slopes.items():
        of = getattr(torch, name) if name in ("tanh", "sigmoid", "relu", "digamma") else getattr(F, name)
        table[name + "_gradient"] = (lambda x, f=f: f(x) * L(1.5), gradient(of))

    binary = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "remainder": remainder,
        "fmod": np.fmod, "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax,
        "fmin": np.fmin, "atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign, "heaviside": heaviside,
        "xlogy": lambda a, b: where(np.isnan(b), b, where(a == 0, L(0), a * np.log(b))),
        "floor_divide": floor_divide,
    }
    table |= {name: (f, getattr(torch, name)) for name, f in binary.items()}
    return table


def patterns(dtype, count, generator):
    bits = BITS[dtype]
    special = numpy.array(SPECIAL)
    special = torch.from_numpy(special).to(DTYPES[dtype])
    limits = torch.finfo(DTYPES[dtype])
    edge = torch.tensor([limits.max, -limits.max, limits.tiny, -limits.tiny], dtype=DTYPES[dtype])
    least = torch.from_numpy(numpy.array([1, 2], dtype=bits).view(numpy.int16 if bits is numpy.uint16 else numpy.int32 if bits is numpy.uint32 else numpy.int64)).view(DTYPES[dtype])
    special = torch.cat([special, edge, least, -least])
    if bits is numpy.uint16:
        every = torch.from_numpy(numpy.arange(65536, dtype=numpy.uint16).view(numpy.int16)).view(DTYPES[dtype])
        return torch.cat([special, every]), special
    integers = numpy.int32 if bits is numpy.uint32 else numpy.int64
    drawn = generator.integers(0, numpy.iinfo(bits).max, count // 2, dtype=bits, endpoint=True).view(integers)
    middle = numpy.exp2(generator.uniform(-30, 10, count - count // 2)) * generator.choice([-1.0, 1.0], count - count // 2)
    return torch.cat([special, torch.from_numpy(drawn).view(DTYPES[dtype]), torch.from_numpy(middle).to(DTYPES[dtype])]), special


def save(path, tensors):
    header, blobs, at = {}, [], 0
    for name, t in tensors.items():
        data = t.contiguous().view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": CODES[str(t.dtype)[6:]], "shape": list(t.shape), "data_offsets": [at, at + len(data)]}
        blobs.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for blob in blobs:
            f.write(blob)


def load(path, name):
    with open(path, "rb") as f:
        size = int.from_bytes(f.read(8), "little")
        entry = json.loads(f.read(size))[name]
        first, last = entry["data_offsets"]
        f.seek(8 + size + first)
        data = bytearray(f.read(last - first))
    dtype = {code: d for d, code in CODES.items()}[entry["dtype"]]
    return torch.frombuffer(data, dtype=getattr(torch, dtype))


def wide(t):
    return t.to(torch.float64).numpy().astype(L)


def errors(got, exact, dtype):
    """In units of the last place; inf where the kinds differ."""
    limit = L(torch.finfo(DTYPES[dtype]).max)
    _, exponent = numpy.frexp(numpy.where(numpy.isfinite(exact), exact, L(1)))
    unit = numpy.ldexp(L(1), numpy.maximum(exponent - MANTISSA[dtype], LEAST[dtype]))
    half = numpy.ldexp(L(1), numpy.frexp(limit)[1] - MANTISSA[dtype] - 1)
    beyond = numpy.abs(exact) >= limit + half
    kind = (numpy.isnan(got) != numpy.isnan(exact)) | (numpy.isinf(got) & (numpy.abs(exact) < limit - 3 * half)) \
        | (beyond & (numpy.abs(got) < limit - 3 * half)) | (numpy.isinf(exact) & ~numpy.isnan(got) & (got != exact)) \
        | (~numpy.isnan(got) & ~numpy.isnan(exact) & (numpy.signbit(got) != numpy.signbit(exact)) & ((exact == 0) | (numpy.abs(got) > unit * 1.5)))
    with numpy.errstate(all="ignore"):
        distance = numpy.abs(got - exact) / unit
    distance = numpy.where(numpy.isfinite(got) & numpy.isfinite(exact) & ~beyond, distance, L(0))
    return numpy.where(kind, L("inf"), distance)


def summary(got, exact, dtype):
    e = errors(wide(got), exact, dtype)
    finite = numpy.isfinite(e)
    worst = int(numpy.argmax(numpy.where(finite, e, L(-1))))
    return float(e[worst]), worst, numpy.nonzero(~finite)[0]


HEAD = """# Accuracy of elementwise functions

The table lists the largest observed error of each elementwise function, in units in the last place
of the result (ulp); correct rounding has at most half a unit. PyTorch's error is in brackets if it
differs. Measured by `tests/accuracy/measure.py` on {machine}
(kernels for {isa}): float16 and bfloat16 over every bit pattern, float32 and float64 over
{count:,} patterns, half of them drawn from all patterns and half with magnitudes from 2^-30 to
2^10, all with the special values in every combination. Half types are computed in float32 and
rounded once.

The result of an element depends only on that element: not on its neighbours, the tensor's length,
its layout or the number of threads. Within the errors below, results depend on the processor: the
kernels for AVX2 and AVX-512 use fused multiply-add, the baseline kernels (`LTENSOR_CPU=baseline`)
round twice. nan, infinities, signed zeros and overflowing results equal the true value or
PyTorch's{kinds}.

Large errors are properties of the formulas, which PyTorch shares: `logit` near 1/2, `lgamma` and
`digamma` near their zeros, `gelu`, `silu`, `sigmoid` and the derivatives where they are almost 0,
and `x ^ -2` where `x ^ 2` overflows.

| function | float16 | bfloat16 | float32 | float64 |
|---|---|---|---|---|
"""


def figure(x):
    return "0" if x == 0 else "%.2f" % x if x < 100 else "%.1e" % x


def write_docs(path, figures, kinds, program, count):
    names = list(dict.fromkeys(name for name, _ in figures))
    with open("/proc/cpuinfo") as f:
        machine = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), "x86-64")
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    isa = next((name for name in ("avx512", "avx2", "baseline") if name in version), "this processor")
    other = "; ".join("`%s` of %s" % (name, dtype) for name, dtype, _ in kinds)
    with open(path, "w") as f:
        f.write(HEAD.format(machine=machine, isa=isa, count=count, kinds=", except for " + other if other else ""))
        for name in names:
            cells = []
            for dtype in DTYPES:
                ours, peers = figures.get((name, dtype), (None, None))
                text = "" if ours is None else figure(ours)
                cells.append(text + (" (%s)" % figure(peers) if ours is not None and figure(peers) != text else ""))
            f.write("| %s | %s |\n" % (name, " | ".join(cells)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=10_000_000)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--docs")
    options = parser.parse_args()
    program = os.environ.get("LTENSOR_BIN", os.path.join(HERE, "../../build/ltensor"))
    numpy.seterr(all="ignore")
    figures, kinds = {}, []
    with tempfile.TemporaryDirectory() as folder:
        table = references(library(folder))
        names = options.only.split(",") if options.only else list(table)
        for dtype in options.dtypes.split(","):
            generator = numpy.random.default_rng(options.s)
            a, special = patterns(dtype, options.n, generator)
            b, _ = patterns(dtype, options.n, generator)
            b = b[torch.from_numpy(generator.permutation(b.numel()))]
            n = special.numel()
            pairs = [torch.cat([special.repeat_interleave(n), a]), torch.cat([special.repeat(n), b])]
            inputs, results = os.path.join(folder, "inputs.safetensors"), os.path.join(folder, "results.safetensors")
            for name in names:
                f, theirs = table[name]
                arity = f.nin if isinstance(f, numpy.ufunc) else f.__code__.co_argcount - len(f.__defaults__ or ())
                chosen = pairs if arity == 2 else [a]
                save(inputs, dict(zip("ab", chosen)))
                subprocess.run([program, os.path.join(HERE, "ours.lua"), inputs, results, name], check=True)
                exact = f(*(wide(t) for t in chosen)).astype(L)
                got = load(results, name)
                peer = theirs(*chosen)
                ours, peers = summary(got, exact, dtype), summary(peer, exact, dtype)
                figures[name, dtype] = ours[0], peers[0]
                line = "%-22s %-9s %10.3g  PyTorch %10.3g" % (name, dtype, ours[0], peers[0])
                worst = ours[1]
                print(line, "  worst at", [float(t[worst]) for t in chosen], float(got[worst]), float(exact[worst]))
                other = ours[2]
                if len(other):
                    print("    %d of another kind, PyTorch %d" % (len(other), len(peers[2])))
                    both = set(peers[2].tolist())
                    other = [i for i in other.tolist() if not (i in both and (float(got[i]) == float(peer[i]) or (got[i].isnan() and peer[i].isnan())))]
                    for i in other[:6]:
                        print("     ", [float(t[i]) for t in chosen], "ours", float(got[i]), "exact", float(exact[i]), "PyTorch", float(peer[i]))
                    kinds += [(name, dtype, len(other))] if other else []
                sys.stdout.flush()
    if options.docs:
        write_docs(options.docs, figures, kinds, program, options.n)
    print("of another kind than both the true value and PyTorch's:", kinds or "none")


if __name__ == "__main__":
    main()
