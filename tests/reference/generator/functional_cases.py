"""Activations, embeddings, shuffles and the other functions of torch.nn.functional."""

import torch
import torch.nn.functional as F

from .cases import FLOATS, INF, NAN, Arg, Dim, Group, Idx, Pos, positive, values


def add(g, name, *args, run=None, **kwargs):
    g.add(name, *args, run=run or getattr(F, name), via="F", loose=4, **kwargs)


def fails(g, name, *args, message, **kwargs):
    g.fails(name, *args, run=getattr(F, name), via="F", message=message, **kwargs)


CURVES = ("logsigmoid", "softsign", "tanhshrink", "hardshrink", "softshrink")


def activations(g):
    for dtype in FLOATS:
        x = Arg(values(dtype, 3, 4), grad=True)
        for name in CURVES:
            add(g, name, x)
        add(g, "glu", x)
        add(g, "prelu", x, Arg(values(dtype, 4), grad=True))
        add(g, "rrelu", x)
    for dtype in (torch.float32, torch.float64):
        for name in CURVES:
            add(g, name, Arg(torch.tensor([0.0, -0.5, 0.5, 100.0, -100.0, INF, -INF, NAN], dtype=dtype)))
            add(g, name, Arg(torch.tensor(0.7, dtype=dtype), grad=True))
            add(g, name, Arg(values(dtype, 0, 3), grad=True))
            add(g, name, Arg(values(dtype, 4, 3), "transpose", grad=True))
        for name in ("hardshrink", "softshrink"):
            add(g, name, Arg(values(dtype, 5), grad=True), 1.25)
        for dim in (0, 1, -1):
            add(g, "glu", Arg(values(dtype, 2, 4), grad=True), Dim(dim))
        add(g, "prelu", Arg(values(dtype, 2, 3, 4), grad=True), Arg(values(dtype, 3), grad=True))
        add(g, "prelu", Arg(values(dtype, 2, 3, 4), grad=True), Arg(values(dtype, 1), grad=True))
        add(g, "prelu", Arg(values(dtype, 5), grad=True), Arg(torch.tensor(0.25, dtype=dtype), grad=True))
        add(g, "prelu", Arg(torch.tensor(-2.0, dtype=dtype), grad=True), Arg(values(dtype, 1), grad=True))
        add(g, "rrelu", Arg(values(dtype, 5), grad=True), 0.1, 0.5)
        add(g, "rrelu", Arg(values(dtype, 5), grad=True), 0.2, 0.2, True)
    fails(g, "prelu", Arg(torch.ones(2, 3)), Arg(torch.ones(2)), message="Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and channel size = 3.")
    fails(g, "glu", Arg(torch.ones(2, 3)), message="Halving dimension must be even, but dimension ")
    fails(g, "softshrink", Arg(torch.ones(2)), -1.0, message="for input dtype Float, but found -1")
    fails(g, "rrelu", Arg(torch.ones(2)), 0.5, 0.1, message="Lower bound should be less than or equal to the upper bound")


def embeddings(g):
    ids = Idx([2, 0, 3, 2, 1])
    table = Idx([[2, 0, 3], [2, 2, 1]])
    for dtype in FLOATS:
        w = Arg(values(dtype, 4, 3), grad=True)
        add(g, "embedding", ids, w)
        for mode in ("sum", "mean", "max"):
            add(g, "embedding_bag", ids, w, Idx([0, 2, 4]), mode=mode)
    for dtype in (torch.float32, torch.float64):
        w = Arg(values(dtype, 4, 3), grad=True)
        g.add("embedding", w, table, via="f")
        g.add("embedding", w, table, Pos(2), True, via="f")
        add(g, "embedding", table, w, padding_idx=Pos(2))
        add(g, "embedding", table, w, padding_idx=Pos(-1))
        add(g, "embedding", table, w, scale_grad_by_freq=True)
        add(g, "embedding", table, Arg(values(dtype, 4, 3)), None, 1.5)
        add(g, "embedding", table, Arg(values(dtype, 4, 3)), max_norm=1.0, norm_type=1.0)
        add(g, "embedding", Idx(torch.tensor(2)), w)
        add(g, "embedding", Idx(torch.zeros(0, 2, dtype=torch.int64)), w)
        for mode in ("sum", "mean", "max"):
            add(g, "embedding_bag", table, w, mode=mode)
            add(g, "embedding_bag", ids, w, Idx([0, 2, 2, 5]), mode=mode)
            add(g, "embedding_bag", ids, w, Idx([0, 2, 2, 5]), mode=mode, include_last_offset=True)
            add(g, "embedding_bag", ids, w, Idx([0, 3]), mode=mode, padding_idx=Pos(2))
            add(g, "embedding_bag", table, Arg(values(dtype, 4, 3)), mode=mode, max_norm=1.0)
        add(g, "embedding_bag", ids, w, Idx([0, 3]), mode="sum", per_sample_weights=Arg(values(dtype, 5), grad=True))
        add(g, "embedding_bag", table, w, mode="sum", per_sample_weights=Arg(values(dtype, 2, 3), grad=True))
    w = Arg(torch.ones(4, 3))
    fails(g, "embedding", Idx([1, 4]), w, message="out of")
    fails(g, "embedding_bag", ids, w, Idx([0, 2]), mode="last", message="mode has to be one of sum, mean or max")
    fails(g, "embedding_bag", table, w, Idx([0, 2]), message="if input is 2D, then offsets has to be ")
    fails(g, "embedding_bag", ids, w, message="offsets has to be a 1D Tensor but got ")
    fails(g, "embedding_bag", ids, w, Idx([0, 2]), per_sample_weights=Arg(torch.ones(5)), message="per_sample_weights is only supported for mode='sum' (got mode='mean')")


def shuffles(g):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for shape, factor in (((2, 8, 2, 3), 2), ((9, 1, 2), 3), ((2, 3, 2, 2), 1)):
            add(g, "pixel_shuffle", Arg(values(dtype, *shape), grad=True), factor)
        for shape, factor in (((2, 2, 4, 6), 2), ((1, 3, 6), 3), ((2, 3, 2, 2), 1)):
            add(g, "pixel_unshuffle", Arg(values(dtype, *shape), grad=True), factor)
        for groups in (1, 2, 3, 6):
            add(g, "channel_shuffle", Arg(values(dtype, 2, 6, 2, 2)), groups)
    for dtype in (torch.float32, torch.float64):
        add(g, "pixel_shuffle", Arg(values(dtype, 4, 3, 2), "transpose", grad=True), 2)
        add(g, "bilinear", Arg(values(dtype, 4, 3), grad=True), Arg(values(dtype, 4, 2), grad=True), Arg(values(dtype, 5, 3, 2), grad=True), Arg(values(dtype, 5), grad=True))
        add(g, "bilinear", Arg(values(dtype, 2, 4, 3), grad=True), Arg(values(dtype, 2, 4, 2), grad=True), Arg(values(dtype, 5, 3, 2), grad=True))
    fails(g, "pixel_shuffle", Arg(torch.ones(1, 5, 2, 2)), 2, message="is not divisible by 4")
    fails(g, "pixel_unshuffle", Arg(torch.ones(1, 5, 3, 2)), 2, message="pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=3 is not divisible by 2")
    fails(g, "channel_shuffle", Arg(torch.ones(1, 5, 3, 2)), 2, message="Number of channels must be divisible by groups. Got 5 channels and 2 groups.")


def dropouts(g):
    """Without noise, or with nothing but it: what chance does is tested by the seed (functional_spec.lua)."""
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
        shape = (2, 3, 4, 2, 2) if name == "dropout3d" else (2, 3, 4)
        for dtype in (torch.float32, torch.float64):
            add(g, name, Arg(values(dtype, *shape), grad=True), 0.5, False)
            add(g, name, Arg(values(dtype, *shape), grad=True), 0.0, True)
        fails(g, name, Arg(torch.ones(shape)), 1.5, True, message="dropout probability has to be between 0 and 1, but got 1.5")
    g.add("dropout", Arg(values(torch.float32, 3, 4), grad=True), 0.5, False, via="f")
    for tau in (1.0, 0.5):
        g.add("gumbel_softmax", Arg(torch.ones(2, 1)), tau, run=F.gumbel_softmax, via="F")


def write(path):
    g = Group()
    activations(g)
    embeddings(g)
    shuffles(g)
    dropouts(g)
    return g.write(path, "Activations, embeddings, shuffles, dropouts.")
