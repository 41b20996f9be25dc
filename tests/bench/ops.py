"""PyTorch's side of make bench: the rows of ops.lua, name TAB unit TAB value."""

import torch
import torch.nn.functional as F
from measure import measure as time

group = "large"


def measure(name, f):
    time(f"{group}: {name}", f)


def op(name, *args):
    f = getattr(torch, name, None) or getattr(F, name)
    n = len(args)
    assert n <= 4, name
    a, b, c, d = args + (None,) * (4 - n)
    if n == 1:
        return lambda: f(a)
    if n == 2:
        return lambda: f(a, b)
    if n == 3:
        return lambda: f(a, b, c)
    return lambda: f(a, b, c, d)


rand = torch.rand


def elementwise(n):
    a, b = rand(n), rand(n) + 0.5
    m = rand(n) > 0.5
    shape = f"{n} elements"
    for name in ("add", "mul", "div", "maximum", "pow", "lt", "atan2", "logaddexp", "igamma"):
        measure(f"{name}, {shape}", op(name, a, b))
    for name in ("neg", "abs", "sqrt", "rsqrt", "exp", "log", "sin", "tanh", "sigmoid", "erf", "erfinv", "relu", "gelu", "silu", "hardswish", "floor", "sinc", "i0"):
        f = getattr(F, name) if name in ("gelu", "silu", "hardswish") else getattr(torch, name)
        measure(f"{name}, {shape}", lambda f=f: f(a))
    measure(f"add a number, {shape}", lambda: a + 2.5)
    measure(f"clamp, {shape}", op("clamp", a, 0.2, 0.8))
    measure(f"where, {shape}", op("where", m, a, b))
    measure(f"addcmul, {shape}", op("addcmul", a, a, b))
    measure(f"masked_fill, {shape}", op("masked_fill", a, m, 0.0))
    i = torch.arange(n)
    measure(f"add, int64, {shape}", op("add", i, i))
    measure(f"to float64, {shape}", lambda: a.double())
    h = a.bfloat16()
    measure(f"add, bfloat16, {shape}", op("add", h, h))


def strided(n):
    a, b, row, column = rand(n, n), rand(n, n), rand(n), rand(n, 1)
    t, every = a.t(), rand(n, 2 * n)[:, ::2]
    shape = f"{n}x{n}"
    measure(f"a.T + b, {shape}", op("add", t, b))
    measure(f"a.T + b.T, {shape}", op("add", t, b.t()))
    measure(f"every second column + b, {shape}", op("add", every, b))
    measure(f"exp of every second column, {shape}", op("exp", every))
    measure(f"matrix + row, {shape}", op("add", a, row))
    measure(f"matrix + column, {shape}", op("add", a, column))
    measure(f"column + row, {shape}", op("add", column, row))
    measure(f"copy of a.T, {shape}", lambda: t.contiguous())
    measure(f"cat of two, {shape}", op("cat", [a, b], 1))


def reductions(n):
    a = rand(n, n)
    i = torch.randint(0, 100, (n, n))
    shape = f"{n}x{n}"
    for name in ("sum", "mean", "amax", "var", "norm", "argmax", "prod"):
        measure(f"{name}, {shape}", op(name, a))
    for name in ("sum", "mean", "amax", "max", "argmax", "var", "logsumexp", "cumsum", "cummax", "softmax", "log_softmax", "prod"):
        measure(f"{name} of rows, {shape}", op(name, a, 1))
        measure(f"{name} of columns, {shape}", op(name, a, 0))
    measure(f"sum, int64, {shape}", op("sum", i))
    measure(f"any, {shape}", op("any", a > 2))
    weight, bias = rand(n), rand(n)
    measure(f"layer_norm, {shape}", lambda: F.layer_norm(a, (n,), weight, bias))
    target = torch.randint(0, n, (n,))
    measure(f"cross_entropy, {shape}", lambda: F.cross_entropy(a, target))


def orders(n, lines):
    x, rows, i = rand(n), rand(lines, n // lines), torch.randint(0, 1000000, (n,))
    shape = f"{n} elements"
    measure(f"sort, {shape}", op("sort", x))
    measure(f"sort, int64, {shape}", op("sort", i))
    measure(f"sort, {lines} rows, {shape}", op("sort", rows, 1))
    measure(f"argsort, {shape}", op("argsort", x))
    measure(f"topk 10, {lines} rows, {shape}", op("topk", rows, 10, 1))
    measure(f"median, {shape}", op("median", x))
    measure(f"kthvalue, {shape}", op("kthvalue", x, n // 3))
    measure(f"unique, int64, {shape}", op("unique", i))
    ordered = x.sort()[0]
    measure(f"searchsorted, {shape}", op("searchsorted", ordered, x))
    measure(f"bincount, {shape}", op("bincount", torch.randint(0, 999, (n,))))


def positions(rows, columns):
    table, shape = rand(rows, columns), f"{rows}x{columns}"
    index = torch.randint(0, columns, (rows, columns))
    picked = torch.randint(0, rows, (rows,))
    mask = table > 0.5
    measure(f"gather, {shape}", op("gather", table, 1, index))
    measure(f"scatter_add, {shape}", op("scatter_add", torch.zeros(rows, columns), 1, index, table))
    measure(f"index_select of rows, {shape}", op("index_select", table, 0, picked))
    measure(f"index_add of rows, {shape}", op("index_add", torch.zeros(rows, columns), 0, picked, table))
    measure(f"x[index], {shape}", lambda: table[picked])
    measure(f"x[mask], {shape}", lambda: table[mask])
    measure(f"nonzero, {shape}", op("nonzero", mask))
    measure(f"embedding, {shape}", lambda: torch.embedding(table, picked))
    measure(f"take_along_dim, {shape}", op("take_along_dim", table, index, 1))


def products(sizes):
    for n in sizes:
        a, b, v = rand(n, n), rand(n, n), rand(n)
        shape = f"{n}x{n}"
        measure(f"mm, {shape}", op("mm", a, b))
        measure(f"mm with a transpose, {shape}", op("mm", a, b.t()))
        measure(f"mv, {shape}", op("mv", a, v))
        measure(f"linear, {shape}", lambda: F.linear(a, b, v))


def batches(sizes):
    for n, m in sizes:
        measure(f"bmm, {n}x{m}x{m}", op("bmm", rand(n, m, m), rand(n, m, m)))


def convolutions(shapes):
    for n, c, size, out, kernel, stride, padding in shapes:
        x, w = rand(n, c, size, size), rand(out, c, kernel, kernel)
        name = f"conv2d%s, {n}x{c}x{size}x{size}, {out} of {kernel}x{kernel}, stride {stride}"
        measure(name % "", lambda: F.conv2d(x, w, stride=stride, padding=padding))
        xg, wg = x.clone().requires_grad_(), w.clone().requires_grad_()
        y = F.conv2d(xg, wg, stride=stride, padding=padding)
        g = torch.ones_like(y)
        measure(name % " backward", lambda: torch.autograd.grad(y, (xg, wg), g, retain_graph=True))


def gradients(n):
    x, w = rand(n, n, requires_grad=True), rand(n, n, requires_grad=True)
    measure(f"(x * x):sum():backward(), {n}x{n}", lambda: (x * x).sum().backward())
    measure(f"tanh(x @ w):sum():backward(), {n}x{n}", lambda: x.mm(w).tanh().sum().backward())
    target = torch.randint(0, n, (n,))
    measure(f"cross_entropy(x):backward(), {n}x{n}", lambda: F.cross_entropy(x, target).backward())


elementwise(4000000)
strided(2000)
reductions(2000)
orders(1000000, 1000)
positions(4000, 1000)
products([100, 300, 1000, 2000])
batches([(64, 64), (16, 256)])
convolutions([(8, 3, 224, 64, 7, 2, 3), (8, 64, 56, 64, 3, 1, 1), (8, 128, 28, 128, 3, 1, 1), (8, 256, 14, 256, 3, 1, 1), (8, 512, 7, 512, 3, 1, 1),
              (8, 256, 56, 64, 1, 1, 0)])
gradients(1000)
group = "small"
elementwise(6)
strided(5)
reductions(5)
orders(20, 2)
positions(5, 4)
products([5, 20])
batches([(2, 3)])
convolutions([(1, 3, 8, 4, 3, 1, 1)])
gradients(5)
