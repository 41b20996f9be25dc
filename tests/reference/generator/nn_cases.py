"""Losses, nn.functional, and steps of the optimizers."""

import torch
import torch.nn.functional as F

from . import lua
from .cases import FLOATS, INF, Arg, Dim, Group, Idx, values


def losses(g):
    def run(name):
        return getattr(F, name)

    target = Idx([2, 0, 4])
    for dtype in FLOATS:
        logits = values(dtype, 3, 5)
        g.add("cross_entropy", Arg(logits), target, run=run("cross_entropy"), via="F", loose=4)
        g.add("nll_loss", Arg(logits), target, run=run("nll_loss"), via="F")
        g.add("mse_loss", Arg(logits), Arg(values(dtype, 3, 5)), run=run("mse_loss"), via="F")
    for dtype in (torch.float32, torch.float64):
        for op in ("cross_entropy", "nll_loss"):
            for reduction in ("mean", "sum", "none"):
                g.add(op, Arg(values(dtype, 3, 5), grad=True), target, reduction=reduction, run=run(op), via="F")
                g.add(op, Arg(values(dtype, 3, 5), grad=True), target, weight=Arg(values(dtype, 5, low=0.1, high=2.0)), reduction=reduction, run=run(op), via="F")
                g.add(op, Arg(values(dtype, 3, 5), grad=True), Idx([2, -100, 4]), reduction=reduction, run=run(op), via="F")
                g.add(op, Arg(values(dtype, 3, 5), grad=True), target, ignore_index=Dim(0), reduction=reduction, run=run(op), via="F")
            g.add(op, Arg(values(dtype, 5), grad=True), Idx(torch.tensor(3)), run=run(op), via="F")
            g.add(op, Arg(values(dtype, 2, 4, 3), grad=True), Idx(torch.randint(0, 4, (2, 3))), run=run(op), via="F")
            g.add(op, Arg(values(dtype, 5, 3), "transpose", grad=True), target, run=run(op), via="F")
        for reduction in ("mean", "sum", "none"):
            g.add("mse_loss", Arg(values(dtype, 3, 4), grad=True), Arg(values(dtype, 3, 4), grad=True), reduction=reduction, run=run("mse_loss"), via="F")
        g.add("cross_entropy", Arg(torch.tensor([[1000.0, 0.0], [-INF, 0.0]], dtype=dtype), grad=True), Idx([0, 1]), run=run("cross_entropy"), via="F")
        g.add("cross_entropy", Arg(values(dtype, 64, 10), grad=True), Idx(torch.randint(0, 10, (64,))), run=run("cross_entropy"), via="F")
    for dtype in (torch.float32, torch.float64):
        g.add("linear", Arg(values(dtype, 4, 3), grad=True), Arg(values(dtype, 2, 3), grad=True), Arg(values(dtype, 2), grad=True), run=F.linear, via="F")
        g.add("linear", Arg(values(dtype, 2, 4, 3), grad=True), Arg(values(dtype, 2, 3), grad=True), run=F.linear, via="F")
        g.add("linear", Arg(values(dtype, 3), grad=True), Arg(values(dtype, 2, 3), grad=True), Arg(values(dtype, 2)), run=F.linear, via="F")
        g.add("relu", Arg(values(dtype, 3, 3), grad=True), run=F.relu, via="F")
        g.add("softmax", Arg(values(dtype, 3, 3), grad=True), dim=Dim(1), run=F.softmax, via="F")
        g.add("log_softmax", Arg(values(dtype, 3, 3), grad=True), dim=Dim(1), run=F.log_softmax, via="F")
    g.fails("cross_entropy", Arg(torch.ones(3, 5)), Idx([0, 1]), run=F.cross_entropy, via="F", message="Expected input batch_size (3) to match target batch_size (2).")
    g.fails("cross_entropy", Arg(torch.ones(1, 5)), Idx([5]), run=F.cross_entropy, via="F", message="out of bounds")


def steps(g):
    """A parameter after each of four steps of SGD on a quadratic: op 'optimize'."""
    settings = [
        {"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.05, "momentum": 0.9, "nesterov": True}, {"lr": 0.1, "weight_decay": 0.01},
        {"lr": 0.1, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1}, {"lr": 0.01, "maximize": True},
    ]
    for dtype in (torch.float32, torch.float64):
        for options in settings:
            start = values(dtype, 2, 3)
            goal = values(dtype, 3)
            w = start.clone().requires_grad_()
            optimizer = torch.optim.SGD([w], **options)
            path = []
            for _ in range(4):
                optimizer.zero_grad()
                ((w - goal) ** 2).sum().backward()
                optimizer.step()
                path.append(lua.tensor(w.detach().clone()))
            spelled = ",".join(f"{k}={lua.number(v)}" for k, v in options.items())
            g.rows.append(
                f"{{op='optimize',class='SGD',options={{{spelled}}},args={{{lua.tensor(start)},{lua.tensor(goal)}}},out={{{','.join(path)}}}}}")


def write(path):
    g = Group()
    losses(g)
    steps(g)
    return g.write(path, "Losses, nn.functional, optimizers.")
