"""torch.distributions: log_prob, entropy, moments, cdf, icdf, values of the support, printed forms; draws that are
PyTorch's for a seed and their gradients by the parameters; the divergences of all pairs; transforms there and back."""

import torch
from torch import distributions as D
from torch.distributions import constraints

from . import lua

F64 = torch.float64


def t(*numbers):
    return torch.tensor(numbers, dtype=F64)


P3 = torch.tensor([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], dtype=F64)
COVARIANCE = torch.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=F64)
TRIANGLE = torch.tensor([[[1.0, 0.0], [0.4, 0.7]], [[0.6, 0.0], [-0.3, 1.2]]], dtype=F64)
PAIRS = torch.tensor([[0.3, -0.2], [1.0, 0.5]], dtype=F64)
LOC_SCALE = {"loc": t(0.5, -1.0, 2.0), "scale": t(1.0, 0.3, 2.5)}


class Made:
    """A distribution or a transform as an argument of another."""

    def __init__(self, name, *arguments, **parameters):
        self.name, self.arguments, self.parameters = name, arguments, parameters

    def value(self):
        return getattr(D, self.name)(*[value_of(a) for a in self.arguments], **{k: value_of(v) for k, v in self.parameters.items()})

    def spell(self):
        parameters = ",".join(f"{k}={spell(v)}" for k, v in self.parameters.items())
        return f"{{made='{self.name}',arguments={lua.items(spell(a) for a in self.arguments)},parameters={{{parameters}}}}}"


def value_of(x):
    if isinstance(x, Made):
        return x.value()
    return [value_of(i) for i in x] if isinstance(x, list) else x


def spell(x):
    if isinstance(x, Made):
        return x.spell()
    if isinstance(x, list):
        return "{list=" + lua.items(spell(i) for i in x) + "}"
    return lua.tensor(x) if isinstance(x, torch.Tensor) else lua.number(x)


CASES = [
    ("Normal", LOC_SCALE, t(0.2, -1.3, 4.0)),
    ("LogNormal", {"loc": t(0.5, -1.0, 0.2), "scale": t(1.0, 0.3, 0.5)}, t(0.2, 1.3, 4.0)),
    ("Uniform", {"low": t(0.0, -1.0, 2.0), "high": t(1.0, 3.0, 2.5)}, t(0.2, 1.3, 2.25)),
    ("Exponential", {"rate": t(1.0, 0.3, 2.5)}, t(0.2, 1.3, 4.0)),
    ("Laplace", LOC_SCALE, t(0.2, -1.3, 4.0)),
    ("Cauchy", LOC_SCALE, t(0.2, -1.3, 4.0)),
    ("HalfNormal", {"scale": t(1.0, 0.3, 2.5)}, t(0.2, 1.3, 4.0)),
    ("HalfCauchy", {"scale": t(1.0, 0.3, 2.5)}, t(0.2, 1.3, 4.0)),
    ("Bernoulli", {"probs": t(0.2, 0.5, 0.9)}, t(0.0, 1.0, 1.0)),
    ("Bernoulli", {"logits": t(-0.2, 0.5, 0.9)}, t(0.0, 1.0, 1.0)),
    ("ContinuousBernoulli", {"probs": t(0.2, 0.5, 0.9)}, t(0.3, 0.6, 0.95)),
    ("ContinuousBernoulli", {"logits": t(0.2, 0.001, -0.9)}, t(0.3, 0.6, 0.95)),
    ("Geometric", {"probs": t(0.2, 0.5, 0.9)}, t(0.0, 3.0, 1.0)),
    ("Binomial", {"total_count": t(3.0, 4.0, 5.0), "probs": t(0.2, 0.5, 0.9)}, t(0.0, 3.0, 5.0)),
    ("Binomial", {"total_count": 4, "logits": t(0.2, 0.5, -0.9)}, t(0.0, 3.0, 4.0)),
    ("NegativeBinomial", {"total_count": t(3.0, 4.5, 5.0), "probs": t(0.2, 0.5, 0.9)}, t(0.0, 3.0, 5.0)),
    ("Poisson", {"rate": t(1.0, 0.3, 2.5)}, t(0.0, 1.0, 4.0)),
    ("Gamma", {"concentration": t(1.0, 0.3, 2.5), "rate": t(0.5, 2.0, 1.0)}, t(0.2, 1.3, 4.0)),
    ("InverseGamma", {"concentration": t(1.0, 3.3, 2.5), "rate": t(0.5, 2.0, 1.0)}, t(0.2, 1.3, 4.0)),
    ("Chi2", {"df": t(1.0, 3.0, 2.5)}, t(0.2, 1.3, 4.0)),
    ("Beta", {"concentration1": t(1.0, 0.3, 2.5), "concentration0": t(0.5, 2.0, 1.0)}, t(0.2, 0.7, 0.4)),
    ("Dirichlet", {"concentration": t(1.0, 0.3, 2.5)}, t(0.2, 0.3, 0.5)),
    ("Dirichlet", {"concentration": torch.tensor([[0.2, 0.3, 0.5], [3.0, 2.0, 4.0]], dtype=F64)}, t(0.2, 0.3, 0.5)),
    ("StudentT", {"df": t(1.5, 3.0, 2.5), **LOC_SCALE}, t(0.2, -1.3, 4.0)),
    ("FisherSnedecor", {"df1": t(1.5, 3.0, 2.5), "df2": t(1.5, 3.0, 5.5)}, t(0.2, 1.3, 4.0)),
    ("Gumbel", LOC_SCALE, t(0.2, -1.3, 4.0)),
    ("Weibull", {"scale": t(1.0, 0.3, 2.5), "concentration": t(0.7, 1.5, 2.0)}, t(0.2, 1.3, 4.0)),
    ("Pareto", {"scale": t(1.0, 0.3, 2.5), "alpha": t(0.7, 1.5, 3.0)}, t(1.2, 1.3, 4.0)),
    ("GeneralizedPareto", {**LOC_SCALE, "concentration": t(0.2, -0.4, 0.0)}, t(0.7, -0.9, 4.0)),
    ("Kumaraswamy", {"concentration1": t(1.2, 0.3, 2.5), "concentration0": t(1.5, 2.0, 1.0)}, t(0.2, 0.7, 0.4)),
    ("LogisticNormal", {"loc": t(0.5, -1.0), "scale": t(1.0, 0.3)}, t(0.2, 0.3, 0.5)),
    ("VonMises", {"loc": t(0.5, -1.0, 2.0), "concentration": t(1.0, 0.3, 12.5)}, t(0.2, -1.3, 2.5)),
    ("Categorical", {"probs": P3}, torch.tensor([0, 2])),
    ("Categorical", {"logits": P3}, torch.tensor([0, 2])),
    ("OneHotCategorical", {"probs": P3}, torch.tensor([[1.0, 0, 0], [0, 0, 1]], dtype=F64)),
    ("OneHotCategoricalStraightThrough", {"probs": P3}, torch.tensor([[1.0, 0, 0], [0, 0, 1]], dtype=F64)),
    ("Multinomial", {"total_count": 4, "logits": t(0.2, -0.3, 0.5)}, t(1.0, 0.0, 3.0)),
    ("RelaxedBernoulli", {"temperature": t(0.7), "probs": t(0.2, 0.5, 0.9)}, t(0.3, 0.6, 0.95)),
    ("RelaxedOneHotCategorical", {"temperature": t(0.7), "probs": P3}, t(0.3, 0.6, 0.1)),
    ("RelaxedOneHotCategorical", {"temperature": t(1.7), "logits": P3}, t(0.3, 0.6, 0.1)),
    ("MultivariateNormal", {"loc": t(0.5, -1.0), "covariance_matrix": COVARIANCE}, PAIRS),
    ("MultivariateNormal", {"loc": t(0.5, -1.0), "precision_matrix": COVARIANCE}, PAIRS),
    ("MultivariateNormal", {"loc": PAIRS, "scale_tril": TRIANGLE}, PAIRS.flip(0)),
    ("LowRankMultivariateNormal", {"loc": t(0.5, -1.0, 2.0), "cov_factor": torch.tensor([[1.0, 0.2], [0.3, -0.5], [2.0, 0.1]], dtype=F64),
                                   "cov_diag": t(0.5, 1.0, 0.2)}, torch.tensor([[0.3, -0.2, 1.0], [1.0, 0.5, 3.0]], dtype=F64)),
    ("Wishart", {"df": t(3.5, 4.0), "covariance_matrix": COVARIANCE}, COVARIANCE * 2),
    ("Wishart", {"df": t(3.5, 4.0), "scale_tril": TRIANGLE}, COVARIANCE * 2),
    ("Wishart", {"df": 3.5, "precision_matrix": COVARIANCE}, COVARIANCE * 2),
    ("LKJCholesky", {"dim": 3, "concentration": t(0.7, 2.0)}, None),
    ("Independent", {"base_distribution": Made("Normal", **LOC_SCALE), "reinterpreted_batch_ndims": 1}, t(0.2, -1.3, 4.0)),
    ("MixtureSameFamily", {"mixture_distribution": Made("Categorical", probs=P3),
                           "component_distribution": Made("Normal", loc=P3, scale=P3 + 1)}, t(0.2, 0.9)),
    ("MixtureSameFamily", {"mixture_distribution": Made("Categorical", probs=t(0.3, 0.7)),
                           "component_distribution": Made("Independent", Made("Normal", loc=PAIRS, scale=PAIRS.exp()), 1)}, t(0.2, 0.9)),
    ("TransformedDistribution", {"base_distribution": Made("Normal", **LOC_SCALE),
                                 "transforms": [Made("AffineTransform", 0.5, -2.0), Made("SigmoidTransform")]}, t(0.2, 0.7, 0.4)),
    ("TransformedDistribution", {"base_distribution": Made("Normal", loc=PAIRS, scale=PAIRS.exp()),
                                 "transforms": Made("StickBreakingTransform")}, t(0.2, 0.7, 0.1)),
]

# The factor that LKJCholesky's density is asked of.
FACTOR = torch.tensor([[1.0, 0, 0], [0.6, 0.8, 0], [0.0, 0.6, 0.8]], dtype=F64)


def attempt(fn):
    try:
        return fn()
    except (NotImplementedError, ValueError, AttributeError):
        return None


def shifted(name, tensor):
    return tensor + 1 if name == "Categorical" and tensor is not None and not tensor.is_floating_point() else tensor


def leaves_of(parameters):
    return {k: v.clone().requires_grad_() for k, v in parameters.items() if isinstance(v, torch.Tensor)}


def distribution_row(name, parameters, value):
    value = FACTOR if value is None else value
    d = Made(name, **parameters).value()
    text = repr(d)  # before anything is computed from the parameters, which would be printed too
    row = [f"name='{name}'", "parameters={" + ",".join(f"{k}={spell(v)}" for k, v in parameters.items()) + "}",
           f"value={lua.tensor(shifted(name, value))}", f"log_prob={lua.tensor(d.log_prob(value))}",
           f"batch_shape={lua.items(d.batch_shape)}", f"event_shape={lua.items(d.event_shape)}"]
    if name != "Wishart":  # there PyTorch prints the parameters in another order each time
        row.append(f"text={lua.string(text)}")
    u = t(0.1, 0.5, 0.8)
    found = {"mean": lambda: d.mean, "mode": lambda: shifted(name, d.mode), "variance": lambda: d.variance, "stddev": lambda: d.stddev,
             "entropy": d.entropy, "cdf": lambda: d.cdf(value), "icdf": lambda: d.icdf(u if d.batch_shape in ((3,), ()) else u[:1]),
             "enumerate_support": lambda: shifted(name, d.enumerate_support())}
    for what, fn in found.items():
        result = attempt(fn)
        if result is not None:
            row.append(f"{what}={lua.tensor(result)}")
    torch.manual_seed(5)
    drawn = d.sample((4,))
    row.append(f"sample={lua.tensor(shifted(name, drawn))}")
    # PyTorch's Wishart changes in place what its backward needs.
    if d.has_rsample and name != "Wishart" and not any(isinstance(v, (Made, list)) for v in parameters.values()):
        leaves = leaves_of(parameters)
        torch.manual_seed(5)
        drawn = getattr(D, name)(**{**parameters, **leaves}).rsample((4,))
        (drawn * torch.arange(1, drawn.numel() + 1, dtype=F64).view_as(drawn)).sum().backward()
        row.append("gradients={" + ",".join(f"{k}={lua.tensor(v.grad)}" for k, v in leaves.items() if v.grad is not None) + "}")
    return "{" + ",".join(row) + "}"


# What the divergences of all pairs are asked of: two of each kind where the kind has its own formula.
KL = {
    "Normal": (LOC_SCALE, {"loc": t(0.1, 0.2, 0.3), "scale": t(0.5, 1.5, 1.0)}),
    "LogNormal": (LOC_SCALE, {"loc": t(0.1, 0.2, 0.3), "scale": t(0.5, 1.5, 1.0)}),
    "HalfNormal": ({"scale": t(1.0, 0.3, 2.5)}, {"scale": t(0.5, 1.5, 1.0)}),
    "Uniform": ({"low": t(0.1, 0.2, 2.0), "high": t(0.9, 0.7, 2.5)}, {"low": t(0.0, 0.3, 1.5), "high": t(1.0, 0.8, 3.5)}),
    "Exponential": ({"rate": t(1.0, 0.3, 2.5)}, {"rate": t(0.5, 1.5, 1.0)}),
    "Laplace": (LOC_SCALE, {"loc": t(0.1, 0.2, 0.3), "scale": t(0.5, 1.5, 1.0)}),
    "Cauchy": (LOC_SCALE, {"loc": t(0.1, 0.2, 0.3), "scale": t(0.5, 1.5, 1.0)}),
    "Gumbel": (LOC_SCALE, {"loc": t(0.1, 0.2, 0.3), "scale": t(0.5, 1.5, 1.0)}),
    "Pareto": ({"scale": t(1.0, 0.3, 2.5), "alpha": t(0.7, 1.5, 3.0)}, {"scale": t(0.5, 0.1, 3.0), "alpha": t(1.7, 2.5, 1.0)}),
    "Gamma": ({"concentration": t(1.0, 0.3, 2.5), "rate": t(0.5, 2.0, 1.0)}, {"concentration": t(2.0, 0.7, 1.5), "rate": t(1.5, 1.0, 2.0)}),
    "Chi2": ({"df": t(1.0, 3.0, 2.5)}, {"df": t(2.0, 1.0, 2.5)}),
    "Beta": ({"concentration1": t(1.0, 0.3, 2.5), "concentration0": t(0.5, 2.0, 1.0)}, {"concentration1": t(2.0, 0.7, 1.5), "concentration0": t(1.5, 1.0, 2.0)}),
    "Bernoulli": ({"probs": t(0.2, 0.5, 0.0)}, {"probs": t(0.3, 0.9, 0.5)}),
    "ContinuousBernoulli": ({"probs": t(0.2, 0.5, 0.9)}, {"probs": t(0.3, 0.9, 0.5)}),
    "Binomial": ({"total_count": t(3.0, 4.0, 5.0), "probs": t(0.2, 0.5, 0.9)}, {"total_count": t(3.0, 4.0, 4.0), "probs": t(0.3, 0.9, 0.5)}),
    "Geometric": ({"probs": t(0.2, 0.5, 0.9)}, {"probs": t(0.3, 0.9, 0.5)}),
    "Poisson": ({"rate": t(1.0, 0.3, 2.5)}, {"rate": t(0.5, 1.5, 1.0)}),
    "Dirichlet": ({"concentration": t(1.0, 0.3, 2.5)}, {"concentration": t(2.0, 0.7, 1.5)}),
    "Categorical": ({"probs": P3}, {"probs": P3.flip(0)}),
    "OneHotCategorical": ({"probs": P3}, {"probs": P3.flip(0)}),
    "MultivariateNormal": ({"loc": t(0.5, -1.0), "covariance_matrix": COVARIANCE}, {"loc": PAIRS, "scale_tril": TRIANGLE}),
    "LowRankMultivariateNormal": ({"loc": t(0.5, -1.0), "cov_factor": t(1.0, 0.2).unsqueeze(-1), "cov_diag": t(0.5, 1.0)},
                                  {"loc": t(0.1, 0.0), "cov_factor": t(0.4, 0.9).unsqueeze(-1), "cov_diag": t(1.5, 0.7)}),
    "Wishart": ({"df": 3.5, "covariance_matrix": COVARIANCE}, {"df": 2.5, "scale_tril": TRIANGLE[0]}),
    "Independent": ({"base_distribution": Made("Normal", **LOC_SCALE), "reinterpreted_batch_ndims": 1},
                    {"base_distribution": Made("Normal", loc=t(0.1, 0.2, 0.3), scale=t(0.5, 1.5, 1.0)), "reinterpreted_batch_ndims": 1}),
    "Kumaraswamy": ({"concentration1": t(1.0), "concentration0": t(0.5)}, {"concentration1": t(1.0), "concentration0": t(0.5)}),
}


def divergence_rows():
    for a, (p, _) in KL.items():
        for b, (_, q) in KL.items():
            left, right = Made(a, **p), Made(b, **q)
            result = attempt(lambda: D.kl_divergence(left.value(), right.value()))
            if result is not None:
                yield f"{{kl=true,p={left.spell()},q={right.spell()},result={lua.tensor(result)}}}"


X3, X2 = t(0.3, -0.7, 1.2), torch.tensor([[0.3, -0.7, 1.2], [2.0, 0.1, -1.5]], dtype=F64)
SQUARE = torch.tensor([[0.3, -0.7], [2.0, 0.1]], dtype=F64)
TRANSFORMS = [
    (Made("ExpTransform"), X2), (Made("SigmoidTransform"), X2), (Made("TanhTransform"), X2), (Made("SoftplusTransform"), X2),
    (Made("AbsTransform"), X2), (Made("PowerTransform", t(2.0, 0.5, -1.0)), X2.exp()), (Made("AffineTransform", 0.5, -2.0), X2),
    (Made("AffineTransform", t(0.5, 1.0, 2.0), t(2.0, -1.0, 0.5), 1), X2), (Made("SoftmaxTransform"), X2),
    (Made("StickBreakingTransform"), X2), (Made("LowerCholeskyTransform"), SQUARE), (Made("PositiveDefiniteTransform"), SQUARE),
    (Made("CorrCholeskyTransform"), X2), (Made("CumulativeDistributionTransform", Made("Normal", loc=t(0.5), scale=t(2.0))), X2),
    (Made("ComposeTransform", [Made("AffineTransform", 0.5, 2.0), Made("StickBreakingTransform")]), X2),
    (Made("IndependentTransform", Made("ExpTransform"), 1), X2),
    (Made("CatTransform", [Made("ExpTransform"), Made("TanhTransform")], dim=-1, lengths=[1, 2]), X2),
    (Made("StackTransform", [Made("ExpTransform"), Made("AffineTransform", 0.5, 2.0), Made("TanhTransform")], dim=-1), X2),
]


def transform_rows():
    for made, x in TRANSFORMS:
        transform = made.value()
        y = transform(x)
        row = ["transform=true", f"made={made.spell()}", f"x={lua.tensor(x)}", f"y={lua.tensor(y)}",
               f"inverse={lua.tensor(transform.inv(y))}", f"shape={lua.items(transform.forward_shape(x.shape))}"]
        jacobian = attempt(lambda: transform.log_abs_det_jacobian(x, y))
        if jacobian is not None:
            row.append(f"jacobian={lua.tensor(jacobian)}")
        yield "{" + ",".join(row) + "}"


# What the registries make of a constraint, and the constraint of what comes out.
CONSTRAINTS = {
    "positive": X3, "nonnegative": X3, "unit_interval": X3, "simplex": X3, "real": X3, "real_vector": X3, "lower_cholesky": SQUARE,
    "positive_definite": SQUARE, "corr_cholesky": X3, "greater_than(2)": X3, "less_than(-1)": X3, "interval(-1, 3)": X3,
}


def constraint_rows():
    for name, x in CONSTRAINTS.items():
        constraint = eval("constraints." + name)  # noqa: S307, the names above
        row = ["constraint='" + name.replace("'", "") + "'", f"text={lua.string(repr(constraint))}", f"x={lua.tensor(x)}"]
        for registry in ("biject_to", "transform_to"):
            transform = attempt(lambda: getattr(D, registry)(constraint))
            if transform is not None:
                row.append(f"{registry}={lua.tensor(transform(x))}")
        if x.dim() >= constraint.event_dim:
            row.append(f"mask={lua.tensor(constraint.check(x))}")
        yield "{" + ",".join(row) + "}"


def write(path):
    torch.set_default_dtype(F64)  # GeneralizedPareto compares with a number of the default dtype
    rows = [distribution_row(*case) for case in CASES]
    rows += list(divergence_rows()) + list(transform_rows()) + list(constraint_rows())
    torch.set_default_dtype(torch.float32)
    return lua.write_file(path, "Distributions, their divergences, transforms and constraints.", rows)
