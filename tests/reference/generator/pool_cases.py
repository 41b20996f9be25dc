"""Max, average and adaptive pools."""

import torch
import torch.nn.functional as F

from .cases import FLOATS, INF, NAN, Arg, Group, distinct, values

SHAPES = {1: (2, 3, 9), 2: (2, 3, 7, 6), 3: (1, 2, 5, 4, 6)}


def maximum(g, d, dtype):
    op = f"max_pool{d}d"
    settings = [{"kernel_size": 2}, {"kernel_size": 3, "stride": 2}, {"kernel_size": 3, "stride": 1, "padding": 1},
                {"kernel_size": 2, "ceil_mode": True}, {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
                {"kernel_size": 2, "stride": 1, "dilation": 2}, {"kernel_size": 3, "padding": 1, "dilation": 2, "stride": 1},
                {"kernel_size": [2] * d, "stride": [1] * d, "padding": [1] * d, "dilation": [1] * d}]
    for kwargs in settings:
        x = distinct(dtype, *SHAPES[d])
        if d == 3 and kwargs.get("dilation") == 2 and kwargs["kernel_size"] == 3:
            continue
        g.add(op, Arg(x, grad=True), run=getattr(F, op), via="F", **kwargs)
        g.add(op, Arg(x, grad=True), run=getattr(F, op), via="F", return_indices=True, index_out=(1,), **kwargs)
    g.add(op, Arg(distinct(dtype, *SHAPES[d][1:]), grad=True), 2, run=getattr(F, op), via="F")
    g.add(op, Arg(distinct(dtype, *SHAPES[d]), "transpose", grad=True), 2, run=getattr(F, op), via="F")
    g.add(f"max_pool{d}d", Arg(distinct(dtype, *SHAPES[d])), 2, 1, run=getattr(torch, op), via="f")
    special = torch.tensor([1.0, NAN, -INF, -INF, INF, 2.0, -INF, -INF], dtype=dtype).reshape(1, *[1] * (d - 1), 8)
    g.add(op, Arg(special), [1] * (d - 1) + [2], run=getattr(F, op), via="F", return_indices=True, index_out=(1,), exact=True)


def average(g, d, dtype):
    op = f"avg_pool{d}d"
    settings = [{"kernel_size": 2}, {"kernel_size": 3, "stride": 2}, {"kernel_size": 3, "stride": 1, "padding": 1},
                {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}, {"kernel_size": 2, "ceil_mode": True},
                {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
                {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False},
                {"kernel_size": [2] * d, "stride": [1] * d, "padding": [1] * d}]
    if d > 1:
        settings += [{"kernel_size": 2, "divisor_override": 3}, {"kernel_size": 3, "stride": 2, "padding": 1, "divisor_override": 2},
                     {"kernel_size": 2, "divisor_override": -1}]
    for kwargs in settings:
        g.add(op, Arg(values(dtype, *SHAPES[d]), grad=True), run=getattr(F, op), via="F", **kwargs)
    g.add(op, Arg(values(dtype, *SHAPES[d][1:]), grad=True), 2, run=getattr(F, op), via="F")
    g.add(op, Arg(values(dtype, *SHAPES[d]), "transpose", grad=True), 2, run=getattr(F, op), via="F")
    if d == 2:
        for shape in ((2, 3, 8, 8), (3, 5, 8), (1, 2, 2, 2), (1, 1, 3, 9)):
            g.add(op, Arg(values(dtype, *shape), grad=True), 2, run=getattr(F, op), via="F")
        g.add(op, Arg(values(dtype, 0, 3, 4, 4), grad=True), 2, run=getattr(F, op), via="F")


def adaptive(g, d, dtype):
    for size in (1, 2, 3, 5, SHAPES[d][-1], 8):
        x = distinct(dtype, *SHAPES[d])
        g.add(f"adaptive_avg_pool{d}d", Arg(x, grad=True), size, run=getattr(F, f"adaptive_avg_pool{d}d"), via="F")
        g.add(f"adaptive_max_pool{d}d", Arg(x, grad=True), size, run=getattr(F, f"adaptive_max_pool{d}d"), via="F")
        g.add(f"adaptive_max_pool{d}d", Arg(x, grad=True), size, run=getattr(F, f"adaptive_max_pool{d}d"), via="F", return_indices=True, index_out=(1,))
    for name in ("avg", "max"):
        run = getattr(F, f"adaptive_{name}_pool{d}d")
        g.add(f"adaptive_{name}_pool{d}d", Arg(distinct(dtype, *SHAPES[d][1:]), grad=True), [2] * d, run=run, via="F")
        g.add(f"adaptive_{name}_pool{d}d", Arg(distinct(dtype, *SHAPES[d]), "transpose", grad=True), list(range(2, 2 + d)), run=run, via="F")
    if d == 2:
        g.add("adaptive_avg_pool2d", Arg(values(dtype, 0, 1, 3, 4), grad=True), 2, run=F.adaptive_avg_pool2d, via="F")
        g.add("adaptive_avg_pool2d", Arg(values(dtype, 1, 1, 3, 4)), 0, run=F.adaptive_avg_pool2d, via="F")


def halves(g):
    for dtype in (torch.float16, torch.bfloat16):
        x = values(dtype, 2, 3, 6, 5)
        g.add("max_pool2d", Arg(distinct(torch.float32, 2, 3, 4, 4).to(dtype), grad=True), 2, run=F.max_pool2d, via="F", return_indices=True, index_out=(1,))
        g.add("avg_pool2d", Arg(x, grad=True), 2, run=F.avg_pool2d, via="F", padding=1)
        g.add("avg_pool1d", Arg(values(dtype, 2, 3, 8), grad=True), 2, run=F.avg_pool1d, via="F")
        g.add("max_pool1d", Arg(distinct(torch.float32, 2, 1, 8).to(dtype), grad=True), 2, run=F.max_pool1d, via="F")
        g.add("adaptive_avg_pool2d", Arg(x, grad=True), 2, run=F.adaptive_avg_pool2d, via="F")
        g.add("adaptive_max_pool2d", Arg(distinct(torch.float32, 2, 3, 4, 4).to(dtype), grad=True), 2, run=F.adaptive_max_pool2d, via="F")


def errors(g):
    def wrong(op, shape, *args, message, dtype=torch.float32, **kwargs):
        g.fails(op, Arg(torch.ones(shape, dtype=dtype)), *args, message=message, run=getattr(F, op), via="F", **kwargs)

    x = (1, 3, 5, 5)
    wrong("max_pool2d", x, 2, padding=2, message="pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1")
    wrong("max_pool2d", x, 2, stride=0, message="stride should not be zero")
    wrong("max_pool2d", x, 6, message="Given input size: (3x5x5). Calculated output size: (3x0x0). Output size is too small")
    wrong("max_pool2d", x, [2, 2, 2], message="max_pool2d: kernel_size must either be a single int, or a tuple of two ints")
    wrong("max_pool2d", x, 2, [1, 2, 3], message="max_pool2d: stride must either be omitted, a single int, or a tuple of two ints")
    wrong("max_pool2d", x, 2, padding=[1, 2, 3], message="max_pool2d: padding must either be a single int, or a tuple of two ints")
    wrong("max_pool2d", x, 2, padding=-1, message="pad must be non-negative, but got pad: -1")
    wrong("max_pool2d", (1, 0, 4, 4), 2, message="Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:[1, 0, 4, 4]")
    wrong("max_pool1d", (5,), 2, message="max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:[5]")
    wrong("max_pool1d", (1, 1, 5), 6, message="max_pool1d() Invalid computed output size: 0")
    wrong("max_pool1d", (1, 1, 5), 2, padding=2, message="max_pool1d() padding should be at most half of kernel size, but got padding=2 and kernel_size=2")
    wrong("max_pool1d", (1, 1, 5), 0, message="max_pool1d() kernel_size must be greater than zero, but got 0")
    wrong("max_pool3d", (1, 5, 5, 5), 6, message="Given input size: (1x5x5x5). Calculated output size: (1x0x0x0). Output size is too small")
    wrong("avg_pool2d", x, 2, padding=2, message="pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1")
    wrong("avg_pool2d", x, 6, message="Given input size: (3x5x5). Calculated output size: (3x0x0). Output size is too small")
    wrong("avg_pool2d", x, 2, divisor_override=0, message="divisor must be not zero")
    wrong("avg_pool2d", x, [2, 2, 2], message="avg_pool2d: kernel_size must either be a single int, or a tuple of two ints")
    wrong("avg_pool2d", x, 2, stride=0, message="stride should not be zero")
    wrong("adaptive_avg_pool2d", (5, 5), 2, message="adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got [5, 5]")
    wrong("adaptive_avg_pool2d", x, -1, message="adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received")
    wrong("adaptive_avg_pool2d", (1, 1, 0, 4), 2, message="adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [1, 1, 0, 4] with dimension")
    wrong("adaptive_max_pool2d", (1, 1, 0, 4), 2, message="adaptive_max_pool2d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes [1, 1, 0, 4] with dimension")
    for op in ("adaptive_avg_pool2d", "adaptive_max_pool2d"):
        wrong(op, x, 2, dtype=torch.int64, message=f"\"{op}\" not implemented for 'Long'")
    wrong("avg_pool2d", x, 2, dtype=torch.int32, message="\"avg_pool2d\" not implemented for 'Int'")
    wrong("max_pool2d", x, 2, dtype=torch.bool, message="\"max_pool2d\" not implemented for 'Bool'")


def write(path):
    g = Group()
    for dtype in (torch.float32, torch.float64):
        for d in (1, 2, 3):
            maximum(g, d, dtype)
            average(g, d, dtype)
            adaptive(g, d, dtype)
    halves(g)
    errors(g)
    return g.write(path, "Max, average and adaptive pools.")
