"""Special functions, elementwise ops that know nan, and activations: dtypes, layouts, special values, gradients."""

import torch
import torch.nn.functional as F

from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN, Arg, Group, positive, values

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, INF, -INF, NAN, 1e-30, 3e30, 100.0, -100.0, 7.0, 1e-3, -0.3, 2.0]
# ranges of the arguments, and how much looser than usual the comparison is
UNARY = {"asinh": (-3, 3, 1), "acosh": (1, 4, 4), "atanh": (-0.95, 0.95, 1), "erfc": (-3, 3, 1), "erfinv": (-0.99, 0.99, 2),
         "lgamma": (0.2, 6, 4), "digamma": (0.2, 6, 4), "frac": (-9, 9, 1), "logit": (0.05, 0.95, 4), "nan_to_num": (-3, 3, 1)}
EXACT = ("frac", "nan_to_num")


def numbers(dtype, low, high, *shape):
    if dtype.is_floating_point:
        return values(dtype, *shape, low=low, high=high)
    return positive(dtype, *shape) if dtype is not torch.bool else values(dtype, *shape)


def unary(g):
    for op, (low, high, loose) in UNARY.items():
        exact = op in EXACT
        for dtype in DTYPES:
            x = numbers(dtype, low, high, 2, 3)
            g.add(op, Arg(x), exact=exact, loose=loose)
        for dtype in FLOATS:
            g.add(op, Arg(numbers(dtype, low, high, 40)), exact=exact, via="m", loose=loose)
        for shape in ((), (0,), (2, 0, 3)):
            g.add(op, Arg(numbers(torch.float32, low, high, *shape)), exact=exact, loose=loose)
        x = numbers(torch.float32, low, high, 3, 8)
        x[..., 1::2] = NAN
        g.add(op, Arg(x, "step"), exact=exact, loose=loose)
        g.add(op, Arg(numbers(torch.float64, low, high, 3, 5), "transpose"), exact=exact, loose=loose)
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(torch.tensor(SPECIAL, dtype=dtype)), exact=exact, loose=loose)
            # PyTorch's trigamma has an error of 1e-9 in double
            g.add(op, Arg(numbers(dtype, low, high, 2, 5), grad=True), loose=1000 if (op, dtype) == ("digamma", torch.float64) else loose)
        if op != "nan_to_num":
            g.add(op + "_", Arg(numbers(torch.float32, low, high, 5)), run=lambda t, op=op: getattr(t, op + "_")(), via="m", exact=exact, loose=loose)
    for op in ("lgamma", "digamma"):
        g.add(op, Arg(torch.tensor([-0.5, -1.3, -2.7, -3.0, 12.5, 40.0, 1e-3], dtype=torch.float64)), loose=20)
        g.add(op, Arg(torch.tensor([0.7, 1.2, 3.4, 11.0, 30.0], dtype=torch.float64), grad=True), loose=1000 if op == "digamma" else 20)
        g.add(op, Arg(torch.tensor([-0.7, -1.2, -3.4], dtype=torch.float64), grad=True), loose=1000 if op == "digamma" else 20)
    g.add("erfinv", Arg(torch.tensor([1e-5, -1e-8, 1e-30, 0.4999, 0.5001, 0.999999, -0.9999999, 1.0, -1.0, 1.5], dtype=torch.float64)), loose=20)
    g.add("erfc", Arg(torch.linspace(-6, 9, 40)), loose=2)
    for eps in (1e-6, 0.2):
        g.add("logit", Arg(torch.tensor([0.0, 0.1, 0.5, 0.9, 1.0, 1.5, -1.0], dtype=torch.float64), grad=True), eps)
        g.add("logit", Arg(torch.tensor([0.0, 0.1, 0.5, 0.9, 1.0])), eps=eps, via="m")
    for dtype in FLOATS:
        g.add("nan_to_num", Arg(torch.tensor([NAN, INF, -INF, 1.5], dtype=dtype)), exact=True)
        g.add("nan_to_num", Arg(torch.tensor([NAN, INF, -INF, 1.5], dtype=dtype)), nan=2.0, posinf=9.0, neginf=-8.0, exact=True)
        g.add("nan_to_num", Arg(torch.tensor([NAN, INF, -INF, 1.5], dtype=dtype)), 3.0, exact=True)


def binary(g):
    shapes = [((), ()), ((4,), ()), ((0,), ()), ((0, 3), (3,)), ((2, 1, 3), (4, 1)), ((2, 3), (2, 3)), ((3, 1), (1, 0))]
    for op in ("atan2", "hypot", "copysign", "heaviside", "fmax", "fmin", "xlogy"):
        exact = op in ("copysign", "heaviside", "fmax", "fmin")
        domain = positive if op == "xlogy" else values
        for left, right in shapes:
            g.add(op, Arg(values(torch.float32, *left)), Arg(domain(torch.float32, *right)), exact=exact)
        for dtype in DTYPES:
            g.add(op, Arg(values(dtype, 3, 3)), Arg(domain(dtype, 3)), exact=exact)
        for dtype in FLOATS:
            g.add(op, Arg(values(dtype, 30)), Arg(domain(dtype, 30)), exact=exact, via="m")
        g.add(op, Arg(values(torch.float64, 3, 4), "transpose"), Arg(domain(torch.float64, 4, 6), "step"), exact=exact)
        if op != "heaviside":
            for a, b in ((torch.int32, torch.float32), (torch.float32, torch.float64), (torch.bool, torch.float16), (torch.uint8, torch.int16)):
                g.add(op, Arg(values(a, 4)), Arg(domain(b, 4)), exact=exact)
            for dtype in (torch.float32, torch.float64):
                g.add(op, Arg(values(dtype, 2, 3), grad=True), Arg(domain(dtype, 3), grad=True))
                g.add(op, Arg(values(dtype, 2, 1), grad=True), Arg(domain(dtype, 1, 3), grad=True))
        s = torch.tensor(SPECIAL)
        for shift in (0, 1, 5, 6):
            other = s.roll(shift)
            if op == "copysign":  # the sign of nan is not the same everywhere
                other = other.nan_to_num(5.0)
            g.add(op, Arg(s), Arg(other), exact=exact)
        if op not in ("fmax", "fmin"):
            g.add(op + "_", Arg(values(torch.float32, 2, 3)), Arg(domain(torch.float32, 3)),
                  run=lambda t, o, op=op: getattr(t, op + "_")(o), via="m", exact=exact)
    g.add("hypot", Arg(torch.tensor([3e30, 1e-30])), Arg(torch.tensor([4e30, 1e-30])))
    g.add("copysign", Arg(values(torch.float32, 3)), -1.0, exact=True)
    g.add("xlogy", Arg(torch.tensor([0.0, 1.0, 2.0]), grad=True), 2.5)
    g.add("xlogy", 2.0, Arg(torch.tensor([0.5, 1.0, 2.0]), grad=True), via="f")
    g.add("xlogy", Arg(torch.tensor([0.0, 0.0, 2.0]), grad=True), Arg(torch.tensor([0.0, NAN, 0.0]), grad=True))
    for op in ("fmax", "fmin"):
        g.add(op, Arg(torch.tensor([1.0, NAN, 2.0, NAN, 3.0]), grad=True), Arg(torch.tensor([NAN, 1.0, 2.0, NAN, 1.0]), grad=True))
    g.fails("heaviside", Arg(torch.ones(2)), Arg(torch.ones(2).double()), message="heaviside is not yet implemented for tensors with different dtypes.")
    g.fails("atan2", Arg(torch.ones(2)), Arg(torch.ones(3)), message="The size of tensor a (2) must match the size of tensor b (3)")


def activations(g):
    edges = [-4.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0, 7.0, 50.0, -50.0, INF, -INF, NAN]
    for op, options in (("relu6", {}), ("hardtanh", {}), ("hardtanh", {"min_val": -0.5, "max_val": 2.0}), ("hardsigmoid", {}),
                        ("hardswish", {}), ("elu", {}), ("elu", {"alpha": 0.5}), ("selu", {}), ("celu", {}), ("celu", {"alpha": 2.0}),
                        ("mish", {})):
        run = getattr(F, op)
        for dtype in FLOATS:
            g.add(op, Arg(values(dtype, 2, 5, low=-8, high=8)), run=run, via="F", **options)
        for shape in ((), (0, 2)):
            g.add(op, Arg(values(torch.float32, *shape)), run=run, via="F", **options)
        g.add(op, Arg(values(torch.float64, 3, 6), "step"), run=run, via="F", **options)
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            # PyTorch divides by 6 with a constant of float
            loose = 1e5 if (op, dtype) == ("hardsigmoid", torch.float64) else 1
            g.add(op, Arg(torch.tensor(edges, dtype=dtype)), run=run, via="F", **options)
            g.add(op, Arg(torch.tensor(edges[:10], dtype=dtype), grad=True), run=run, via="F", loose=loose, **options)
            g.add(op, Arg(values(dtype, 3, 4, low=-5, high=8), grad=True), run=run, via="F", loose=loose, **options)
    for dtype in (torch.int64, torch.int8):
        for op in ("relu6", "hardtanh"):
            g.add(op, Arg(values(dtype, 5)), run=getattr(F, op), via="F")
    g.fails("hardtanh", Arg(torch.ones(2).byte()), run=F.hardtanh, via="F", message="cannot do hardtanh on an unsigned type with negative limits")
    g.fails("elu", Arg(torch.ones(2).long()), run=F.elu, via="F", message="\" not implemented for 'Long'")
    g.fails("hardtanh", Arg(torch.ones(2)), 1.0, -1.0, run=F.hardtanh, via="F", message="min_val cannot be greater than max_val")


def write(path):
    g = Group()
    for part in (unary, binary, activations):
        part(g)
    return g.write(path, "Special functions, elementwise ops that know nan, activations.")
