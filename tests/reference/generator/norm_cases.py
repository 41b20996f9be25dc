"""Normalization: layer_norm, rms_norm, group_norm, batch_norm, instance_norm, local_response_norm."""

import torch
import torch.nn.functional as F

from .cases import FLOATS, Arg, Group, positive, values


def in_float(name):
    """The function computed in float and rounded once; PyTorch's own keeps the statistics of half types in them."""

    def widen(value):
        return value.float() if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16) else value

    def run(*args, **kwargs):
        return getattr(F, name)(*map(widen, args), **{k: widen(v) for k, v in kwargs.items()}).to(args[0].dtype)

    return run


def add(g, name, *args, **kwargs):
    g.add(name, *args, run=in_float(name), via="F", loose=20, **kwargs)


def rows(g):
    for dtype in FLOATS:
        for shape, normal in (((3, 5), [5]), ((2, 3, 4), [3, 4]), ((5,), [5])):
            x, w, b = values(dtype, *shape), values(dtype, *normal), values(dtype, *normal)
            add(g, "layer_norm", Arg(x, grad=True), normal)
            add(g, "layer_norm", Arg(x, grad=True), normal, Arg(w, grad=True), Arg(b, grad=True))
            add(g, "rms_norm", Arg(x, grad=True), normal, Arg(w, grad=True), eps=1e-5)
        add(g, "layer_norm", Arg(values(dtype, 3, 5), grad=True), [5], Arg(values(dtype, 5), grad=True), None, 0.1)
    for dtype in (torch.float32, torch.float64):
        add(g, "rms_norm", Arg(values(dtype, 3, 5), grad=True), [5])
        add(g, "layer_norm", Arg(values(dtype, 5, 3), "transpose", grad=True), [5], Arg(values(dtype, 5), grad=True), Arg(values(dtype, 5), grad=True))
        add(g, "layer_norm", Arg(values(dtype, 3, 10), "step", grad=True), [5], Arg(values(dtype, 5), grad=True), None)
        add(g, "layer_norm", Arg(values(dtype, 0, 5), grad=True), [5], Arg(values(dtype, 5), grad=True), Arg(values(dtype, 5), grad=True))
        add(g, "layer_norm", Arg(values(dtype, 3, 5, low=10, high=12), grad=True), [5])
        for n in (70, 130):
            add(g, "layer_norm", Arg(values(dtype, 2, n), grad=True), [n], Arg(values(dtype, n), grad=True), Arg(values(dtype, n), grad=True))
            add(g, "rms_norm", Arg(values(dtype, 2, n), grad=True), [n], Arg(values(dtype, n), grad=True))
        add(g, "group_norm", Arg(values(dtype, 2, 2, 40), grad=True), 1, Arg(values(dtype, 2), grad=True), Arg(values(dtype, 2), grad=True))
        add(g, "batch_norm", Arg(values(dtype, 2, 2, 40), grad=True), None, None, Arg(values(dtype, 2), grad=True), Arg(values(dtype, 2), grad=True), True)
        add(g, "layer_norm", Arg(values(dtype, 40, 6), grad=True), [6], Arg(values(dtype, 6), grad=True), Arg(values(dtype, 6), grad=True))
    g.fails("layer_norm", Arg(torch.ones(3, 5)), [4], run=F.layer_norm, via="F", message="Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[3, 5]")
    g.fails("layer_norm", Arg(torch.ones(3, 5)), [5], Arg(torch.ones(4)), run=F.layer_norm, via="F", message="Expected weight to be of same shape as normalized_shape, but got weight of shape [4] and normalized_shape = [5]")


def channels(g):
    for dtype in FLOATS:
        for shape in ((4, 6), (2, 6, 3), (2, 6, 2, 2)):
            x, w, b = values(dtype, *shape), values(dtype, 6), values(dtype, 6)
            half = dtype in (torch.float16, torch.bfloat16)  # few elements to a mean, in few digits, are anybody's guess
            for groups in (1, 2) if half else (1, 3, 6):
                if len(shape) > 2 or groups == 1:
                    add(g, "group_norm", Arg(x, grad=True), groups, Arg(w, grad=True), Arg(b, grad=True))
            add(g, "batch_norm", Arg(x, grad=True), None, None, Arg(w, grad=True), Arg(b, grad=True), True)
            add(g, "batch_norm", Arg(x, grad=True), Arg(values(dtype, 6)), Arg(positive(dtype, 6)), Arg(w, grad=True), Arg(b, grad=True), False)
            if len(shape) > 2 and not half:
                add(g, "instance_norm", Arg(x, grad=True), None, None, Arg(w, grad=True), Arg(b, grad=True))
        add(g, "instance_norm", Arg(values(dtype, 2, 2, 10), grad=True), None, None, Arg(values(dtype, 2), grad=True), Arg(values(dtype, 2), grad=True))
        add(g, "group_norm", Arg(values(dtype, 2, 6, 3), grad=True), 2)
        add(g, "batch_norm", Arg(values(dtype, 4, 3), grad=True), None, None, None, None, True, 0.1, 0.5)
    for dtype in (torch.float32, torch.float64):
        add(g, "batch_norm", Arg(values(dtype, 70, 3), grad=True), None, None, Arg(values(dtype, 3), grad=True), None, True)
        add(g, "batch_norm", Arg(values(dtype, 2, 4, 3), "transpose", grad=True), None, None, Arg(values(dtype, 3), grad=True), None, True)
        add(g, "batch_norm", Arg(values(dtype, 3, 70), grad=True), None, None, Arg(values(dtype, 70), grad=True), Arg(values(dtype, 70), grad=True), True)
        add(g, "batch_norm", Arg(values(dtype, 6, 2, 3, low=10, high=12), grad=True), None, None, None, None, True)
        add(g, "instance_norm", Arg(values(dtype, 2, 3, 4), grad=True), Arg(values(dtype, 3)), Arg(positive(dtype, 3)), use_input_stats=False)
        for size in (1, 2, 3, 7):
            add(g, "local_response_norm", Arg(values(dtype, 2, 4, 3), grad=True), size, 0.5, 0.75, 1.5)
    g.fails("batch_norm", Arg(torch.ones(1, 3)), None, None, None, None, True, run=F.batch_norm, via="F", message="Expected more than 1 value per channel when training")
    g.fails("batch_norm", Arg(torch.ones(2, 3)), Arg(torch.ones(4)), Arg(torch.ones(4)), run=F.batch_norm, via="F", message="running_mean should contain 3 elements not 4")
    g.fails("group_norm", Arg(torch.ones(2, 5)), 2, run=F.group_norm, via="F", message="Expected number of channels in input to be divisible by num_groups, but got input of shape [2, 5] and num_groups=2")
    g.fails("group_norm", Arg(torch.ones(2, 4)), 2, Arg(torch.ones(3)), run=F.group_norm, via="F", message="Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape [3] and input of shape [2, 4]")


def write(path):
    g = Group()
    rows(g)
    channels(g)
    return g.write(path, "Normalization.")
