"""torch.distributions: log_prob, entropy, mean, variance, cdf, icdf, kl_divergence; draws that are PyTorch's for a seed."""

import torch
from torch import distributions as D

from . import lua

F64 = torch.float64


def t(*numbers):
    return torch.tensor(numbers, dtype=F64)


PARAMETERS = {
    "Normal": ({"loc": t(0.5, -1.0, 2.0), "scale": t(1.0, 0.3, 2.5)}, t(0.2, -1.3, 4.0)),
    "LogNormal": ({"loc": t(0.5, -1.0, 0.2), "scale": t(1.0, 0.3, 0.5)}, t(0.2, 1.3, 4.0)),
    "Uniform": ({"low": t(0.0, -1.0, 2.0), "high": t(1.0, 3.0, 2.5)}, t(0.2, 1.3, 2.25)),
    "Exponential": ({"rate": t(1.0, 0.3, 2.5)}, t(0.2, 1.3, 4.0)),
    "Laplace": ({"loc": t(0.5, -1.0, 2.0), "scale": t(1.0, 0.3, 2.5)}, t(0.2, -1.3, 4.0)),
    "Cauchy": ({"loc": t(0.5, -1.0, 2.0), "scale": t(1.0, 0.3, 2.5)}, t(0.2, -1.3, 4.0)),
    "HalfNormal": ({"scale": t(1.0, 0.3, 2.5)}, t(0.2, 1.3, 4.0)),
    "Bernoulli": ({"probs": t(0.2, 0.5, 0.9)}, t(0.0, 1.0, 1.0)),
    "Geometric": ({"probs": t(0.2, 0.5, 0.9)}, t(0.0, 3.0, 1.0)),
    "Binomial": ({"total_count": t(3.0, 4.0, 5.0), "probs": t(0.2, 0.5, 0.9)}, t(0.0, 3.0, 5.0)),
    "NegativeBinomial": ({"total_count": t(3.0, 4.5, 5.0), "probs": t(0.2, 0.5, 0.9)}, t(0.0, 3.0, 5.0)),
    "Poisson": ({"rate": t(1.0, 0.3, 2.5)}, t(0.0, 1.0, 4.0)),
    "Gamma": ({"concentration": t(1.0, 0.3, 2.5), "rate": t(0.5, 2.0, 1.0)}, t(0.2, 1.3, 4.0)),
    "Chi2": ({"df": t(1.0, 3.0, 2.5)}, t(0.2, 1.3, 4.0)),
    "Beta": ({"concentration1": t(1.0, 0.3, 2.5), "concentration0": t(0.5, 2.0, 1.0)}, t(0.2, 0.7, 0.4)),
    "Dirichlet": ({"concentration": t(1.0, 0.3, 2.5)}, t(0.2, 0.3, 0.5)),
    "StudentT": ({"df": t(1.5, 3.0, 2.5), "loc": t(0.5, -1.0, 2.0), "scale": t(1.0, 0.3, 2.5)}, t(0.2, -1.3, 4.0)),
    "Categorical": ({"probs": torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], dtype=F64)}, torch.tensor([0, 2])),
    "OneHotCategorical": ({"probs": torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], dtype=F64)}, torch.tensor([[1.0, 0, 0], [0, 0, 1]], dtype=F64)),
    "Multinomial": ({"total_count": 4, "logits": t(0.2, -0.3, 0.5)}, t(1.0, 0.0, 3.0)),
}
REPARAMETRIZED = ("Gamma", "Chi2", "Beta", "Dirichlet", "StudentT")


def spell(value):
    return lua.number(value) if isinstance(value, (int, float)) else lua.tensor(value)


def write(path):
    rows = []
    for name, (parameters, value) in PARAMETERS.items():
        d = getattr(D, name)(**parameters)
        at = value + 1 if name == "Categorical" else value
        row = [f"name='{name}'", "parameters={" + ",".join(f"{k}={spell(v)}" for k, v in parameters.items()) + "}",
               f"value={lua.tensor(at)}", f"log_prob={lua.tensor(d.log_prob(value))}"]
        for what in ("mean", "variance", "stddev"):
            if not (name == "Categorical" or name == "Cauchy"):
                row.append(f"{what}={lua.tensor(getattr(d, what))}")
        if name not in ("Binomial", "NegativeBinomial", "Multinomial"):
            try:
                row.append(f"entropy={lua.tensor(d.entropy())}")
            except NotImplementedError:
                pass
        if name not in ("Binomial", "NegativeBinomial", "Multinomial"):
            for what, argument in (("cdf", value), ("icdf", None)):
                try:
                    u = argument if argument is not None else t(0.1, 0.5, 0.8)
                    row.append(f"{what}={lua.tensor(getattr(d, what)(u))}")
                except (NotImplementedError, ValueError):
                    pass
        if name in ("Gamma", "Beta", "Chi2", "StudentT"):
            row = [r for r in row if not r.startswith(("cdf=", "icdf="))]
        try:
            other = {k: (v.flip(-1) if isinstance(v, torch.Tensor) and name != "Uniform" else v) for k, v in parameters.items()}
            row.append(f"kl={lua.tensor(D.kl_divergence(d, getattr(D, name)(**other)))}")
        except NotImplementedError:
            pass
        if name in ("Binomial", "NegativeBinomial", "Multinomial", "Chi2", "HalfNormal", "Cauchy"):
            row = [r for r in row if not r.startswith("kl=")]
        torch.manual_seed(5)
        drawn = d.sample((4,))
        row.append(f"sample={lua.tensor(drawn + 1 if name == 'Categorical' else drawn)}")
        if name in REPARAMETRIZED:
            leaves = {k: v.clone().requires_grad_() for k, v in parameters.items()}
            torch.manual_seed(5)
            drawn = getattr(D, name)(**leaves).rsample((4,))
            (drawn * torch.arange(1, drawn.numel() + 1, dtype=F64).view_as(drawn)).sum().backward()
            row.append("gradients={" + ",".join(f"{k}={lua.tensor(v.grad)}" for k, v in leaves.items()) + "}")
        rows.append("{" + ",".join(row) + "}")
    return lua.write_file(path, "Distributions.", rows)
