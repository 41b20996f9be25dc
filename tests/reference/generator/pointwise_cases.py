"""Elementwise ops: dtypes and their promotion, broadcasting, layouts, special values, gradients."""

import operator

import torch

from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN, Arg, Group, positive, values

ARITHMETIC = ["add", "sub", "mul", "div"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
SMOOTH = ["exp", "log", "sqrt", "tanh", "sigmoid", "abs", "neg", "relu"]
OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "^": operator.pow,
}
BIT_OPERATORS = {"&": operator.and_, "|": operator.or_, "~": operator.xor}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, INF, -INF, NAN, 1e-30, 3e30, 100.0, -100.0, 7.0, 1e-3, -0.3, 2.0]


def small(dtype, shape=(3,)):
    """Three elements; kept small so that products fit every dtype."""
    if dtype is torch.bool:
        return torch.tensor([True, False, True])
    if dtype.is_floating_point:
        return torch.tensor([1.5, -2.25, 3.0], dtype=dtype)
    return torch.tensor([1, 2, 5] if dtype is torch.uint8 else [-3, 2, 5]).to(dtype)


def divisor(dtype):
    if dtype is torch.bool:
        return torch.tensor([True, True, True])
    return torch.tensor([2, 3, 4]).to(dtype)


def promotion(g):
    """All pairs of dtypes, by two tensors, a tensor and a 0-d tensor, a tensor and a number."""
    for a in DTYPES:
        for b in DTYPES:
            both_bool = a is torch.bool and b is torch.bool
            g.add("add", Arg(small(a)), Arg(divisor(b)), exact=True)
            g.add("mul", Arg(small(a)), Arg(divisor(b)), exact=True, via="m")
            g.add("div", Arg(small(a)), Arg(divisor(b)), exact=True, via="f")
            g.add("lt", Arg(small(a)), Arg(divisor(b)), exact=True, via="m")
            g.add("maximum", Arg(small(a)), Arg(divisor(b)), exact=True, via="f")
            if torch.bool not in (a, b):
                g.add("sub", Arg(small(a)), Arg(divisor(b)[1]), exact=True, via="m")
            if not both_bool:
                g.add("add", Arg(small(a)[0]), Arg(divisor(b)), exact=True, via="f")
    for a in DTYPES:
        for scalar in (2, 2.5, True):
            exact = {"exact": True}
            g.add("+", Arg(small(a)), scalar, run=operator.add, via="o", **exact)
            g.add("*", scalar, Arg(small(a)), run=operator.mul, via="o", **exact)
            g.add("/", Arg(small(a)), scalar, run=operator.truediv, via="o", **exact)
            g.add("eq", Arg(small(a)), scalar, **exact)
            g.add("ge", Arg(small(a)), scalar, via="m", **exact)
            g.add("mul", Arg(small(a)), scalar, via="m", **exact)
            if a is not torch.bool and scalar is not True:
                g.add("-", scalar, Arg(small(a)), run=operator.sub, via="o", **exact)
                g.add("floor_divide", Arg(small(a)), scalar, **exact)
                g.add("remainder", Arg(small(a)), scalar, **exact)
    for a in DTYPES:
        g.add("+", Arg(small(a)[0]), 2.5, run=operator.add, via="o", exact=True)
        g.add("/", 1, Arg(divisor(a)), run=operator.truediv, via="o", exact=True)


def operators(g):
    for symbol, run in OPERATORS.items():
        for dtype in (torch.int64, torch.float32, torch.float64):
            a = positive(dtype, 2, 3)
            b = positive(dtype, 3)
            exact = symbol != "^"
            g.add(symbol, Arg(a), Arg(b), run=run, via="o", exact=exact)
            g.add(symbol, Arg(a), 2, run=run, via="o", exact=exact)
            g.add(symbol, 2, Arg(a), run=run, via="o", exact=exact)
    for dtype in (torch.int64, torch.float32, torch.float16):
        g.add("neg", Arg(values(dtype, 2, 2)), run=operator.neg, via="o", exact=True)
    for symbol, run in BIT_OPERATORS.items():
        for dtype in (torch.bool, torch.uint8, torch.int64):
            g.add(symbol, Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)), run=run, via="o", exact=True)
    for dtype in (torch.bool, torch.int32):
        g.add("bnot", Arg(values(dtype, 4)), run=operator.invert, via="o", exact=True)
    for dtype in (torch.uint8, torch.int64):
        g.add("<<", Arg(positive(dtype, 4)), 2, run=operator.lshift, via="o", exact=True)
        g.add(">>", Arg(torch.tensor([64, 8, 5, 1]).to(dtype)), 2, run=operator.rshift, via="o", exact=True)


def binary(g):
    shapes = [((), ()), ((4,), ()), ((0,), ()), ((0, 3), (3,)), ((2, 1, 3), (4, 1)), ((2, 3), (2, 3)), ((1,), (5,)), ((3, 1), (1, 0))]
    for op in ARITHMETIC + COMPARISONS + ["maximum", "minimum", "remainder", "floor_divide", "pow"]:
        exact = op not in ("pow",)
        differentiable = op not in COMPARISONS + ["floor_divide", "remainder"]
        for left, right in shapes:
            g.add(op, Arg(positive(torch.float32, *left)), Arg(positive(torch.float32, *right)), exact=exact)
        for la, lb in (("transpose", None), ("step", "step"), (None, "transpose"), ("offset", "transpose")):
            a = {"transpose": (3, 4), "step": (4, 6), None: (4, 3), "offset": (5, 3)}[la]
            b = {"transpose": (3, 4), "step": (4, 6), None: (4, 3)}[lb]
            x, y = positive(torch.float64, *a), positive(torch.float64, *b)
            for t, layout in ((x, la), (y, lb)):
                if layout == "step":
                    t[..., 1::2] = NAN
            g.add(op, Arg(x, la), Arg(y, lb), exact=exact, via="m")
        if differentiable:
            for dtype in (torch.float32, torch.float64):
                g.add(op, Arg(positive(dtype, 2, 3), grad=True), Arg(positive(dtype, 3), grad=True), exact=False)
                g.add(op, Arg(positive(dtype, 2, 1), grad=True), Arg(positive(dtype, 1, 3), grad=True))
            if op != "pow":
                g.add(op, Arg(torch.tensor([1.0, 2.0, 2.0]), grad=True), Arg(torch.tensor([2.0, 2.0, 1.0]), grad=True), via="m")
        s = torch.tensor(SPECIAL)
        if op == "remainder":  # PyTorch's is nan or not, by place, when the quotient overflows
            s[SPECIAL.index(1e-30)] = 1e-3
        for shift in (0, 1, 5, 6):
            g.add(op, Arg(s), Arg(s.roll(shift)), exact=exact)
        for dtype in INTEGERS:
            if op != "div":
                g.add(op, Arg(values(dtype, 3, 3)), Arg(positive(dtype, 3)), exact=True, via="f")
        for dtype in FLOATS:
            g.add(op, Arg(values(dtype, 40)), Arg(positive(dtype, 40)), exact=exact, via="m",
                  **({"loose": 4} if op == "pow" else {}))
    for op in ("add", "sub"):
        g.add(op, Arg(values(torch.float32, 2, 3), grad=True), Arg(values(torch.float32, 3), grad=True), alpha=0.5)
        g.add(op, Arg(values(torch.int64, 2, 3)), Arg(values(torch.int64, 3)), alpha=3, exact=True)
        g.add(op, Arg(values(torch.float64, 3)), 2, alpha=3)
    for mode in ("trunc", "floor"):
        g.add("div", Arg(values(torch.float32, 6)), Arg(values(torch.float32, 6)), rounding_mode=mode, exact=True)
        g.add("div", Arg(values(torch.int64, 6)), Arg(positive(torch.int64, 6)), rounding_mode=mode, exact=True)
    for exponent in (0, 1, 2, 3, -1, 0.5, -2.5):
        g.add("pow", Arg(positive(torch.float64, 5), grad=True), exponent)
        g.add("^", Arg(positive(torch.float32, 5)), exponent, run=operator.pow, via="o")
    for exponent in (0, 1, 2, 5):
        g.add("pow", Arg(values(torch.int64, 5)), exponent, exact=True)
    g.add("pow", 2, Arg(values(torch.float64, 5), grad=True), via="f")
    wide = torch.tensor([2**62, -(2**63), 2**63 - 1, 2**53 + 1])
    for op in ("add", "sub", "mul", "maximum", "eq", "lt"):
        g.add(op, Arg(wide), Arg(wide.flip(0)), exact=True)
    g.add("add", Arg(torch.tensor([250, 255], dtype=torch.uint8)), Arg(torch.tensor([10, 1], dtype=torch.uint8)), exact=True)
    g.add("mul", Arg(torch.tensor([100, -128], dtype=torch.int8)), Arg(torch.tensor([2, -1], dtype=torch.int8)), exact=True)


def unary(g):
    for op in SMOOTH:
        exact = op in ("abs", "neg", "relu")  # PyTorch's sqrt (MKL's) is not always the nearest number
        domain = positive if op in ("log", "sqrt") else values
        loose = {} if exact or op == "sqrt" else {"loose": 4}
        for dtype in DTYPES:
            if dtype is torch.bool and op in ("neg", "abs", "relu"):
                continue
            g.add(op, Arg(domain(dtype, 2, 3)), exact=exact, **loose)
        for dtype in FLOATS:
            g.add(op, Arg(domain(dtype, 70)), exact=exact, via="m", **loose)
        for shape in ((), (0,), (2, 0, 3), (1, 1, 1, 1, 3)):
            g.add(op, Arg(domain(torch.float32, *shape)), exact=exact)
        x = domain(torch.float32, 3, 8)
        x[..., 1::2] = NAN
        g.add(op, Arg(x, "step"), exact=exact)
        g.add(op, Arg(domain(torch.float64, 3, 5), "transpose"), exact=exact)
        g.add(op, Arg(domain(torch.float32, 3), "expand"), exact=exact)
        for dtype in (torch.float32, torch.float64):
            g.add(op, Arg(torch.tensor(SPECIAL, dtype=dtype)), exact=exact)
            g.add(op, Arg(domain(dtype, 2, 5), grad=True))
        g.add(op, Arg(domain(torch.float32, 4, 3), "transpose", grad=True), via="m")
        g.add(op + "_", Arg(domain(torch.float32, 5)), run=getattr(torch, op + "_"), via="m", exact=exact)
    g.add("exp", Arg(torch.linspace(-104, 89, 60)), loose=4)
    g.add("log", Arg(torch.logspace(-44, 38, 40)), loose=4)
    g.add("tanh", Arg(torch.linspace(-10, 10, 60)), loose=4)
    g.add("sigmoid", Arg(torch.linspace(-100, 100, 60)), loose=4)


def clamp(g):
    for dtype in INTEGERS + FLOATS:
        low = 1 if dtype is torch.uint8 else -1
        g.add("clamp", Arg(values(dtype, 2, 4)), low, 2, exact=True)
        g.add("clamp", Arg(values(dtype, 4)), min=low, exact=True)
        g.add("clamp", Arg(values(dtype, 4)), max=2, exact=True)
    g.add("clamp", Arg(torch.tensor(SPECIAL)), -0.5, 1.5, exact=True)
    g.add("clamp", Arg(torch.tensor([1, 5, 9])), 1.5, 6.5, exact=True)
    g.add("clamp", Arg(values(torch.float64, 3, 4), grad=True), -1, 1)
    g.add("clamp", Arg(values(torch.float64, 3, 4), grad=True), min=0.0)
    g.add("clamp", Arg(torch.tensor([-1.0, 0.0, 1.0, 2.0]), grad=True), 0, 1)
    g.add("clamp_", Arg(values(torch.float32, 5)), 0, 1, run=lambda t, a, b: t.clamp_(a, b), via="m", exact=True)


def in_place(g):
    def method(name):
        return lambda t, *rest, **kw: getattr(t, name)(*rest, **kw)

    for dtype in (torch.float32, torch.int64, torch.float16, torch.uint8):
        for op in ("add_", "sub_", "mul_", "maximum"):
            if op.endswith("_"):
                g.add(op, Arg(positive(dtype, 2, 3)), Arg(positive(dtype, 3)), run=method(op), via="m", exact=True)
                g.add(op, Arg(positive(dtype, 3, 2), "transpose"), 1, run=method(op), via="m", exact=True)
    g.add("div_", Arg(values(torch.float32, 2, 3)), Arg(positive(torch.float32, 2, 1)), run=method("div_"), via="m", exact=True)
    g.add("pow_", Arg(positive(torch.float32, 3)), 2, run=method("pow_"), via="m")
    g.add("add_", Arg(values(torch.float32, 3)), Arg(values(torch.int64, 3)), run=method("add_"), via="m", exact=True)
    g.add("add_", Arg(values(torch.float64, 3)), Arg(values(torch.float64, 3)), alpha=-0.1, run=method("add_"), via="m")
    g.add("fill_", Arg(values(torch.float32, 3, 2), "transpose"), 3.5, run=method("fill_"), via="m", exact=True)
    g.add("zero_", Arg(values(torch.int16, 2, 4), "step"), run=method("zero_"), via="m", exact=True)
    g.add("copy_", Arg(values(torch.float32, 2, 3)), Arg(values(torch.int64, 3)), run=method("copy_"), via="m", exact=True)


def conversions(g):
    numbers = [0.0, 1.0, -1.0, 2.7, -2.7, 100.0, 65504.0, 1e-7, 3.14159265]
    for source in FLOATS:
        for target in DTYPES:
            data = numbers
            if not target.is_floating_point:
                data = [0.0, 1.0, 2.7, 100.0, 5.5]  # outside the range the result is undefined
            g.add("to", Arg(torch.tensor(data, dtype=source)), target, run=lambda t, d: t.to(d), via="m", exact=True)
    for source in [torch.bool] + INTEGERS:
        for target in DTYPES:
            t = torch.tensor([0, 1, 100, -1]) if source not in (torch.bool, torch.uint8) else torch.tensor([0, 1, 200])
            g.add("to", Arg(t.to(source)), target, run=lambda t, d: t.to(d), via="m", exact=True)
    g.add("to", Arg(values(torch.float32, 3), grad=True), torch.float64, run=lambda t, d: t.to(d), via="m")


def errors(g):
    g.fails("add", Arg(torch.ones(2, 3)), Arg(torch.ones(4)), message="The size of tensor a (3) must match the size of tensor b (4)")
    g.fails("sub", Arg(torch.ones(2).bool()), Arg(torch.ones(2).bool()), message="Subtraction, the `-` operator, with two bool tensors is not supported")
    g.fails("neg", Arg(torch.ones(2).bool()), message="Negation, the `-` operator, on a bool tensor is not supported")
    g.fails("add_", Arg(torch.ones(2).long()), 1.5, run=lambda t, s: t.add_(s), via="m",
            message="result type Float can't be cast to the desired output type Long")
    g.fails("add_", Arg(torch.ones(3)), Arg(torch.ones(2, 3)), run=lambda t, s: t.add_(s), via="m",
            message="output with shape [3] doesn't match the broadcast shape [2, 3]")
    g.fails("pow", Arg(torch.ones(2).long()), -1, message="Integers to negative integer powers are not allowed")
    g.fails("clamp", Arg(torch.ones(2)), message="At least one of 'min' or 'max' must not be None")


def write(path):
    g = Group()
    for part in (promotion, operators, binary, unary, clamp, in_place, conversions, errors):
        part(g)
    return g.write(path, "Elementwise ops.")
