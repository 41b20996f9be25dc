"""Elementwise functions: the rest of exponentials, trigonometry, rounding, logic, bits, clamping and blending, and
the activations that are one curve each: dtypes, layouts, special values, gradients, errors."""

import operator

import torch
import torch.nn.functional as F

from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN, Arg, Group, positive, values

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, INF, -INF, NAN, 1e-30, 3e30, 100.0, -100.0, 7.0, 1e-3, -0.3, 2.0, 1.5, -0.5]
EDGES = [-4.0, -1.0, 0.0, 1.0, 3.0, 25.0, 50.0, -50.0, INF, -INF, NAN]
# where the arguments lie, and how much looser than usual the comparison is
SMOOTH = {"exp2": (-4, 4, 4), "expm1": (-2, 2, 4), "log1p": (-0.9, 5, 4), "log2": (0.1, 9, 4), "log10": (0.1, 9, 4), "rsqrt": (0.1, 9, 2),
          "reciprocal": (0.2, 5, 1), "sin": (-5, 5, 4), "cos": (-5, 5, 4), "tan": (-1.4, 1.4, 8), "asin": (-0.95, 0.95, 4), "acos": (-0.95, 0.95, 4),
          "atan": (-5, 5, 4), "sinh": (-3, 3, 4), "cosh": (-3, 3, 4), "erf": (-2, 2, 4), "square": (-5, 5, 1)}
STEPS = ["sign", "floor", "ceil", "round", "trunc"]
UNSIGNED_ONLY_INTEGERS = {"floor", "ceil", "round", "trunc"}


def method(name):
    return lambda t, *rest, **named: getattr(t, name)(*rest, **named)


def numbers(dtype, low, high, *shape):
    if dtype.is_floating_point:
        return values(dtype, *shape, low=low, high=high)
    return positive(dtype, *shape) if dtype is not torch.bool else values(dtype, *shape)


def curve(g, op, low, high, loose, exact, dtypes):
    for dtype in dtypes:
        g.add(op, Arg(numbers(dtype, low, high, 2, 3)), exact=exact, loose=loose)
    for dtype in FLOATS:
        g.add(op, Arg(numbers(dtype, low, high, 30)), exact=exact, via="m", loose=loose)
    for shape in ((), (0,), (2, 0, 3)):
        g.add(op, Arg(numbers(torch.float32, low, high, *shape)), exact=exact, loose=loose)
    x = numbers(torch.float32, low, high, 3, 8)
    x[..., 1::2] = NAN
    g.add(op, Arg(x, "step"), exact=exact, loose=loose)
    g.add(op, Arg(numbers(torch.float64, low, high, 3, 5), "transpose"), exact=exact, loose=loose)
    g.add(op, Arg(numbers(torch.float32, low, high, 3), "expand"), exact=exact, loose=loose)
    for dtype in (torch.float32, torch.float64):
        g.add(op, Arg(torch.tensor(SPECIAL, dtype=dtype)), exact=exact, loose=loose)
        g.add(op, Arg(numbers(dtype, low, high, 2, 5), grad=True), exact=exact, loose=loose)


def unary(g):
    for op, (low, high, loose) in SMOOTH.items():
        curve(g, op, low, high, loose, False, DTYPES if op != "square" else [d for d in DTYPES if d is not torch.bool])
    for op in STEPS:
        curve(g, op, -9, 9, 1, True, [d for d in DTYPES if d is not torch.bool])
    halves = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8388609.0])
    for op in STEPS:
        g.add(op, Arg(halves), exact=True)
        g.add(op, Arg(halves.half()), exact=True)
    g.add("sign", Arg(torch.tensor([True, False])), exact=True)
    g.add("sin", Arg(torch.tensor([1e4, -1e5, 3e6], dtype=torch.float64)), loose=100)
    g.add("cos", Arg(torch.tensor([1e4, -1e5, 3e6], dtype=torch.float64)), loose=100)
    g.add("log1p", Arg(torch.tensor([1e-20, -1e-20, 1e-8, -1.0, -2.0], dtype=torch.float64)), loose=4)
    g.add("expm1", Arg(torch.tensor([1e-20, -1e-20, 1e-8, -800.0, 709.0], dtype=torch.float64)), loose=4)
    for op in ("sin", "expm1", "floor"):
        g.add(op + "_", Arg(values(torch.float32, 5)), run=method(op + "_"), via="m", loose=4)
        g.fails(op + "_", Arg(torch.ones(2).long()) if op != "floor" else Arg(torch.ones(2).bool()), run=method(op + "_"), via="m",
                message="result type Float can't be cast to the desired output type Long" if op != "floor" else "not implemented for 'Bool'")
    for op in ("isnan", "isinf", "isfinite", "logical_not"):
        for dtype in DTYPES:
            g.add(op, Arg(values(dtype, 2, 3)), exact=True)
        for dtype in FLOATS:
            g.add(op, Arg(torch.tensor(SPECIAL, dtype=dtype)), exact=True)
        x = values(torch.float32, 3, 8)
        x[..., 1::2] = NAN
        g.add(op, Arg(x, "step"), exact=True)
        for shape in ((), (0, 2)):
            g.add(op, Arg(values(torch.float32, *shape)), exact=True)


def logic(g):
    names = ("logical_and", "logical_or", "logical_xor")
    for op in names:
        for dtype in DTYPES:
            g.add(op, Arg(values(dtype, 3, 3)), Arg(values(dtype, 3)), exact=True)
        for a, b in ((torch.bool, torch.float32), (torch.int32, torch.float16), (torch.uint8, torch.int8)):
            g.add(op, Arg(values(a, 4)), Arg(values(b, 4)), exact=True, via="m")
        for left, right in (((), ()), ((0,), ()), ((2, 1, 3), (4, 1))):
            g.add(op, Arg(values(torch.float32, *left)), Arg(values(torch.float32, *right)), exact=True)
        g.add(op, Arg(torch.tensor(SPECIAL)), Arg(torch.tensor(SPECIAL).roll(3)), exact=True)
        g.add(op, Arg(values(torch.int64, 3, 4), "transpose"), Arg(values(torch.int64, 4, 6), "step"), exact=True)
        g.fails(op, Arg(torch.ones(2)), Arg(torch.ones(3)), message="The size of tensor a (2) must match the size of tensor b (3)")
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        for dtype in [torch.bool] + INTEGERS:
            g.add(op, Arg(values(dtype, 3, 3)), Arg(values(dtype, 3)), exact=True)
        for a, b in ((torch.bool, torch.int32), (torch.uint8, torch.int8), (torch.int64, torch.int16)):
            g.add(op, Arg(values(a, 4)), Arg(values(b, 4)), exact=True, via="m")
        g.add(op, Arg(values(torch.int32, 4)), 6, exact=True)
        g.add(op, Arg(values(torch.int16, 3, 4), "transpose"), Arg(values(torch.int16, 4, 6), "step"), exact=True)
        for shape in ((), (0, 2)):
            g.add(op, Arg(values(torch.int64, *shape)), Arg(values(torch.int64, *shape)), exact=True)
        g.fails(op, Arg(torch.ones(2)), Arg(torch.ones(2)), message="not implemented for 'Float'")
    for dtype in [torch.bool] + INTEGERS:
        g.add("bitwise_not", Arg(values(dtype, 2, 3)), exact=True)
    g.add("bitwise_not", Arg(values(torch.int32, 3, 4), "transpose"), exact=True)
    g.fails("bitwise_not", Arg(torch.ones(2)), message="not implemented for 'Float'")
    for op in ("bitwise_left_shift", "bitwise_right_shift"):
        for dtype in INTEGERS:
            g.add(op, Arg(values(dtype, 3, 3)), Arg(torch.tensor([0, 1, 5]).to(dtype)), exact=True)
            g.add(op, Arg(values(dtype, 4)), 2, exact=True)
        g.add(op, Arg(torch.tensor([1, -5, 77])), Arg(torch.tensor([63, 62, 3])), exact=True)
        g.add(op, Arg(values(torch.int16, 3, 4), "transpose"), Arg(torch.tensor(1, dtype=torch.int16)), exact=True)


def pairs(g):
    for dtype in DTYPES:
        if dtype is not torch.bool:
            g.add("fmod", Arg(values(dtype, 3, 3)), Arg(positive(dtype, 3)))
            g.add("fmod", Arg(values(dtype, 3)), 2, exact=True)
    for dtype in FLOATS:
        g.add("fmod", Arg(values(dtype, 30)), Arg(values(dtype, 30, low=0.3)), via="m")
    for dtype in (torch.float32, torch.float64):
        g.add("fmod", Arg(values(dtype, 2, 3), grad=True), Arg(positive(dtype, 3), grad=True))
        g.add("fmod", Arg(values(dtype, 2, 3), "transpose", grad=True), 1.5)
    g.add("fmod", Arg(torch.tensor(SPECIAL)), Arg(torch.tensor(SPECIAL).roll(5).clamp(-50, 50)))
    g.add("fmod", Arg(values(torch.int32, 4)), Arg(values(torch.float32, 4, low=1)))
    for shape in ((), (0,)):
        g.add("fmod", Arg(values(torch.float32, *shape)), 2.0)
    for op in ("clamp_min", "clamp_max"):
        for dtype in DTYPES:
            if dtype is not torch.bool:
                g.add(op, Arg(values(dtype, 2, 4)), 1, exact=True)
        g.add(op, Arg(torch.tensor(SPECIAL)), 0.75, exact=True)
        g.add(op, Arg(values(torch.int32, 5)), 1.5, exact=True)
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(values(dtype, 2, 4), "transpose", grad=True), 0.5, exact=True)
            g.add(op, Arg(torch.tensor([-1.0, 0.5, 2.0], dtype=dtype), grad=True), 0.5, exact=True)
        g.add(op + "_", Arg(values(torch.float32, 5)), 0.0, run=method(op + "_"), via="m", exact=True)
    for dtype in FLOATS + INTEGERS:
        g.add("addcmul", Arg(values(dtype, 2, 3)), Arg(positive(dtype, 2, 1)), Arg(positive(dtype, 3)))
        g.add("addcmul", Arg(values(dtype, 3)), Arg(positive(dtype, 3)), Arg(positive(dtype, 3)), value=2)
    for value in (1.5, -1.5, 0.5):
        g.add("addcmul", *[Arg(torch.tensor([3, -2, 5], dtype=torch.int16))] * 3, value=value)
    for dtype in FLOATS:
        g.add("addcdiv", Arg(values(dtype, 2, 3)), Arg(values(dtype, 2, 1)), Arg(positive(dtype, 3)))
        g.add("addcdiv", Arg(values(dtype, 3)), Arg(values(dtype, 3)), Arg(positive(dtype, 3)), value=0.5)
        g.add("lerp", Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)), 0.3)
        g.add("lerp", Arg(values(dtype, 2, 3)), Arg(values(dtype, 2, 3)), Arg(values(dtype, 3, low=0, high=1)))
    for dtype in (torch.float32, torch.float64):
        for op in ("addcmul", "addcdiv"):
            g.add(op, Arg(values(dtype, 2, 3), grad=True), Arg(values(dtype, 2, 1), grad=True), Arg(positive(dtype, 3), grad=True), value=-1.5)
            g.add(op, Arg(values(dtype, 3, 2), "transpose", grad=True), Arg(values(dtype, 2, 6), "step", grad=True), Arg(positive(dtype, 3), grad=True))
            g.add(op + "_", Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)), Arg(positive(dtype, 3)), run=method(op + "_"), via="m", value=0.5)
        g.add("lerp", Arg(values(dtype, 2, 3), grad=True), Arg(values(dtype, 3), grad=True), 0.75)
        g.add("lerp", Arg(values(dtype, 2, 3), grad=True), Arg(values(dtype, 3), grad=True), Arg(values(dtype, 2, 1, low=0, high=1), grad=True))
    for shape in ((), (0, 2)):
        for op in ("addcmul", "addcdiv"):
            g.add(op, *[Arg(positive(torch.float32, *shape)) for _ in range(3)])
    g.fails("addcmul", Arg(torch.ones(2)), Arg(torch.ones(3)), Arg(torch.ones(2)), message="The size of tensor a (2) must match the size of tensor b (3)")
    g.fails("addcdiv", Arg(torch.ones(2).long()), Arg(torch.ones(2).long()), Arg(torch.ones(2).long()), message="Integer division with addcdiv is no longer supported")
    g.fails("lerp", Arg(torch.ones(2)), Arg(torch.ones(2).double()), 0.5, message="for `end` but got dtype")
    g.add("isclose", Arg(torch.tensor(SPECIAL)), Arg(torch.tensor(SPECIAL).add(1e-6)), exact=True)
    g.add("isclose", Arg(torch.tensor(SPECIAL)), Arg(torch.tensor(SPECIAL)), equal_nan=True, exact=True)
    for dtype in DTYPES:
        g.add("isclose", Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)), exact=True)
        g.add("isclose", Arg(values(dtype, 6)), Arg(values(dtype, 6)), atol=1.5, rtol=0.25, exact=True)
        x, y = values(dtype, 2, 3), values(dtype, 2, 3)
        g.add("equal", Arg(x), Arg(x))
        g.add("equal", Arg(x), Arg(y))
        g.add("allclose", Arg(x), Arg(x))
        g.add("allclose", Arg(x), Arg(y))
        g.add("is_nonzero", Arg(values(dtype, 1)), run=torch.is_nonzero)
    g.add("equal", Arg(torch.ones(2, 3)), Arg(torch.ones(3, 2)))
    g.add("equal", Arg(torch.ones(2, 3)), Arg(torch.ones(3, 2), "transpose"))
    g.add("equal", Arg(torch.tensor([NAN])), Arg(torch.tensor([NAN])))
    g.add("equal", Arg(torch.ones(0)), Arg(torch.ones(0)))
    g.add("allclose", Arg(torch.tensor([NAN, 1.0])), Arg(torch.tensor([NAN, 1.0])), equal_nan=True)
    g.add("allclose", Arg(torch.tensor([NAN, 1.0])), Arg(torch.tensor([NAN, 1.0])))
    g.add("allclose", Arg(torch.tensor([1.0, 10.0])), Arg(torch.tensor([1.1, 10.0])), rtol=0.2)
    g.fails("isclose", Arg(torch.ones(2)), Arg(torch.ones(2).double()), message="Float did not match Double")
    g.fails("is_nonzero", Arg(torch.ones(2)), message="Boolean value of Tensor with more than one value is ambiguous")
    g.fails("is_nonzero", Arg(torch.ones(0)), message="Boolean value of Tensor with no values is ambiguous")


def activations(g):
    for op, options in (("gelu", {}), ("gelu", {"approximate": "tanh"}), ("silu", {}), ("softplus", {}), ("softplus", {"beta": 2}),
                        ("softplus", {"beta": 0.5, "threshold": 2}), ("leaky_relu", {}), ("leaky_relu", {"negative_slope": 0.2})):
        run = getattr(F, op)
        for dtype in FLOATS:
            g.add(op, Arg(values(dtype, 2, 5, low=-8, high=8)), run=run, via="F", loose=4, **options)
        for shape in ((), (0, 2)):
            g.add(op, Arg(values(torch.float32, *shape)), run=run, via="F", loose=4, **options)
        g.add(op, Arg(values(torch.float64, 3, 6), "step"), run=run, via="F", loose=4, **options)
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            edges = [x for x in EDGES if op != "gelu" or x != INF]  # PyTorch's gelu(inf) is nan for some dtypes
            g.add(op, Arg(torch.tensor(edges, dtype=dtype)), run=run, via="F", loose=4, **options)
            g.add(op, Arg(values(dtype, 3, 4, low=-5, high=8), grad=True), run=run, via="F", loose=4, **options)
    for dtype in FLOATS + INTEGERS:
        g.add("threshold", Arg(values(dtype, 2, 5)), 1, 7, run=F.threshold, via="F", exact=True)
    for dtype in (torch.float32, torch.float64):
        g.add("threshold", Arg(torch.tensor([-1.0, 0.5, 0.6, NAN, INF], dtype=dtype), grad=True), 0.5, -3.0, run=F.threshold, via="F", exact=True)
        g.add("threshold", Arg(values(dtype, 3, 4), "transpose", grad=True), 0.1, 20.0, run=F.threshold, via="F", exact=True)
    for training, p in ((False, 0.5), (True, 0.0), (True, 1.0)):
        g.add("dropout", Arg(values(torch.float32, 2, 3), grad=True), p, training, run=F.dropout, via="F", exact=True)
        g.add("dropout", Arg(values(torch.float64, 2, 3)), p=p, training=training, run=F.dropout, via="F", exact=True)
        g.add("dropout", Arg(values(torch.float64, 2, 3), grad=True), p, training, via="f", exact=True)
    g.fails("dropout", Arg(torch.ones(2)), 1.5, run=F.dropout, via="F", message="dropout probability has to be between 0 and 1, but got 1.5")
    g.fails("gelu", Arg(torch.ones(2)), approximate="sine", run=F.gelu, via="F", message="approximate argument must be either none or tanh.")
    for op in ("silu", "softplus", "gelu"):
        g.fails(op, Arg(torch.ones(2).long()), run=getattr(F, op), via="F", message="not implemented for 'Long'")


def write(path):
    g = Group()
    for part in (unary, logic, pairs, activations):
        part(g)
    return g.write(path, "Elementwise functions, logic, bits, activations.")
