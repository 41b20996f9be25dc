"""Convolutions and pools of integers, and windows of bools as columns: the dtypes that PyTorch's CPU has them of."""

import torch
import torch.nn.functional as F

from . import conv_cases
from .cases import DTYPES, Arg, Group, distinct, values

INTEGERS = [dtype for dtype in DTYPES if not dtype.is_floating_point and dtype is not torch.bool]
SHAPES = {1: (2, 2, 9), 2: (2, 2, 7, 6), 3: (1, 2, 4, 4, 5)}


def convolutions(g):
    for dtype in INTEGERS:
        for part in (conv_cases.one_dimension, conv_cases.two_dimensions, conv_cases.three_dimensions):
            if dtype is torch.int64 or part is conv_cases.one_dimension:
                part(g, dtype)
    for op, shape in (("conv1d", (1, 1, 3)), ("conv_transpose1d", (1, 1, 3))):
        far = torch.tensor([2**62, -(2**63), 3]).reshape(shape)
        g.add(op, Arg(far), Arg(torch.tensor([[[2, 5]]])), Arg(torch.tensor([-1])), run=getattr(F, op), via="F", exact=True)
    g.add("conv1d", Arg(torch.tensor([[[100, 120, -128]]], dtype=torch.int8)), Arg(torch.tensor([[[2, 3]]], dtype=torch.int8)), run=F.conv1d, via="F", exact=True)
    for sizes in ((0, 2, 5), (2, 2, 5)):
        g.add("conv1d", Arg(torch.ones(sizes, dtype=torch.int64)), Arg(torch.ones(3, 2, 2, dtype=torch.int64)), run=F.conv1d, via="F", exact=True)
    g.fails("conv1d", Arg(torch.ones(1, 1, 4, dtype=torch.int64)), Arg(torch.ones(1, 1, 2)), run=F.conv1d, via="F",
            message="expected scalar type Long but found Float")
    g.fails("conv2d", Arg(torch.ones(1, 1, 4, 4, dtype=torch.bool)), Arg(torch.ones(1, 1, 2, 2, dtype=torch.bool)), run=F.conv2d, via="F",
            message="not implemented for 'Bool'")


def extremes(g):
    settings = [{"kernel_size": 2}, {"kernel_size": 3, "stride": 1, "padding": 1}, {"kernel_size": 2, "ceil_mode": True},
                {"kernel_size": 2, "stride": 1, "dilation": 2}]
    for dtype in INTEGERS:
        for d in (1, 2, 3):
            for kwargs in settings:
                g.add(f"max_pool{d}d", Arg(values(dtype, *SHAPES[d])), run=getattr(F, f"max_pool{d}d"), via="F", exact=True,
                      return_indices=True, index_out=(1,), **kwargs)
                if d > 1:
                    g.add(f"max_pool{d}d", Arg(values(dtype, *SHAPES[d])), run=getattr(F, f"max_pool{d}d"), via="F", exact=True, **kwargs)
        least = torch.full((1, 1, 3, 9), torch.iinfo(dtype).min, dtype=dtype)
        least[..., 5] = torch.iinfo(dtype).max
        g.add("max_pool2d", Arg(least), 3, 1, 1, run=F.max_pool2d, via="F", return_indices=True, index_out=(1,), exact=True)
        g.add("max_pool2d", Arg(distinct(dtype, 1, 2, 4, 4), "transpose"), 2, run=F.max_pool2d, via="F", exact=True)


def averages(g):
    dtype = torch.int64
    for d in (1, 2, 3):
        op = f"avg_pool{d}d"
        settings = [{"kernel_size": 2}, {"kernel_size": 3, "stride": 1, "padding": 1}, {"kernel_size": 2, "ceil_mode": True},
                    {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}]
        if d > 1:
            settings += [{"kernel_size": 2, "divisor_override": 3}, {"kernel_size": 2, "divisor_override": -1}]
        for kwargs in settings:
            g.add(op, Arg(values(dtype, *SHAPES[d])), run=getattr(F, op), via="F", exact=True, **kwargs)
    far = torch.full((1, 1, 4, 10), 2**62)
    for kernel in (2, 3, [4, 10]):
        g.add("avg_pool2d", Arg(far), kernel, run=F.avg_pool2d, via="F", exact=True)
    for name in ("lp_pool1d", "lp_pool2d"):
        g.add(name, Arg(values(dtype, *SHAPES[int(name[-2])])), 2, 2, run=getattr(F, name), via="F", loose=4)


def columns(g):
    x = values(torch.bool, 2, 3, 4, 5)
    for kwargs in ({"kernel_size": 2}, {"kernel_size": [2, 3], "padding": 1, "stride": 2}, {"kernel_size": 2, "dilation": 2}):
        windows = F.unfold(x, **kwargs)
        g.add("unfold", Arg(x), run=F.unfold, via="F", exact=True, **kwargs)
        g.add("fold", Arg(windows), [4, 5], run=F.fold, via="F", exact=True, **kwargs)
    g.fails("unfold", Arg(torch.ones(1, 1, 4, 4, dtype=torch.int64)), 2, run=F.unfold, via="F", message="not implemented for 'Long'")
    g.fails("fold", Arg(torch.ones(1, 4, 9, dtype=torch.int32)), [4, 4], 2, run=F.fold, via="F", message="not implemented for 'Int'")


def write(path):
    g = Group()
    for part in (convolutions, extremes, averages, columns):
        part(g)
    return g.write(path, "Convolutions, pools and windows of integers and bools.")
