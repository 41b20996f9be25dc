"""Learning-rate schedulers: the rates of two groups over 30 steps.

A row is {name=, arguments=<Lua text>, optimizer=, rates={{first group...},{second...}}, momentum={...} or nil}. Functions
and schedulers of schedulers are spelled in Lua by hand beside their Python form.
"""

import torch
from torch.optim import lr_scheduler as S
from torch.optim.swa_utils import SWALR

from . import lua

STEPS = 30

CASES = [
    ("LambdaLR", "function(e) return 0.9 ^ e end", lambda o: S.LambdaLR(o, lambda e: 0.9**e)),
    ("LambdaLR", "{function(e) return 0.9 ^ e end, function(e) return 1 / (1 + e) end}",
     lambda o: S.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)])),
    ("MultiplicativeLR", "function(e) return 0.95 + e / 1000 end", lambda o: S.MultiplicativeLR(o, lambda e: 0.95 + e / 1000)),
    ("StepLR", "7", lambda o: S.StepLR(o, 7)),
    ("StepLR", "4, {gamma = 0.5}", lambda o: S.StepLR(o, 4, gamma=0.5)),
    ("MultiStepLR", "{3, 8, 8, 20}, 0.3", lambda o: S.MultiStepLR(o, [3, 8, 8, 20], 0.3)),
    ("ConstantLR", "", lambda o: S.ConstantLR(o)),
    ("ConstantLR", "{factor = 0.5, total_iters = 9}", lambda o: S.ConstantLR(o, factor=0.5, total_iters=9)),
    ("LinearLR", "", lambda o: S.LinearLR(o)),
    ("LinearLR", "0.8, 0.1, 12", lambda o: S.LinearLR(o, 0.8, 0.1, 12)),
    ("ExponentialLR", "0.93", lambda o: S.ExponentialLR(o, 0.93)),
    ("PolynomialLR", "", lambda o: S.PolynomialLR(o)),
    ("PolynomialLR", "20, {power = 2}", lambda o: S.PolynomialLR(o, 20, power=2)),
    ("CosineAnnealingLR", "10", lambda o: S.CosineAnnealingLR(o, 10)),
    ("CosineAnnealingLR", "{T_max = 25, eta_min = 0.01}", lambda o: S.CosineAnnealingLR(o, T_max=25, eta_min=0.01)),
    ("CosineAnnealingWarmRestarts", "5", lambda o: S.CosineAnnealingWarmRestarts(o, 5)),
    ("CosineAnnealingWarmRestarts", "3, 2, 0.001", lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2, 0.001)),
    ("OneCycleLR", "0.5, {total_steps = 30}", lambda o: S.OneCycleLR(o, 0.5, total_steps=30)),
    ("OneCycleLR", "{0.5, 0.2}, {epochs = 5, steps_per_epoch = 6, three_phase = true, anneal_strategy = 'linear'}",
     lambda o: S.OneCycleLR(o, [0.5, 0.2], epochs=5, steps_per_epoch=6, three_phase=True, anneal_strategy="linear")),
    ("CyclicLR", "0.01, 0.2, 4", lambda o: S.CyclicLR(o, 0.01, 0.2, 4)),
    ("CyclicLR", "0.01, 0.2, {step_size_up = 3, step_size_down = 5, mode = 'triangular2'}",
     lambda o: S.CyclicLR(o, 0.01, 0.2, step_size_up=3, step_size_down=5, mode="triangular2")),
    ("CyclicLR", "{0.01, 0.02}, {0.2, 0.3}, {step_size_up = 4, mode = 'exp_range', gamma = 0.97, cycle_momentum = false}",
     lambda o: S.CyclicLR(o, [0.01, 0.02], [0.2, 0.3], step_size_up=4, mode="exp_range", gamma=0.97, cycle_momentum=False)),
    ("SequentialLR", "{S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9), S.CosineAnnealingLR(o, 6)}, {5, 15}",
     lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9), S.CosineAnnealingLR(o, 6)], [5, 15])),
    ("SequentialLR", "{S.LinearLR(o, 0.1, 1, 5), S.CosineAnnealingWarmRestarts(o, 5)}, {6}",
     lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1, 5), S.CosineAnnealingWarmRestarts(o, 5)], [6])),
    ("SWALR", "0.05, {anneal_epochs = 7}", lambda o: SWALR(o, 0.05, anneal_epochs=7)),
    ("SWALR", "{0.3, 0.001}, 12, 'linear'", lambda o: SWALR(o, [0.3, 0.001], 12, "linear")),
    ("SWALR", "0.05, {anneal_epochs = 0}", lambda o: SWALR(o, 0.05, anneal_epochs=0)),
    ("ChainedScheduler", "{S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9)}",
     lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9)])),
]

METRICS = [1.0, 0.9, 0.95, 0.93, 0.94, 0.92, 0.91, 0.9, 0.89, 0.8, 0.81, 0.82, 0.8, 0.8, 0.79999, 0.9, 0.9, 0.9, 0.9, 0.9,
           0.9, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]
PLATEAU = [
    ("{patience = 2}", dict(patience=2)),
    ("'max', 0.5, 3", dict(mode="max", factor=0.5, patience=3)),
    ("{patience = 1, cooldown = 3, min_lr = {0.05, 0.0001}, threshold = 0.01, threshold_mode = 'abs'}",
     dict(patience=1, cooldown=3, min_lr=[0.05, 0.0001], threshold=0.01, threshold_mode="abs")),
]


def optimizer(kind):
    params = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    return getattr(torch.optim, kind)([{"params": [params[0]]}, {"params": [params[1]], "lr": 0.02}], lr=0.1)


def row(name, arguments, kind, o, step):
    rates, momentum = [[], []], []
    for t in range(STEPS):
        for i, group in enumerate(o.param_groups):
            rates[i].append(lua.number(group["lr"]))
        group = o.param_groups[0]
        momentum.append(lua.number(group["betas"][0] if "betas" in group else group["momentum"]))
        o.step()
        step(t)
    return (f"{{name='{name}',arguments={lua.string(arguments)},optimizer='{kind}',"
            f"rates={lua.items(lua.items(r) for r in rates)},momentum={lua.items(momentum)}}}")


def write(path):
    rows = ["{metrics=" + lua.items(lua.number(m) for m in METRICS) + "}"]
    for kind in ("SGD", "Adam"):
        for name, arguments, make in CASES:
            o = optimizer(kind)
            scheduler = make(o)
            rows.append(row(name, arguments, kind, o, lambda t: scheduler.step() if t < STEPS - 1 else None))
            if kind == "Adam" and not name.startswith(("OneCycle", "Cyclic")):
                rows.pop()
    for arguments, options in PLATEAU:
        o = optimizer("SGD")
        scheduler = S.ReduceLROnPlateau(o, **options)
        rows.append(row("ReduceLROnPlateau", arguments, "SGD", o, lambda t: scheduler.step(METRICS[t])))
    return lua.write_file(path, "The rates of learning-rate schedulers; the first row has the metrics for plateaus.", rows)
