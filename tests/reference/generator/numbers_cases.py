"""Numbers that are stored or multiplied by: which fit a dtype and which are refused; scales of products of integers;
whole numbers in ranges; infinite and undefined coordinates; operands that broadcast where lengths are taken."""

import torch
import torch.nn.functional as F

from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN, Arg, Dim, Group, Idx, live

NUMBERS = [0, 1, -1, 127, 128, 255, 256, -128, -129, -255, -256, 300, 70000, 2**31, -2**31, 2**40, 1.5, -1.5, 255.9, -0.5, 1e10,
           1e20, NAN, INF, 65504.0, 65519.0, 65520.0, 1e39, -1e39, True]


def attempt(g, op, *args, run=None, **named):
    """A case or, where PyTorch refuses, its message."""
    try:
        (run or getattr(torch, op))(*(live(a) for a in args), **{k: live(v) for k, v in named.items() if k != "via" and k != "exact"})
    except (RuntimeError, ValueError) as error:
        named.pop("exact", None)
        g.fails(op, *args, message=str(error).split("\n")[0], run=run, **named)
    else:
        g.add(op, *args, run=run, **named)


def fills(g):
    mask = torch.tensor([True, False])
    for dtype in DTYPES:
        two = torch.zeros(2, dtype=dtype)
        for number in NUMBERS:
            attempt(g, "full", [1], number, dtype=dtype, via="f", exact=True)
            attempt(g, "masked_fill", Arg(two), Arg(mask), number, via="m", exact=True, run=torch.Tensor.masked_fill)
            if isinstance(number, bool) or number in (300, -1, -256, 2**40, -0.5) or number != number:
                attempt(g, "fill_", Arg(two), number, via="m", exact=True, run=torch.Tensor.fill_)
                attempt(g, "index_fill", Arg(two), Dim(0), Idx([0]), number, via="m", exact=True, run=torch.Tensor.index_fill)
                attempt(g, "scatter", Arg(two), Dim(0), Idx([0]), number, via="m", exact=True, run=torch.Tensor.scatter)
                attempt(g, "full_like", Arg(two), number, via="f", exact=True)
                attempt(g, "where", Arg(mask), Arg(two), number, via="f", exact=True)
    for dtype in INTEGERS:
        two = torch.ones(2, dtype=dtype)
        for number in (3, -1, 300, 2**40):
            attempt(g, "add", Arg(two), Arg(two), alpha=number, via="f", exact=True)
            attempt(g, "clamp", Arg(two), number, via="f", exact=True)
            attempt(g, "addcmul", Arg(two), Arg(two), Arg(two), value=number, via="f", exact=True)
            attempt(g, "threshold", Arg(two), 0, number, via="F", exact=True, run=F.threshold)
            if number > 0:
                attempt(g, "pow", Arg(two), number, via="f", exact=True)
    for dtype, number in ((torch.float32, 1e39), (torch.float16, 1e5), (torch.float64, 1e39)):
        two = torch.ones(2, dtype=dtype)
        attempt(g, "clamp", Arg(two), number, via="f", exact=True)
        attempt(g, "add", Arg(two), Arg(two), alpha=number, via="f", exact=True)


def products(g):
    for dtype in INTEGERS + [torch.bool]:
        ones, v = torch.ones(3, 3, dtype=dtype), torch.tensor([1, 0, 1]).to(dtype)
        for beta, alpha in ((1, 1), (0, 1), (2, 3), (2.5, 1), (1, 1.5)):
            attempt(g, "addr", Arg(ones), Arg(v), Arg(v), beta=beta, alpha=alpha, via="f", exact=True)
        if dtype is not torch.bool:
            m, batch = torch.tensor([[1, 0], [1, 1]]).to(dtype), torch.ones(2, 2, 2, dtype=dtype)
            for beta, alpha in ((1, 1), (0, 1), (2, 3), (2.5, 1.5)):
                g.add("addbmm", Arg(m), Arg(batch), Arg(batch), beta=beta, alpha=alpha, via="f", exact=True)
        for size in ((1, 3), (3,), (2, 3), (2, 1), (1,)):
            g.add("sum_to_size", Arg(torch.ones(2, 3, dtype=dtype)), list(size), via="m", exact=True,
                  run=lambda t, s: t.sum_to_size(s))
        for low, high in ((-1, 1), (-2.5, 2.5), (0, 2), (0, 2.9)):
            attempt(g, "hardtanh", Arg(torch.tensor([0, 1, 5, 7]).to(dtype)), low, high, via="F", exact=True, run=F.hardtanh)


def ranges(g):
    for dtype in INTEGERS:
        for start, end, steps in ((0, 2, 3), (0, 2, 5), (0.5, 2.7, 4), (-1, 2, 4), (1, 2, 1), (0, 2, 0)):
            if dtype is not torch.uint8 or start >= 0:
                g.add("logspace", start, end, steps, dtype=dtype, via="f", exact=True)
        g.add("logspace", 0, 6, 7, 2, dtype=dtype, via="f", exact=True, run=lambda a, b, n, base, dtype: torch.logspace(a, b, n, base=base, dtype=dtype))
        for start, end, step in ((0, 5, 1.5), (0, 5, 0.5), (10, 0, -2.5), (0.5, 5, 1.5), (-0.5, 3, 1), (1.9, 6, 1), (2.5, 9.9, 2)):
            if dtype is not torch.uint8 or start >= 0:
                attempt(g, "arange", start, end, step, dtype=dtype, via="f", exact=True)


        for start, end, steps in ((4.3, 0, 10), (0.9, 5.9, 4), (2.7, 2.2, 3), (-1.5, 7.5, 5)):
            if dtype is not torch.uint8 or start >= 0:
                g.add("linspace", start, end, steps, dtype=dtype, via="f", exact=True)


def pixels(g):
    interpolate = dict(via="F", run=F.interpolate)
    image = (torch.arange(2 * 3 * 5 * 7) * 37 % 256).reshape(2, 3, 5, 7)
    for mode in ("bilinear", "bicubic"):
        for size in ([3, 3], [8, 4], [5, 20]):
            for align in (False, True):
                g.add("interpolate", Arg(image.to(torch.uint8)), size=size, mode=mode, align_corners=align, **interpolate, exact=True)
        g.add("interpolate", Arg(image.to(torch.uint8)), scale_factor=[0.6, 1.7], mode=mode, **interpolate, exact=True)
        g.add("interpolate", Arg(image.to(torch.uint8)), size=[3, 4], mode=mode, antialias=True, **interpolate, exact=True)
        for dtype in (torch.float16, torch.bfloat16):
            g.add("interpolate", Arg((image / 32 - 4).to(dtype)), size=[4, 9], mode=mode, **interpolate)
        for dtype in (torch.int8, torch.int32, torch.int64, torch.bool):
            g.fails("interpolate", Arg(image.to(dtype)), size=[3, 3], mode=mode, **interpolate, message="not implemented for")
    g.fails("interpolate", Arg(image[0].to(torch.uint8)), size=3, mode="linear", **interpolate, message="not implemented for")


def dtypes_of_sums(g):
    for dtype in INTEGERS:
        row, matrix = torch.tensor([3, 1, 4]).to(dtype), torch.arange(6).reshape(2, 3).to(dtype)
        for equation, operands in (("i->", [row]), ("ij->j", [matrix[:1]]), ("iji->j", [matrix[:1, :, None]]), ("ij->ji", [matrix]), ("ij,k->ik", [matrix, row]), ("ij,j->i", [matrix, row]),
                                   ("i,j->ij", [row, row]), ("ij,j,j->i", [matrix, row, row])):
            g.add("einsum", equation, [Arg(t.contiguous()) for t in operands], via="f", exact=True)
        g.add("local_response_norm", Arg(matrix.reshape(1, 6, 1)), 3, 0.5, 0.75, 2.0, via="F", run=F.local_response_norm)
    flags = torch.tensor([True, False])
    g.add("einsum", "i,j->ij", [Arg(flags), Arg(flags)], via="f", exact=True)


def edges(g):
    x = torch.tensor([0.3, 1.7, 2.9], dtype=torch.float64)
    g.add("lerp", Arg(x, grad=True), Arg(x * x, grad=True), 0.4)
    g.add("xlogy", Arg(x, grad=True), 0.3)
    for turns in (0, 1, 2, 3, 4, -3):
        g.add("rot90", Arg(torch.arange(6.0).reshape(2, 3), "transpose"), turns, exact=True)
    image, grid = torch.arange(9.0).reshape(1, 1, 3, 3), torch.tensor([[[[-0.5, 0.2], [0.9, 1.4]]]])
    g.add("grid_sample", Arg(image, grad=True), Arg(grid, grad=True), "nearest", "zeros", False, via="F", run=F.grid_sample)
    g.add("lp_pool2d", Arg(image), norm_type=2.0, kernel_size=2, stride=1, via="F", run=F.lp_pool2d)
    g.add("lp_pool2d", Arg(image), 2.0, 2, ceil_mode=True, via="F", run=F.lp_pool2d)
    for shape, dim in (((2, 0, 3), 1), ((0, 2), 0), ((0,), 0)):
        g.add("unique", Arg(torch.ones(shape)), dim=Dim(dim), exact=True, via="f")
    number = lambda v: Arg(torch.tensor(v, dtype=torch.float64), grad=True)
    x = Arg(torch.tensor([NAN, 0.5, -1.0, 2.0, 0.0, 1.0], dtype=torch.float64), grad=True)
    for low, high in ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (NAN, 1.0), (0.0, NAN)):
        g.add("clamp", x, number(low), number(high), exact=True)
        g.add("clamp", x, low, high, exact=True)
    for bound in (0.0, NAN):
        g.add("clamp", x, min=number(bound), exact=True)
        g.add("clamp", x, max=number(bound), exact=True)
    g.add("logit", x, 0.1, via="f")
    flags = torch.tensor([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1]]).reshape(2, 3, 4)
    for dim in (0, 1, 2):
        g.add("unique", Arg(flags), dim=Dim(dim), return_inverse=True, index_out=(1,), exact=True, via="f")
        g.add("unique_consecutive", Arg(flags), dim=Dim(dim), exact=True, via="f")
    for dtype in FLOATS:
        for steps in (1, 2, 4):
            g.add("logspace", 4.3, -3, steps, dtype=dtype, via="f", loose=2)
    for shape, dim, message in (((2, 0), 0, "There are 0 sized dimensions, and they aren't selected"), ((0, 3, 0), 0, "Number of zero sized dimensions is more than one")):
        g.fails("unique", Arg(torch.ones(shape)), dim=Dim(dim), message=message)


def places(g):
    grid = torch.tensor([[[[NAN, 0.0], [0.0, NAN], [INF, 0.0], [-INF, 0.5], [0.25, -0.5]]]])
    image = torch.arange(9.0).reshape(1, 1, 3, 3)
    deep = torch.tensor([[[[[NAN, 0.0, 0.1], [0.1, NAN, 0.2], [0.3, 0.3, -0.3]]]]])
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                g.add("grid_sample", Arg(image), Arg(grid), mode, padding, align, via="F", run=F.grid_sample)
            if mode != "bicubic":
                g.add("grid_sample", Arg(torch.arange(8.0).reshape(1, 1, 2, 2, 2)), Arg(deep), mode, padding, False, via="F", run=F.grid_sample)
    line = torch.arange(1.0, 6.0).reshape(1, 1, 5)
    for mode in ("circular", "reflect", "replicate"):
        for pad in ((-1, 2), (2, -1), (-1, -1), (-2, 3), (1, 1), (-2, 2)):
            g.add("pad", Arg(line), list(pad), mode, via="F", exact=True, run=F.pad)
    plane = torch.arange(12.0).reshape(1, 1, 3, 4)
    g.add("pad", Arg(plane), [-1, 2, 2, -1], "circular", via="F", exact=True, run=F.pad)
    for dtype in (torch.float32, torch.float64):
        x = torch.arange(8, dtype=dtype).reshape(1, 1, 8)
        for factor in (1.3, 1.7, 0.6):
            for align in (False, True):
                g.add("interpolate", Arg(x), scale_factor=factor, mode="linear", align_corners=align,
                      recompute_scale_factor=False, via="F", run=F.interpolate)
            g.add("interpolate", Arg(x), scale_factor=factor, mode="nearest", via="F", run=F.interpolate)
    for factor in (NAN, INF):
        g.fails("interpolate", Arg(torch.ones(1, 1, 4)), scale_factor=factor, via="F", run=F.interpolate,
                message="value cannot be converted to type int64_t without overflow")
    for shape_a, shape_b in (((1, 2, 3), (2, 1, 3)), ((2, 1, 3), (1, 2, 3)), ((2, 3), (3,)), ((1, 3), (4, 1))):
        a = torch.arange(1.0, 7.0)[: torch.Size(shape_a).numel()].reshape(shape_a)
        b = (torch.arange(6.0) - 2.5)[: torch.Size(shape_b).numel()].reshape(shape_b)
        for dim in range(max(len(shape_a), len(shape_b))):
            g.add("cosine_similarity", Arg(a, grad=True), Arg(b, grad=True), Dim(dim), via="F", run=F.cosine_similarity)
    two = torch.arange(1.0, 5.0).reshape(2, 2)
    for op in ("tril", "triu"):
        for diagonal in (2**63 - 1, 2**62, -2**62):
            g.add(op, Arg(two), diagonal, exact=True)


def write(path):
    g = Group()
    fills(g)
    products(g)
    ranges(g)
    places(g)
    pixels(g)
    dtypes_of_sums(g)
    edges(g)
    return g.write(path, "Numbers that fit or not, scales of integers, ranges, places")
