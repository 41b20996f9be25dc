"""Numbers drawn with a parameter per element, for a seed, and the derivatives of gamma and Dirichlet numbers: parameters
on both sides of every bound at which the method changes."""

import torch

from . import lua

SHAPES = (1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 2.5, 8.0, 100.0, 1e6)
RATES = (0.0, 1e-3, 0.5, 3.0, 9.999, 10.0, 10.001, 50.0, 1e4, 1e9)
TRIALS = (0.0, 1.0, 3.0, 19.0, 20.0, 21.0, 100.0, 1000.0, 1e6, 1e9)
CHANCES = (0.0, 1e-8, 0.01, 0.3, 0.4999, 0.5, 0.5001, 0.9, 0.9999, 1.0)


def drawn(name, call, dtype, *inputs):
    inputs = [torch.tensor(i, dtype=dtype) for i in inputs]
    torch.manual_seed(17)
    fields = [f"name='{name}'", f"inputs={{{','.join(lua.tensor(i) for i in inputs)}}}", f"result={lua.tensor(call(*inputs))}"]
    fields.append(f"after={lua.number(torch.rand(1, dtype=torch.float64).item())}")
    return "{" + ",".join(fields) + "}"


def derivative(name, call, dtype, *inputs):
    inputs = [i.to(dtype) for i in inputs]
    return "{" + f"name='{name}',inputs={{{','.join(lua.tensor(i) for i in inputs)}}},result={lua.tensor(call(*inputs))}" + "}"


def gamma_grid():
    shapes = torch.tensor([1e-2, 0.3, 1.0, 3.0, 7.99, 8.01, 30.0, 1e3], dtype=torch.float64)
    x = torch.tensor([1e-4, 0.1, 0.79, 0.81], dtype=torch.float64)
    around = torch.tensor([0.5, 0.89, 0.91, 0.999, 1.05, 1.11, 2.0], dtype=torch.float64)
    a = torch.cat([shapes.repeat_interleave(len(x)), shapes.repeat_interleave(len(around))])
    return a, torch.cat([x.repeat(len(shapes)), (shapes[:, None] * around).reshape(-1)])


def dirichlet_grid():
    a = torch.tensor([0.1, 0.9, 3.0, 7.0, 40.0], dtype=torch.float64)
    x = torch.tensor([1e-3, 0.2, 0.45, 0.49, 0.51, 0.6, 0.9, 0.999], dtype=torch.float64)
    grid = torch.cartesian_prod(x, a, a)
    return grid[:, 0], grid[:, 1], grid[:, 1] + grid[:, 2]


def write(path):
    rows = []
    for dtype in (torch.float32, torch.float64):
        rows.append(drawn("_standard_gamma", torch._standard_gamma, dtype, SHAPES * 8))
        rows.append(drawn("_sample_dirichlet", torch._sample_dirichlet, dtype, [SHAPES[:4], SHAPES[3:7], SHAPES[6:]] * 6))
        rows.append(drawn("poisson", torch.poisson, dtype, RATES * 8))
        pairs = [(n, p) for n in TRIALS for p in CHANCES]
        rows.append(drawn("binomial", torch.binomial, dtype, [n for n, _ in pairs], [p for _, p in pairs]))
    rows.append(derivative("_standard_gamma_grad", torch._standard_gamma_grad, torch.float64, *gamma_grid()))
    rows.append(derivative("_dirichlet_grad", torch._dirichlet_grad, torch.float64, *dirichlet_grid()))
    return lua.write_file(path, "Numbers of distributions with a parameter per element.", rows)
