"""Ops written in Lua (lib/ops): what PyTorch's database has no small sample of, other dtypes and layouts, and calls that must fail."""

import torch

from .cases import FLOATS, INF, INTEGERS, NAN, Arg, Dim, Dims, Group, Idx, Pos, values


def signs(g):
    special = torch.tensor([-INF, -2.5, -0.0, 0.0, 1.5, INF, NAN])
    for name in ("sgn", "signbit", "isposinf", "isneginf", "positive", "deg2rad", "rad2deg"):
        for dtype in FLOATS + [torch.uint8, torch.int16, torch.int64]:
            t = special[:-1 if name == "signbit" else None].to(dtype) if dtype.is_floating_point else torch.tensor([0, 1, 2, 7]).to(dtype)
            g.add(name, Arg(t))
        for layout in ("transpose", "step", "expand", "offset"):
            g.add(name, Arg(values(torch.float32, 4, 4), layout))
        g.add(name, Arg(torch.tensor(-1.5)))
        g.add(name, Arg(torch.empty(0, 3)))
        if name in ("sgn", "positive", "deg2rad", "rad2deg"):
            g.add(name, Arg(values(torch.float64, 2, 3), grad=True))
    g.fails("positive", Arg(torch.tensor([True])), message="on a bool tensor is not supported")
    for dtype in FLOATS:
        g.add("frexp", Arg(torch.tensor([-INF, -3.0, -0.0, 0.5, 1.0, 1e-5, 6e4, INF, NAN]).to(dtype)), via="f")
    g.add("frexp", Arg(torch.tensor([5e-324, 1e308, 2.2e-308], dtype=torch.float64)), via="f")
    for a, b in ((torch.int64, torch.int64), (torch.float32, torch.int64), (torch.float16, torch.float32), (torch.bool, torch.uint8)):
        g.add("float_power", Arg(values(a, 3)), Arg(values(b, 3)))
    g.add("float_power", Arg(values(torch.float32, 3)), 2)
    g.add("float_power", 2, Arg(values(torch.float32, 3)), via="f")
    g.add("ldexp", Arg(values(torch.float32, 3)), Arg(torch.tensor([1, -2, 3])))
    g.add("rsub", Arg(values(torch.float32, 3)), 2, alpha=3, via="f")
    for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64):
        g.add("gcd", Arg(torch.tensor([12, 0, 7, 100]).to(dtype)), Arg(torch.tensor([8, 5, 0, 75]).to(dtype)))
        g.add("lcm", Arg(torch.tensor([12, 0, 7, 10]).to(dtype)), Arg(torch.tensor([8, 5, 0, 4]).to(dtype)))
    g.add("gcd", Arg(torch.tensor([-12, 18])), Arg(torch.tensor([8, -27])))
    for dtype in FLOATS:
        big = torch.finfo(dtype).max
        a = torch.tensor([1.0, 1.0, 2.0, 0.0, 0.0, big, INF, -INF, NAN, -1.5], dtype=dtype)
        b = torch.tensor([2.0, 0.0, 0.0, 1.0, -1.0, INF, 0.0, 0.0, 1.0, NAN], dtype=dtype)
        g.add("nextafter", Arg(a), Arg(b), exact=True)
    for n in (0, 1, 3):
        for dtype in (torch.float32, torch.float64, torch.int32):
            g.add("polygamma", n, Arg(torch.tensor([1, 2, 5]).to(dtype)), via="f", loose=1000 if n == 1 else 20)
    g.add("polygamma", 2, Arg(values(torch.float64, 3, low=0.5), grad=True), via="f", loose=20)
    g.fails("polygamma", -1, Arg(torch.ones(2)), message="polygamma(n, x) does not support negative n.", via="f")
    g.fails("mvlgamma", Arg(torch.ones(2)), 0, message="p has to be greater than or equal to 1")


def numbers(g):
    x = values(torch.float32, 4, 5)
    at = torch.tensor([0.0, 1.0, 1.5, 4.0])
    for dims in (1, [0, 1]):
        g.add("gradient", Arg(x), run=lambda t, dim, **k: torch.gradient(t, dim=dim.value if isinstance(dim, Dim) else dim, **k), dim=Dim(dims) if isinstance(dims, int) else Dims(*dims), spacing=0.5, via="f")
    g.add("gradient", Arg(x), dim=Dims(0), spacing=[Arg(at)], edge_order=2, via="f")
    g.fails("gradient", Arg(torch.ones(1)), message="expected each dimension size to be at least edge_order+1", via="f")
    for n in (None, 0, 5):
        g.add("vander", Arg(torch.tensor([1.0, 2.0, -3.0])), n, True, via="f")
    g.add("vander", Arg(torch.tensor([1, 2, 3])), via="f")
    g.fails("vander", Arg(torch.ones(2, 2)), message="x must be a one-dimensional tensor", via="f")
    points = values(torch.float64, 12, 2)
    g.add("histogramdd", Arg(points), [3, 2], via="f", run=flat(torch.histogramdd))
    g.add("histogramdd", Arg(points), [3, 2], [-2.0, 2.0, -1.0, 3.0], via="f", run=flat(torch.histogramdd))
    edges = [Arg(torch.tensor([-3.0, -1.0, 2.0], dtype=torch.float64)), Arg(torch.tensor([-2.0, 0.5], dtype=torch.float64))]
    g.add("histogramdd", Arg(points), edges, density=True, via="f", run=flat(torch.histogramdd))
    g.fails("cov", Arg(torch.ones(2, 2, 2)), message="two or fewer dimensions")
    g.fails("diff", Arg(torch.tensor(1.0)), message="diff expects input to be at least one-dimensional")
    for layout in ("transpose", "step", "expand"):
        g.add("cov", Arg(values(torch.float32, 4, 4), layout if layout != "expand" else None), loose=4)
        g.add("diff", Arg(values(torch.float32, 4, 4), layout))
    for dtype in INTEGERS:
        g.add("isin", Arg(values(dtype, 2, 3)), Arg(values(dtype, 4)), via="f")
    g.fails("isin", Arg(torch.tensor([True])), Arg(torch.tensor([True])), message="Unsupported input type encountered for isin(): ", via="f")
    g.add("isin", Arg(torch.arange(200)), Arg(torch.arange(0, 300, 7)), via="f")
    g.add("isin", 3, Arg(torch.arange(5)), via="f")


def flat(f):
    def call(*args, **named):
        counts, edges = f(*args, **named)
        return [counts, *edges]
    return call


def pieces(g):
    x = values(torch.float32, 4, 3)
    g.add("slice_scatter", Arg(x), Arg(torch.zeros(2, 3)), Dim(0), Pos(1), 3)
    g.add("slice_scatter", Arg(values(torch.float64, 4, 3), grad=True), Arg(torch.zeros(4, 2, dtype=torch.float64), grad=True), Dim(1), step=2)
    g.add("as_strided_scatter", Arg(x), Arg(torch.zeros(2, 2)), [2, 2], [3, 1], 1)
    g.add("select_copy", Arg(x), Dim(1), Pos(2), via="f")
    g.add("view_copy", Arg(x), torch.int32, via="f")
    g.add("detach_copy", Arg(x), via="f")
    g.add("split_copy", Arg(x), 3, Dim(0), via="f")
    g.add("unsafe_split_with_sizes", Arg(x), [1, 3], Dim(0))
    g.add("dsplit", Arg(values(torch.float32, 2, 2, 4)), 2)
    g.add("dsplit", Arg(values(torch.float32, 2, 2, 4)), Dims(1, 3), run=lambda t, at: torch.dsplit(t, at))
    g.fails("hsplit", Arg(torch.ones(3)), 2, message="is not divisible by the split_size 2")
    lengths = torch.tensor([2, 0, 1])
    for reduce in ("sum", "mean", "max", "min", "prod"):
        g.add("segment_reduce", Arg(values(torch.float64, 3, 2), grad=reduce != "prod"), reduce, lengths=Arg(lengths), via="f", unsafe=True)
    g.add("index_reduce", Arg(x), Dim(0), Idx(torch.tensor([3, 0, 3])), Arg(values(torch.float32, 3, 3)), "amax", include_self=False)
    g.fails("index_reduce", Arg(x), Dim(0), Idx(torch.tensor([3])), Arg(torch.ones(1, 3)), "median", message="Expected reduce to be one of prod, mean, amax or amin but got median.")
    g.add("unravel_index", Idx(torch.tensor([5, 0, 11])), [4, 3], via="f", index_out=(0, 1))
    g.add("renorm_", Arg(values(torch.float32, 3, 4)), 2, Dim(0), 1.5, via="m", run=lambda t, p, d, m: t.renorm(p, d, m))


def matrices(g):
    square = values(torch.float64, 2, 3, 3)
    g.add("matrix_exp", Arg(square, grad=True), loose=20)
    g.add("matrix_exp", Arg(values(torch.float64, 3, 3, low=-9, high=9)), loose=1000)
    g.add("matrix_exp", Arg(torch.zeros(0, 0)))
    g.add("matrix_exp", Arg(values(torch.float64, 2, 3, 3), grad=True), run=torch.linalg.matrix_exp, via="L", loose=20)
    spd = square @ square.mT + 3 * torch.eye(3, dtype=torch.float64)
    factor = torch.linalg.cholesky(spd)
    for upper in (False, True):
        f = factor.mT.contiguous() if upper else factor
        g.add("orgqr", Arg(values(torch.float64, 4, 3)), Arg(values(torch.float64, 2)), loose=20)
        g.add("cholesky_inverse", Arg(f), upper, loose=100)
        g.add("cholesky_solve", Arg(values(torch.float64, 2, 3, 2), grad=True), Arg(f), upper, loose=100)
    for p in (None, 1, -1, 2, -2, INF, "fro", "nuc"):
        g.add("cond", Arg(spd), p, run=torch.linalg.cond, via="L", loose=1000)
    singular = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)
    g.fails("lu_factor", Arg(singular), message="U[2,2] is zero and using it on lu_solve would result in a division by zero", run=torch.linalg.lu_factor, via="L")
    g.add("lu_factor_ex", Arg(singular), run=torch.linalg.lu_factor_ex, via="L")
    g.add("cholesky_ex", Arg(torch.eye(2, dtype=torch.float64)), run=torch.linalg.cholesky_ex, via="L")
    g.fails("householder_product", Arg(torch.ones(2, 3)), Arg(torch.ones(2)), message="input.shape[-2] must be greater than or equal to input.shape[-1]", run=torch.linalg.householder_product, via="L")
    g.fails("tensorinv", Arg(torch.ones(2, 3)), 0, message="Expected a strictly positive integer for 'ind'", run=torch.linalg.tensorinv, via="L")
    g.fails("lu_solve", Arg(torch.ones(3, 1)), Arg(torch.eye(2)), Arg(torch.tensor([1, 2], dtype=torch.int32)), message="Incompatible shapes of A and B for the equation AX = B")


def forms(g):
    for name in ("bartlett", "blackman", "hann", "hamming", "kaiser"):
        for periodic in (True, False):
            g.add(name + "_window", 6, periodic, via="f", loose=4)
        g.add(name + "_window", 1, dtype=torch.float64, via="f")
    g.add("hamming_window", 7, True, 0.5, 0.25, via="f")
    g.add("kaiser_window", 7, False, 4.0, dtype=torch.float64, via="f", loose=10)
    g.add("scalar_tensor", 3, via="f")
    g.add("scalar_tensor", 2.5, dtype=torch.float64, via="f")
    g.add("range", 1, 4, via="f")
    g.add("range", 0.0, 2.0, 0.5, via="f")
    g.add("range", 5, 1, -2, dtype=torch.int64, via="f")
    g.fails("range", 1, 4, -1, message="upper bound and lower bound inconsistent with step sign", via="f")
    x = values(torch.float32, 3, 4)
    g.add("isreal", Arg(x))
    g.add("is_same_size", Arg(x), Arg(x + 1))
    g.add("is_same_size", Arg(x), Arg(x[:2]))
    g.add("is_signed", Arg(x))
    g.add("is_signed", Arg(torch.tensor([1], dtype=torch.uint8)))
    for t in (x.abs(), x.abs().to(torch.float16), torch.arange(24, dtype=torch.int32).reshape(2, 3, 4), torch.tensor([True, True, True]), torch.tensor(7)):
        g.add("hash_tensor", Arg(t))
        if t.dim() > 1:
            g.add("hash_tensor", Arg(t, "transpose" if t.dim() == 2 else None), Dim(1), keepdim=True)
            g.add("hash_tensor", Arg(t), Dims(0, -1))
    g.add("hash_tensor", Arg(torch.ones(2, 0)), Dim(0))
    g.fails("hash_tensor", Arg(torch.ones(2, 0)), Dim(1), message="to have non-zero size")
    g.fails("hash_tensor", Arg(torch.ones(2, 0)), message="Expected reduction dim to be specified for input.numel() == 0")
    for size in ([2, 2], [3, 4], [12], [0, 3], []):
        g.add("resize_", Arg(x), size, via="m", run=lambda t, s: t.clone().resize_(s))
        g.add("resize_as_", Arg(x), Arg(torch.zeros(size)), run=lambda t, s: t.clone().resize_as_(s))
    g.add("frobenius_norm", Arg(x), Dims(0, 1), run=lambda t, d: torch.linalg.norm(t, dim=d), via="f")
    g.add("nuclear_norm", Arg(x), run=lambda t: torch.nuclear_norm(t), via="f", loose=4)
    g.add("nuclear_norm", Arg(x), True, run=lambda t, keepdim: torch.nuclear_norm(t, keepdim), via="f", loose=4)


def write(path):
    g = Group()
    signs(g)
    numbers(g)
    pieces(g)
    matrices(g)
    forms(g)
    return g.write(path, "Ops written in Lua.")
