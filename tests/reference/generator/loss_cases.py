"""The losses of torch.nn.functional, and distances."""

import torch
import torch.nn.functional as F

from .cases import FLOATS, Arg, Dim, Group, Idx, positive, values

REDUCTIONS = ("mean", "sum", "none")


def add(g, name, *args, **kwargs):
    g.add(name, *args, run=getattr(F, name), via="F", loose=4, **kwargs)


def both(dtype, *shape):
    return Arg(values(dtype, *shape), grad=True), Arg(values(dtype, *shape), grad=True)


def probabilities(dtype, *shape):
    return values(dtype, *shape, low=0.05, high=0.95)


def signs(dtype, *shape):
    return torch.where(torch.rand(shape) < 0.5, -1, 1).to(dtype)


def pairs(g):
    for dtype in FLOATS:
        add(g, "l1_loss", *both(dtype, 3, 4))
        add(g, "smooth_l1_loss", *both(dtype, 3, 4))
        add(g, "huber_loss", *both(dtype, 3, 4))
        add(g, "binary_cross_entropy", Arg(probabilities(dtype, 3, 4), grad=True), Arg(probabilities(dtype, 3, 4)))
        add(g, "kl_div", *both(dtype, 3, 4), reduction="sum", log_target=True)
        add(g, "poisson_nll_loss", Arg(values(dtype, 3, 4), grad=True), Arg(positive(dtype, 3, 4)))
        add(g, "soft_margin_loss", Arg(values(dtype, 3, 4), grad=True), Arg(signs(dtype, 3, 4)))
    for dtype in (torch.float32, torch.float64):
        for reduction in REDUCTIONS:
            for name in ("mse_loss", "l1_loss", "huber_loss"):
                add(g, name, *both(dtype, 3, 4), weight=Arg(positive(dtype, 3, 4)), reduction=reduction)
            add(g, "l1_loss", *both(dtype, 5), reduction=reduction)
            for beta in (0.0, 0.5, 2.0):
                add(g, "smooth_l1_loss", *both(dtype, 2, 5), reduction=reduction, beta=beta)
            for delta in (0.3, 2.0):
                add(g, "huber_loss", *both(dtype, 2, 5), reduction=reduction, delta=delta)
            p = Arg(probabilities(dtype, 2, 5), grad=True)
            add(g, "binary_cross_entropy", p, Arg(probabilities(dtype, 2, 5), grad=True), reduction=reduction)
            add(g, "binary_cross_entropy", p, Arg(probabilities(dtype, 2, 5)), Arg(positive(dtype, 5)), reduction=reduction)
            x = Arg(values(dtype, 2, 5), grad=True)
            add(g, "binary_cross_entropy_with_logits", x, Arg(probabilities(dtype, 2, 5)), reduction=reduction)
            add(g, "kl_div", x, Arg(torch.tensor([[0.0, 0.1, 0.4, 0.3, 0.2]] * 2, dtype=dtype)), reduction=reduction)
            for log_input in (True, False):
                for full in (True, False):
                    add(g, "poisson_nll_loss", Arg(positive(dtype, 2, 5), grad=True), Arg(positive(dtype, 2, 5)), log_input, full, reduction=reduction)
            for var in (positive(dtype, 2, 5), positive(dtype, 2, 1), positive(dtype, 2)):
                add(g, "gaussian_nll_loss", *both(dtype, 2, 5), Arg(var, grad=True), full=reduction == "sum", reduction=reduction)
            add(g, "soft_margin_loss", x, Arg(signs(dtype, 2, 5)), reduction=reduction)
            add(g, "multilabel_soft_margin_loss", x, Arg((values(dtype, 2, 5) > 0).to(dtype)), reduction=reduction)
            add(g, "multilabel_soft_margin_loss", x, Arg((values(dtype, 2, 5) > 0).to(dtype)), Arg(positive(dtype, 5)), reduction=reduction)
        add(g, "kl_div", *both(dtype, 2, 5), reduction="batchmean", log_target=True)
        add(g, "binary_cross_entropy", Arg(torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=dtype)), Arg(torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=dtype)), reduction="none")
        add(g, "gaussian_nll_loss", *both(dtype, 2, 3), Arg(torch.tensor([[0.0, 1e-8, 2.0]] * 2, dtype=dtype)), reduction="none")
        add(g, "mse_loss", Arg(values(dtype, 0), grad=True), Arg(values(dtype, 0)), reduction="sum")
        add(g, "mse_loss", Arg(torch.tensor(1.5, dtype=dtype), grad=True), Arg(torch.tensor(0.5, dtype=dtype)))
        add(g, "smooth_l1_loss", Arg(values(dtype, 4, 3), "transpose", grad=True), Arg(values(dtype, 3, 4)))
    fails = lambda name, *args, message, **kw: g.fails(name, *args, run=getattr(F, name), via="F", message=message, **kw)
    ones = Arg(torch.ones(2))
    fails("smooth_l1_loss", ones, ones, beta=-1.0, message="smooth_l1_loss does not support negative values for beta.")
    fails("huber_loss", ones, ones, delta=0.0, message="huber_loss does not support non-positive values for delta.")
    fails("mse_loss", ones, ones, weight=Arg(torch.ones(3)), message="Weights and input must have the same size.")
    fails("binary_cross_entropy", ones, Arg(torch.ones(3)), message="is deprecated. Please ensure they have the same size.")
    fails("gaussian_nll_loss", ones, ones, Arg(torch.ones(3)), message="var is of incorrect size")
    fails("l1_loss", ones, ones, reduction="max", message="is not a valid value for reduction")


def margins(g):
    for dtype in (torch.int64, torch.uint8):
        for margin in (1.0, 2.7):
            for reduction in ("none", "sum"):
                add(g, "hinge_embedding_loss", Arg(torch.tensor([0, -3, 1, 2, 0]).to(dtype)), Arg(torch.tensor([-1, -1, -1, 1, 2]).to(dtype)), margin, reduction=reduction)
    for dtype in (torch.float32, torch.float64):
        for reduction in REDUCTIONS:
            x = Arg(values(dtype, 3, 4), grad=True)
            for margin in (0.5, 2.0):
                add(g, "hinge_embedding_loss", x, Arg(signs(dtype, 3, 4)), margin, reduction=reduction)
                add(g, "margin_ranking_loss", *both(dtype, 5), Arg(signs(dtype, 5)), margin, reduction=reduction)
                add(g, "cosine_embedding_loss", *both(dtype, 4, 3), Arg(signs(dtype, 4)), margin / 4, reduction=reduction)
            add(g, "cosine_embedding_loss", *both(dtype, 3), Arg(torch.tensor(1.0, dtype=dtype)), reduction=reduction)
            for p, swap in ((2.0, False), (2.0, True), (1.0, False), (3.0, True)):
                add(g, "triplet_margin_loss", *both(dtype, 4, 3), Arg(values(dtype, 4, 3), grad=True), p=p, swap=swap, reduction=reduction)
            for p in (1, 2):
                add(g, "multi_margin_loss", x, Idx([0, 3, 1]), p, 1.5, reduction=reduction)
                add(g, "multi_margin_loss", x, Idx([0, 3, 1]), p, weight=Arg(positive(dtype, 4)), reduction=reduction)
            add(g, "multi_margin_loss", Arg(values(dtype, 4), grad=True), Idx(torch.tensor(2)), reduction=reduction)
            add(g, "multilabel_margin_loss", x, Idx([[3, 0, -1, 1], [2, -1, 0, 0], [-1, 1, 2, 3]]), reduction=reduction)
            add(g, "multilabel_margin_loss", Arg(values(dtype, 4), grad=True), Idx([3, 0, -1, 1]), reduction=reduction)
    g.fails("multi_margin_loss", Arg(torch.ones(2, 3)), Idx([0, 3]), run=F.multi_margin_loss, via="F", message="out of ")
    g.fails("multi_margin_loss", Arg(torch.ones(2, 3)), Idx([0]), run=F.multi_margin_loss, via="F", message="Expected target size [2], but got [1]. Input has shape [2, 3].")
    g.fails("multilabel_margin_loss", Arg(torch.ones(2, 3)), Idx([[0, 1]]), run=F.multilabel_margin_loss, via="F", message="inconsistent target size: [1, 2] for input of size: [2, 3]")


def distances(g):
    for dtype in (torch.float32, torch.float64):
        for p in (1.0, 2.0, 3.0):
            add(g, "pairwise_distance", *both(dtype, 3, 4), p=p)
            add(g, "pdist", Arg(values(dtype, 4, 3), grad=True), p)
            for dim in (0, 1, -1):
                add(g, "normalize", Arg(values(dtype, 3, 4), grad=True), p, Dim(dim))
        add(g, "pairwise_distance", *both(dtype, 3, 4), keepdim=True, eps=0.1)
        add(g, "pairwise_distance", Arg(values(dtype, 3, 4), grad=True), Arg(values(dtype, 4), grad=True))
        add(g, "normalize", Arg(torch.zeros(2, 3, dtype=dtype), grad=True))
        for dim in (0, 1, -1):
            add(g, "cosine_similarity", *both(dtype, 3, 4), Dim(dim))
        add(g, "cosine_similarity", Arg(values(dtype, 2, 3, 4), grad=True), Arg(values(dtype, 1, 3, 4), grad=True), Dim(-1))
        add(g, "cosine_similarity", *both(dtype, 2, 3), eps=10.0)
    g.fails("pdist", Arg(torch.ones(3)), run=F.pdist, via="F", message="pdist only supports 2D tensors, got: 1D")


def write(path):
    g = Group()
    pairs(g)
    margins(g)
    distances(g)
    return g.write(path, "Losses and distances.")
