"""affine_grid, grid_sample, interpolate with antialiasing, triplet_margin_with_distance_loss."""

import torch
import torch.nn.functional as F

from .cases import Arg, Group, values


def write(path):
    g = Group()
    add = lambda name, *args, **kw: g.add(name, *args, run=getattr(F, name), via="F", loose=8, **kw)
    for dtype in (torch.float32, torch.float64):
        for align in (True, False):
            add("affine_grid", Arg(values(dtype, 2, 2, 3), grad=True), [2, 1, 3, 4], align)
            add("affine_grid", Arg(values(dtype, 1, 3, 4), grad=True), [1, 2, 2, 3, 1], align)
            for padding in ("zeros", "border", "reflection"):
                for mode in ("bilinear", "nearest", "bicubic"):
                    image = Arg(values(dtype, 2, 2, 4, 3), grad=True)
                    grid = values(dtype, 2, 2, 3, 2, low=-1.9, high=1.9)
                    add("grid_sample", image, Arg(grid, grad=mode != "nearest"), mode, padding, align)
                volume, places = values(dtype, 1, 2, 3, 2, 4), values(dtype, 1, 2, 1, 3, 3, low=-1.9, high=1.9)
                for mode in ("bilinear", "nearest"):
                    add("grid_sample", Arg(volume, grad=True), Arg(places, grad=mode != "nearest"), mode, padding, align)
        a, p, n = (Arg(values(dtype, 3, 4), grad=True) for _ in range(3))
        for reduction in ("mean", "sum", "none"):
            add("triplet_margin_with_distance_loss", a, p, n, margin=2.0, swap=reduction == "sum", reduction=reduction)
        for mode in ("bilinear", "bicubic", "lanczos"):
            for size in ([3, 2], [5, 4], [9, 13]):
                for align in (False, True):
                    if align and mode == "lanczos":
                        continue
                    add("interpolate", Arg(values(dtype, 2, 1, 7, 5), grad=True), size=size, mode=mode, align_corners=align, antialias=True)
            add("interpolate", Arg(values(dtype, 1, 2, 6, 9), "transpose", grad=True), scale_factor=0.4, mode=mode, antialias=True)
    image = Arg(torch.ones(1, 1, 2, 2))
    fails = lambda name, *args, message, **kw: g.fails(name, *args, run=getattr(F, name), via="F", message=message, **kw)
    fails("grid_sample", image, Arg(torch.ones(1, 2, 2, 3)), message="grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes [1, 2, 2, 3]")
    fails("grid_sample", image, Arg(torch.ones(2, 2, 2, 2)), message="expected grid and input to have same batch size")
    fails("grid_sample", image, Arg(torch.ones(1, 2, 2, 2)), "linear", message="expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: 'linear'")
    fails("affine_grid", Arg(torch.ones(1, 2, 2)), [1, 1, 2, 2], message="Expected a batch of 2D affine matrices of shape Nx2x3")
    refused = "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
    fails("interpolate", image, size=[1, 1], mode="nearest", antialias=True, message=refused)
    fails("interpolate", Arg(torch.ones(1, 1, 4)), size=[2], mode="linear", antialias=True, message=refused)
    fails("interpolate", image, size=[1, 1], mode="lanczos", message="Lanczos mode requires antialias=True")
    fails("interpolate", image, size=[1, 1], mode="lanczos", align_corners=True, antialias=True, message="Lanczos mode does not support align_corners=True")
    return g.write(path, "Grids and resampling.")
