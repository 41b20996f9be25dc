"""What the other groups leave out: spreads and counts, views and parts, elements by position, conversions, products
and losses."""

import warnings

import torch
import torch.nn.functional as F

from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN, Arg, Dim, Dims, Group, Idx, distinct, values

GRAD = {"grad": True}
KINDS = (torch.float32, torch.float64)


def method(name):
    return lambda t, *rest, **named: getattr(t, name)(*rest, **named)


def holes(dtype, *shape):
    t = values(dtype, *shape)
    t[..., 1::2] = NAN
    return t


def spreads(g):
    for op in ("var", "std"):
        for dtype in FLOATS:
            g.add(op, Arg(values(dtype, 2, 3)))
            g.add(op, Arg(values(dtype, 3, 4)), Dim(1))
            g.add(op, Arg(values(dtype, 2, 3, 4)), Dims(0, 2), keepdim=True)
            g.add(op, Arg(values(dtype, 3, 4), "transpose"), Dim(-1), correction=0, via="m")
        for dtype in KINDS:
            for correction in (0, 1, 2):
                g.add(op, Arg(values(dtype, 2, 5), **GRAD), correction=correction)
                g.add(op, Arg(values(dtype, 2, 3, 4), **GRAD), Dims(0, 2), correction=correction, keepdim=True)
            for unbiased in (False, True):
                g.add(op, Arg(values(dtype, 2, 5), **GRAD), unbiased)
                g.add(op, Arg(values(dtype, 2, 5), **GRAD), Dim(1), unbiased)
                g.add(op, Arg(values(dtype, 2, 5), **GRAD), Dim(0), unbiased, True)
            g.add(op, Arg(holes(dtype, 3, 8), "step"), Dim(0))
            g.add(op, Arg(holes(dtype, 3, 8), "step"))
            g.add(op, Arg(values(dtype, 1)))
            g.add(op, Arg(values(dtype)))
            g.add(op, Arg(torch.ones(0, 3, dtype=dtype)), Dim(0))
            g.add(op, Arg(torch.ones(0, 3, dtype=dtype)), Dim(1))
            g.add(op, Arg(torch.tensor([1.0, NAN, INF], dtype=dtype)))
            g.add(op, Arg(torch.tensor([[1.0, 2.0], [INF, 2.0]], dtype=dtype)), Dim(1))
        g.add(op, Arg(torch.full((3000,), 0.1)), loose=4)
        g.add(op, Arg(torch.arange(3000.0) + 1e4), loose=20)
        g.fails(op, Arg(torch.ones(2).long()), message="std and var only support floating point and complex dtypes")
        g.fails(op, Arg(torch.ones(2)), Dim(2), message="Dimension out of range")
    for dtype in FLOATS:
        g.add("logsumexp", Arg(values(dtype, 2, 3)), Dim(1))
        g.add("logsumexp", Arg(values(dtype, 2, 3, 2)), Dims(0, 2), keepdim=True)
    for dtype in KINDS:
        g.add("logsumexp", Arg(values(dtype, 3, 4), "transpose", **GRAD), Dim(0))
        g.add("logsumexp", Arg(values(dtype, 2, 3, 2), **GRAD), Dims(0, 1))
        g.add("logsumexp", Arg(torch.tensor([[1000.0, 1000.0], [-INF, -INF], [INF, 1.0], [NAN, 1.0]], dtype=dtype)), Dim(1))
        g.add("logsumexp", Arg(torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0]], dtype=dtype), **GRAD), Dim(1))
        g.add("logsumexp", Arg(values(dtype)), Dim(0))
        g.add("logsumexp", Arg(torch.ones(0, 3, dtype=dtype)), Dim(0))
        g.add("logsumexp", Arg(holes(dtype, 3, 8), "step"), Dim(1))
    g.add("logsumexp", Arg(values(torch.int64, 2, 3)), Dim(1))


def running(g):
    for dtype in DTYPES:
        g.add("cumsum", Arg(values(dtype, 2, 4)), Dim(1))
        g.add("cumsum", Arg(values(dtype, 3, 4), "transpose"), Dim(0), via="m")
        g.add("count_nonzero", Arg(values(dtype, 3, 4)))
        g.add("count_nonzero", Arg(values(dtype, 3, 4)), Dim(1))
        if dtype is not torch.bool:
            for op in ("amax", "amin"):
                g.add(op, Arg(distinct(dtype, 3, 4)), exact=True)
                g.add(op, Arg(distinct(dtype, 3, 4)), Dim(0), exact=True)
                g.add(op, Arg(distinct(dtype, 2, 3, 4)), Dims(0, 2), keepdim=True, exact=True)
    for dtype in KINDS:
        for dim in (0, 1, -1):
            g.add("cumsum", Arg(values(dtype, 2, 3, 4), **GRAD), Dim(dim))
        g.add("cumsum", Arg(values(dtype, 3, 4), "transpose", **GRAD), dim=Dim(1))
        g.add("cumsum", Arg(holes(dtype, 3, 8), "step"), Dim(1))
        g.add("cumsum", Arg(values(dtype)), Dim(0))
        g.add("cumsum", Arg(torch.ones(0, 3, dtype=dtype)), Dim(0))
        g.add("cumsum", Arg(torch.tensor([1.0, NAN, 2.0, INF], dtype=dtype)), Dim(0))
        for op in ("amax", "amin"):
            g.add(op, Arg(distinct(dtype, 2, 3, 4), **GRAD), exact=True)
            g.add(op, Arg(distinct(dtype, 2, 3, 4), **GRAD), Dims(0, 2), exact=True)
            g.add(op, Arg(distinct(dtype, 3, 4), "transpose", **GRAD), dim=Dim(1), keepdim=True, exact=True)
            g.add(op, Arg(torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], dtype=dtype), **GRAD), Dim(1))
            g.add(op, Arg(torch.tensor([[1.0, NAN], [INF, -INF]], dtype=dtype)), Dim(1), exact=True)
            g.add(op, Arg(holes(dtype, 3, 8), "step"), Dim(0), exact=True)
            g.add(op, Arg(values(dtype)), exact=True)
    g.add("cumsum", Arg(values(torch.float32, 3, 4)), Dim(1), dtype=torch.float64)
    g.add("cumsum", Arg(values(torch.int32, 3, 4)), Dim(0), dtype=torch.int32)
    g.add("cumsum", Arg(torch.full((3000,), 0.1)), Dim(0), loose=20)
    g.add("count_nonzero", Arg(values(torch.int64, 2, 3, 4)), Dims(0, 2))
    g.add("count_nonzero", Arg(torch.tensor([0.0, NAN, -0.0, INF])))
    g.add("count_nonzero", Arg(torch.ones(0, 3)), Dim(0))
    g.fails("amax", Arg(torch.ones(0, 3)), Dim(0), message="to have non-zero size")
    g.fails("cumsum", Arg(torch.ones(2)), Dim(1), message="Dimension out of range")
    for p in (2, 1, INF):
        g.add("norm", Arg(values(torch.float32, 3, 4)), p, Dim(1))
    g.add("softmin", Arg(values(torch.float64, 3, 4), **GRAD), Dim(1), run=F.softmin, via="F")
    g.add("softmin", Arg(values(torch.float32, 3, 4), "transpose", **GRAD), dim=Dim(0), run=F.softmin, via="F")


def views(g):
    x = values(torch.float64, 2, 3, 4)
    for dtype in DTYPES:
        for op, shape in (("view_as", (4, 6)), ("reshape_as", (3, 8))):
            g.add(op, Arg(values(dtype, 2, 3, 4)), Arg(torch.zeros(shape)), run=method(op), via="m", exact=True)
        g.add("repeat", Arg(values(dtype, 2, 3)), 2, 2, run=method("repeat"), via="m", exact=True)
        g.add("fliplr", Arg(values(dtype, 2, 3)), exact=True)
        g.add("flipud", Arg(values(dtype, 2, 3)), exact=True)
        g.add("column_stack", [Arg(values(dtype, 3)), Arg(values(dtype, 3, 2))], via="f", exact=True)
        g.add("split", Arg(values(dtype, 5, 2)), 2, exact=True)
        g.add("type_as", Arg(torch.tensor([0.0, 1.0, 2.0])), Arg(torch.zeros(1, dtype=dtype)), run=method("type_as"), via="m", exact=True)
    g.add("view_as", Arg(x, **GRAD), Arg(torch.zeros(24)), run=method("view_as"), via="m", exact=True)
    g.add("reshape_as", Arg(x, "transpose", **GRAD), Arg(torch.zeros(4, 6)), run=method("reshape_as"), via="m", exact=True)
    g.add("expand_as", Arg(values(torch.float64, 3, 1), **GRAD), Arg(torch.zeros(2, 3, 4)), run=method("expand_as"), via="m", exact=True)
    g.add("expand_as", Arg(values(torch.float32)), Arg(torch.zeros(0, 2)), run=method("expand_as"), via="m", exact=True)
    for size in ((3, 1), (4,), (2, 3, 4), (1,), (2, 1, 1)):
        g.add("sum_to_size", Arg(x, **GRAD), *size, run=method("sum_to_size"), via="m")
    g.add("broadcast_to", Arg(values(torch.float64, 3, 1), **GRAD), [2, 3, 4], exact=True)
    g.add("broadcast_to", Arg(torch.tensor(True)), [2], exact=True)
    for size, stride, offset in (([2, 2], [1, 2], 0), ([3], [0], 5), ([2, 3, 2], [6, 2, 1], 3), ([], [], 2), ([0], [1], 0)):
        g.add("as_strided", Arg(values(torch.float32, 4, 6), **GRAD), size, stride, offset, exact=True)
    g.add("as_strided", Arg(values(torch.int64, 2, 3)), [3, 2], [1, 3], exact=True)
    for layout in (None, "transpose", "step", "offset"):
        for op, dims in (("unbind", (0, 1, -1)), ("detach", (None,))):
            for dim in dims:
                rest = [] if dim is None else [Dim(dim)]
                g.add(op, Arg(x, layout, **({} if dim is None else GRAD)), *rest, exact=True)
        g.add("chunk", Arg(x, layout, **GRAD), 2, Dim(1), exact=True)
        g.add("split", Arg(x, layout, **GRAD), 2, Dim(-1), exact=True)
        g.add("ravel", Arg(x, layout, **GRAD), exact=True)
        g.add("repeat", Arg(x, layout, **GRAD), 2, 1, 3, 2, run=method("repeat"), via="m", exact=True)
    for chunks in (1, 2, 3, 4, 7):
        g.add("chunk", Arg(values(torch.float32, 7, 2)), chunks, exact=True)
    for sizes in ([1, 2, 2], [5], [0, 5, 0]):
        g.add("split", Arg(values(torch.float64, 5, 2), **GRAD), sizes, exact=True)
        g.add("split", Arg(values(torch.float32, 2, 5)), sizes, dim=Dim(1), exact=True)
    g.fails("split", Arg(torch.ones(5)), [2, 2], message="split_with_sizes expects split_sizes to sum exactly to 5")
    g.fails("chunk", Arg(torch.ones(5)), 0, message="chunk expects `chunks` to be greater than 0, got: 0")
    g.fails("split", Arg(torch.ones(5)), -1, message="split expects split_size be non-negative, but got split_size=-1")
    for shape in ((), (3,), (2, 3), (2, 1, 2), (0,)):
        for op in ("atleast_1d", "atleast_2d", "atleast_3d"):
            g.add(op, Arg(values(torch.float64, *shape), **GRAD), via="f", exact=True)
        g.add("ravel", Arg(values(torch.float32, *shape)), exact=True)
    for op in ("fliplr", "flipud"):
        g.add(op, Arg(values(torch.float64, 3, 4), "transpose", **GRAD), exact=True)
    g.fails("fliplr", Arg(torch.ones(3)), message="Input must be >= 2-d.")
    g.add("column_stack", [Arg(values(torch.float64, 3), **GRAD), Arg(values(torch.float64, 3, 2), **GRAD)], via="f", exact=True)
    g.add("column_stack", [Arg(torch.tensor(1.0)), Arg(torch.tensor(2.0))], via="f", exact=True)
    for shape in ((3, 3), (2, 4), (5, 2), (3, 3, 3)):
        g.add("fill_diagonal_", Arg(values(torch.float32, *shape)), 1.5, run=method("fill_diagonal_"), via="m", exact=True)
        g.add("fill_diagonal_", Arg(values(torch.int64, *shape)), 7, True, run=method("fill_diagonal_"), via="m", exact=True)
    g.add("fill_diagonal_", Arg(values(torch.float32, 5, 2), "transpose"), 1.5, run=method("fill_diagonal_"), via="m", exact=True)
    g.add("fill_", Arg(values(torch.float32, 2, 3)), Arg(torch.tensor(2.5)), run=method("fill_"), via="m", exact=True)
    g.add("fill_", Arg(values(torch.int32, 2, 3)), Arg(torch.tensor(2.5)), run=method("fill_"), via="m", exact=True)
    for op, fill in (("zeros_like", []), ("ones_like", []), ("full_like", [3])):
        for dtype in DTYPES:
            g.add(op, Arg(values(dtype, 2, 3)), *fill, via="f", exact=True)
        g.add(op, Arg(values(torch.float32, 2, 3)), *fill, dtype=torch.int64, via="f", exact=True)
    for op, fill in (("new_zeros", []), ("new_ones", []), ("new_full", [2.5])):
        for dtype in KINDS + (torch.int64, torch.bool):
            g.add(op, Arg(values(dtype, 2)), [2, 3], *fill, run=method(op), via="m", exact=True)
        g.add(op, Arg(values(torch.float32, 2)), [2], *fill, dtype=torch.int16, run=method(op), via="m", exact=True)
    for name, dtype in (("bool", torch.bool), ("byte", torch.uint8), ("char", torch.int8), ("short", torch.int16), ("int", torch.int32), ("long", torch.int64),
                        ("half", torch.float16), ("bfloat16", torch.bfloat16), ("float", torch.float32), ("double", torch.float64)):
        for source in (torch.bool, torch.int32, torch.float32, torch.float64):
            g.add(name, Arg(torch.tensor([0.0, 1.0, 2.75, 100.0], dtype=source)), run=method(name), via="m", exact=True)
        if dtype.is_floating_point:
            g.add(name, Arg(values(torch.float64, 3), **GRAD), run=method(name), via="m", exact=True)
    g.add("cpu", Arg(values(torch.float32, 3), **GRAD), run=method("cpu"), via="m", exact=True)
    g.add("cpu", Arg(values(torch.int64, 3, 2), "transpose"), run=method("cpu"), via="m", exact=True)


def positions(g):
    for dtype in DTYPES:
        g.add("index_copy", Arg(values(dtype, 3, 4)), Dim(0), Idx([2, 0]), Arg(values(dtype, 2, 4)), exact=True)
        g.add("index_fill", Arg(values(dtype, 3, 4)), Dim(1), Idx([3, 1]), 1, exact=True)
        g.add("index_add", Arg(values(dtype, 3, 4)), Dim(1), Idx([3, 0, 3]), Arg(values(dtype, 3, 3)))
        g.add("scatter_add", Arg(values(dtype, 3, 4)), Dim(1), Idx([[0, 3, 0], [1, 1, 2]]), Arg(values(dtype, 2, 3)))
        g.add("index_put", Arg(values(dtype, 3, 4)), [Idx([2, 0]), Idx([1, 3])], Arg(values(dtype, 2)), exact=True)
        g.add("argwhere", Arg(values(dtype, 3, 4)), index_out=(0,), exact=True)
    for dtype in KINDS:
        x = values(dtype, 3, 4)
        g.add("scatter_add", Arg(x, **GRAD), Dim(0), Idx([[0, 2, 2, 0], [0, 1, 2, 0]]), Arg(values(dtype, 2, 4), **GRAD))
        g.add("scatter_add", Arg(x, "transpose", **GRAD), dim=Dim(1), index=Idx([[0, 0], [2, 2]]), src=Arg(values(dtype, 2, 2), **GRAD))
        g.add("scatter_add", Arg(x), Dim(0), Idx(torch.zeros(0, 4, dtype=torch.int64)), Arg(values(dtype, 0, 4)))
        for alpha in ({}, {"alpha": -1.5}):
            g.add("index_add", Arg(x, **GRAD), Dim(0), Idx([2, 0, 2]), Arg(values(dtype, 3, 4), **GRAD), **alpha)
            g.add("index_add", Arg(x, "transpose", **GRAD), Dim(-1), Idx([1]), Arg(values(dtype, 4, 1), **GRAD), **alpha)
        g.add("index_copy", Arg(x, **GRAD), Dim(1), Idx([3, 0]), Arg(values(dtype, 3, 2), **GRAD), exact=True)
        g.add("index_copy", Arg(x, "transpose", **GRAD), dim=Dim(0), index=Idx([1]), source=Arg(values(dtype, 1, 3), **GRAD), exact=True)
        g.add("index_fill", Arg(x, **GRAD), Dim(0), Idx([1, 1]), 2.5, exact=True)
        g.add("index_fill", Arg(x, "transpose", **GRAD), Dim(-1), Idx([0, 2]), -1.0, exact=True)
        for accumulate in (False, True):
            index = [Idx([0, 2, 1]), Idx([1, 3, 0])]
            g.add("index_put", Arg(x, **GRAD), index, Arg(values(dtype, 3), **GRAD), accumulate)
            g.add("index_put", Arg(x, **GRAD), [Idx([2, 0])], Arg(values(dtype, 4), **GRAD), accumulate=accumulate)
        g.add("index_put", Arg(x), [Idx([1, 1, 2]), Idx([0, 0, 3])], Arg(values(dtype, 3)), True)
    for shape in ((), (0,), (2, 0), (5,)):
        g.add("argwhere", Arg(values(torch.int64, *shape)), index_out=(0,), exact=True)
    g.add("argwhere", Arg(values(torch.float32, 3, 4), "transpose"), index_out=(0,), exact=True)
    for classes in ([], [5]):
        g.add("one_hot", Idx([0, 2, 1]), *classes, run=F.one_hot, via="F", exact=True)
        g.add("one_hot", Idx([[3, 0], [1, 1]]), *classes, run=F.one_hot, via="F", exact=True)
    g.add("one_hot", Idx(torch.tensor(2)), 4, run=F.one_hot, via="F", exact=True)
    g.add("one_hot", Idx(torch.zeros(0, dtype=torch.int64)), 3, run=F.one_hot, via="F", exact=True)
    for dtype in FLOATS:
        g.add("embedding", Idx([[0, 2], [1, 1]]), Arg(values(dtype, 3, 2)), run=F.embedding, via="F", exact=True)
    for dtype in KINDS:
        g.add("embedding", Idx([[0, 2], [2, 1]]), Arg(values(dtype, 3, 2), **GRAD), run=F.embedding, via="F")
        g.add("embedding", Idx([1, 1, 1]), Arg(values(dtype, 3, 4), "transpose", **GRAD), run=F.embedding, via="F")
        g.add("embedding", Idx(torch.zeros(0, dtype=torch.int64)), Arg(values(dtype, 3, 2)), run=F.embedding, via="F")
    g.fails("embedding", Idx([5]), Arg(torch.ones(3, 2)), run=F.embedding, via="F", message="index out of range in self")
    g.fails("index_add", Arg(torch.ones(3, 2)), Dim(0), Idx([5]), Arg(torch.ones(1, 2)), message="is out of bounds for dimension")
    g.fails("index_copy", Arg(torch.ones(3, 2)), Dim(0), Idx([0, 1]), Arg(torch.ones(1, 2)), message="Number of indices (2) should be equal to source.size(dim) (1)")
    g.fails("scatter_add", Arg(torch.ones(3, 2)), Dim(0), Idx([[5, 0]]), Arg(torch.ones(1, 2)), message="is out of bounds for dimension")
    g.fails("index_fill", Arg(torch.ones(3, 2)), Dim(0), Idx([7]), 1.0, message="out of")


def overloads(g):
    """Calls of an op that only differ in the kinds of their arguments."""
    x, y = values(torch.float64, 3, 4), values(torch.float64, 4)
    for op in ("max", "min"):
        g.add(op, Arg(x, **GRAD), Arg(y, **GRAD))
        for dtype in DTYPES:
            g.add(op, Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)), exact=True)
        g.add(op, Arg(torch.tensor([1.0, NAN, INF])), Arg(torch.tensor([NAN, 2.0, 1.0])), exact=True)
    for low, high in ((True, True), (True, False), (False, True)):
        bounds = [Arg(values(torch.float64, 4, low=-2, high=0), **GRAD), Arg(values(torch.float64, 3, 1, low=0, high=2), **GRAD)]
        g.add("clamp", Arg(x, **GRAD), bounds[0] if low else None, *bounds[1:] if high else [])
    for dtype in INTEGERS + FLOATS:
        g.add("clamp", Arg(values(dtype, 2, 4)), Arg(torch.full((4,), 1, dtype=dtype)), Arg(torch.full((4,), 3, dtype=dtype)), exact=True)
    g.add("norm", Arg(x, **GRAD), "fro")
    g.add("norm", Arg(x, **GRAD), "fro", Dims(0, 1))
    g.add("norm", Arg(values(torch.float32, 2, 3, 4), **GRAD), "fro", Dims(0, 2), keepdim=True)
    for source in (torch.float32, torch.int64):
        g.add("to", Arg(values(source, 3)), Arg(values(torch.float64, 1)), run=method("to"), via="m", exact=True)
        g.add("to", Arg(values(source, 3)), "cpu", torch.float16, run=method("to"), via="m", exact=True)
    for options in ({}, {"label_smoothing": 0.1}, {"reduction": "sum"}, {"reduction": "none"}, {"weight": Arg(torch.tensor([1.0, 0.5, 2.0, 1.5]).double())}):
        target = values(torch.float64, 3, 4, low=0.05, high=1)
        target = ((target / target.sum(1, keepdim=True)) * 1000).round() / 1000
        g.add("cross_entropy", Arg(x, **GRAD), Arg(target, **GRAD), run=F.cross_entropy, via="F", loose=4, **options)
        g.add("cross_entropy", Arg(values(torch.float64, 3, 4, 2), **GRAD), Arg(torch.stack([target, target.flip(1)], 2)), run=F.cross_entropy, via="F", loose=4, **options)


def products(g):
    for dtype in FLOATS + [torch.int64, torch.int32]:
        if dtype is not torch.float16:
            g.add("vdot", Arg(values(dtype, 4)), Arg(values(dtype, 4)))
        g.add("addmv", Arg(values(dtype, 2)), Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)))
        g.add("baddbmm", Arg(values(dtype, 2, 2, 2)), Arg(values(dtype, 2, 2, 3)), Arg(values(dtype, 2, 3, 2)))
    for dtype in KINDS:
        g.add("vdot", Arg(values(dtype, 4), **GRAD), Arg(values(dtype, 8), "step", **GRAD))
        g.add("vdot", Arg(torch.ones(0, dtype=dtype)), Arg(torch.ones(0, dtype=dtype)))
        for scale in ({}, {"beta": 0.5, "alpha": -2.0}, {"beta": 0}):
            g.add("addmv", Arg(values(dtype, 2), **GRAD), Arg(values(dtype, 3, 2), "transpose", **GRAD), Arg(values(dtype, 3), **GRAD), **scale)
            g.add("addmv", Arg(values(dtype), **GRAD), Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 6), "step", **GRAD), **scale)
            g.add("baddbmm", Arg(values(dtype, 2, 1, 2), **GRAD), Arg(values(dtype, 2, 3, 3), "transpose", **GRAD), Arg(values(dtype, 2, 3, 2), **GRAD), **scale)
            g.add("baddbmm", Arg(values(dtype), **GRAD), Arg(values(dtype, 2, 2, 3), **GRAD), Arg(values(dtype, 2, 3, 4), "step", **GRAD), **scale)
        g.add("addmv", Arg(torch.tensor([NAN, 1.0], dtype=dtype)), Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)), beta=0)
        g.add("addmv", Arg(values(dtype, 2)), Arg(torch.ones(2, 0, dtype=dtype)), Arg(torch.ones(0, dtype=dtype)))
        g.add("baddbmm", Arg(values(dtype, 2, 2, 2)), Arg(torch.ones(2, 2, 0, dtype=dtype)), Arg(torch.ones(2, 0, 2, dtype=dtype)))
        for reduction in ("mean", "sum", "none"):
            named = {"reduction": reduction}
            g.add("l1_loss", Arg(values(dtype, 3, 4), **GRAD), Arg(values(dtype, 3, 4), **GRAD), run=F.l1_loss, via="F", **named)
            bce = dict(run=F.binary_cross_entropy_with_logits, via="F", loose=4, **named)
            target = values(dtype, 3, 4, low=0, high=1)
            g.add("binary_cross_entropy_with_logits", Arg(values(dtype, 3, 4), **GRAD), Arg(target), **bce)
            g.add("binary_cross_entropy_with_logits", Arg(values(dtype, 3, 4), **GRAD), Arg(target, **GRAD), weight=Arg(values(dtype, 4, low=0, high=2)), **bce)
            g.add("binary_cross_entropy_with_logits", Arg(values(dtype, 4, 3), "transpose", **GRAD), Arg(target), pos_weight=Arg(values(dtype, 4, low=0, high=2)), **bce)
        g.add("binary_cross_entropy_with_logits", Arg(torch.tensor([1000.0, -1000.0, 0.0], dtype=dtype), **GRAD), Arg(torch.tensor([0.0, 1.0, 0.5], dtype=dtype)),
              run=F.binary_cross_entropy_with_logits, via="F")
    g.fails("binary_cross_entropy_with_logits", Arg(torch.ones(3)), Arg(torch.ones(2)), run=F.binary_cross_entropy_with_logits, via="F", message="must be the same as input size")
    g.fails("baddbmm", Arg(torch.ones(2, 2, 2)), Arg(torch.ones(2, 2, 3)), Arg(torch.ones(3, 3, 2)), message="Expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: [3, 3].")
    g.fails("addmv", Arg(torch.ones(2)), Arg(torch.ones(2, 3)), Arg(torch.ones(2)), message="size mismatch, got input (2), mat (2x3), vec (2)")
    g.fails("vdot", Arg(torch.ones(2)), Arg(torch.ones(3)), message="inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements")


def write(path):
    warnings.filterwarnings("ignore", message=".*degrees of freedom")
    g = Group()
    for part in (spreads, running, views, positions, overloads, products):
        part(g)
    return g.write(path, "What the other groups leave out.")
