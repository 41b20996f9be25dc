"""Optimizers: 50 steps of each, with its options.

A row is {name=, options=, dtype=, sums={...}, last={...}}: the sum of all parameters after every step, and the
parameters after the last one. The gradient of step t is swing * sin(t * speed + phase) + parameter / 3, which both
sides compute. {name='LBFGS', losses={...}} rows minimize Rosenbrock's function instead.
"""

import torch

from . import lua

STEPS = 50
SHAPES = [(3, 4), (5,), ()]

CONFIGURATIONS = [
    ("SGD", dict(lr=0.1)),
    ("SGD", dict(lr=0.1, weight_decay=0.1)),
    ("SGD", dict(lr=0.1, momentum=0.9)),
    ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.01)),
    ("SGD", dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)),
    ("SGD", dict(lr=0.01, momentum=0.5, maximize=True)),
    ("Adam", dict()),
    ("Adam", dict(lr=0.05, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1)),
    ("Adam", dict(lr=0.05, amsgrad=True)),
    ("Adam", dict(lr=0.05, amsgrad=True, weight_decay=0.1, maximize=True)),
    ("Adam", dict(lr=0.05, betas=(0.3, 0.9))),
    ("Adam", dict(lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)),
    ("AdamW", dict(lr=0.05)),
    ("AdamW", dict(lr=0.05, weight_decay=0.2, amsgrad=True)),
    ("AdamW", dict(lr=0.05, maximize=True)),
    ("NAdam", dict(lr=0.05)),
    ("NAdam", dict(lr=0.05, weight_decay=0.1, momentum_decay=0.01)),
    ("NAdam", dict(lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)),
    ("RAdam", dict(lr=0.05)),
    ("RAdam", dict(lr=0.05, weight_decay=0.1)),
    ("RAdam", dict(lr=0.05, weight_decay=0.1, decoupled_weight_decay=True, betas=(0.9, 0.9))),
    ("Adagrad", dict(lr=0.1)),
    ("Adagrad", dict(lr=0.1, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.5)),
    ("Adadelta", dict()),
    ("Adadelta", dict(lr=0.5, rho=0.8, weight_decay=0.1)),
    ("Adamax", dict(lr=0.05)),
    ("Adamax", dict(lr=0.05, weight_decay=0.1, maximize=True)),
    ("RMSprop", dict(lr=0.01)),
    ("RMSprop", dict(lr=0.01, momentum=0.9, weight_decay=0.1)),
    ("RMSprop", dict(lr=0.01, centered=True)),
    ("RMSprop", dict(lr=0.01, centered=True, momentum=0.9, alpha=0.9)),
    ("ASGD", dict(lr=0.05)),
    ("ASGD", dict(lr=0.05, lambd=0.01, t0=10, weight_decay=0.1)),
    ("Rprop", dict(lr=0.05)),
    ("Rprop", dict(lr=0.05, etas=(0.4, 1.3), step_sizes=(1e-3, 0.2), maximize=True)),
    ("Adafactor", dict(lr=0.05)),
    ("Adafactor", dict(lr=0.05, beta2_decay=-0.5, eps=(1e-4, 1e-2), d=1.5, weight_decay=0.1, maximize=True)),
    ("Muon", dict(lr=0.01)),
    ("Muon", dict(lr=0.01, weight_decay=0.0, momentum=0.8, nesterov=False, adjust_lr_fn="match_rms_adamw")),
]

# How many of the parameters an optimizer takes: those before the first that is no matrix.
MATRICES = {"Muon": 1}

LBFGS = [
    dict(max_iter=4),
    dict(lr=0.2, max_iter=3, history_size=2),
    dict(max_iter=5, line_search_fn="strong_wolfe"),
    dict(lr=0.5, max_iter=20, max_eval=8, line_search_fn="strong_wolfe", history_size=3),
    # first steps that are far too short and far too long, so that the search is closed from either side
    dict(lr=0.002, max_iter=6, line_search_fn="strong_wolfe"),
    dict(lr=0.03, max_iter=4, line_search_fn="strong_wolfe"),
    dict(lr=7, max_iter=7, line_search_fn="strong_wolfe"),
    dict(lr=300, max_iter=5, line_search_fn="strong_wolfe"),
]


def option(value):
    if isinstance(value, tuple):
        return lua.items(lua.number(v) for v in value)
    return lua.string(value) if isinstance(value, str) else lua.number(value)


def options_of(options):
    return "{" + ",".join(f"{name}={option(value)}" for name, value in options.items()) + "}"


def gradient(p, swing, speed, phase, t):
    return swing * torch.sin(t * speed + phase) + p / 3


def steps(name, options, starts, waves, dtype):
    params = [s.to(dtype).clone().requires_grad_() for s in starts[:MATRICES.get(name)]]
    optimizer = getattr(torch.optim, name)(params, **options)
    sums = []
    for t in range(1, STEPS + 1):
        for p, wave in zip(params, waves):
            p.grad = gradient(p.detach(), *(w.to(dtype) for w in wave), t)
        optimizer.step()
        sums.append(sum(p.detach().double().sum().item() for p in params))
    digits = 9 if dtype == torch.float32 else 17
    return (f"{{name='{name}',options={options_of(options)},dtype='{lua.dtype_name(dtype)}',"
            f"sums={lua.items(lua.number(s, digits) for s in sums)},last={lua.items(lua.flat(p) for p in params)}}}")


def rosenbrock(options):
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x, y], **options)

    def closure():
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2 + (y[0] - x[0]) ** 2
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(12)]
    return (f"{{name='LBFGS',options={options_of(options)},losses={lua.items(lua.number(v) for v in losses)},"
            f"last={lua.items([lua.flat(x), lua.flat(y)])}}}")


def write(path):
    starts = [torch.randn(s, dtype=torch.float64) for s in SHAPES]
    waves = [[torch.rand(s, dtype=torch.float64) * 2, torch.rand(s, dtype=torch.float64), torch.randn(s, dtype=torch.float64)]
             for s in SHAPES]
    rows = [f"{{starts={lua.items(lua.tensor(s) for s in starts)},"
            f"waves={lua.items(lua.items(lua.tensor(w) for w in wave) for wave in waves)}}}"]
    for dtype in (torch.float32, torch.float64):
        rows += [steps(name, options, starts, waves, dtype) for name, options in CONFIGURATIONS]
    rows += [rosenbrock(options) for options in LBFGS]
    return lua.write_file(path, "Fifty steps of every optimizer; the first row has the parameters and gradients.", rows)
