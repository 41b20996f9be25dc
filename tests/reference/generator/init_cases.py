"""Every function of torch.nn.init on tensors, after a seed."""

import torch
from torch.nn import init

from . import lua

CASES = [
    ("uniform_", (2, 3), {"a": -1.0, "b": 2.0}), ("normal_", (2, 3), {"mean": 1.0, "std": 0.5}), ("constant_", (2,), {"val": 0.3}),
    ("ones_", (2,), {}), ("zeros_", (2,), {}), ("eye_", (3, 4), {}), ("dirac_", (4, 2, 3), {"groups": 2}), ("dirac_", (2, 3, 2, 2), {}),
    ("xavier_uniform_", (3, 4), {}), ("xavier_uniform_", (3, 2, 2, 2), {"gain": 2.0}), ("xavier_normal_", (3, 4), {}),
    ("kaiming_uniform_", (3, 4), {}), ("kaiming_uniform_", (3, 4, 2), {"a": 1.0, "mode": "fan_out"}),
    ("kaiming_normal_", (3, 4), {"nonlinearity": "relu"}), ("kaiming_normal_", (3, 4, 2), {"mode": "fan_out"}),
    ("trunc_normal_", (5, 4), {}), ("trunc_normal_", (5, 4), {"std": 2.0, "a": -0.3, "b": 0.5}),
    ("trunc_normal_", (4, 4), {"mean": 1.0, "std": 0.3, "a": 2.0, "b": 3.0}),
    ("orthogonal_", (4, 6), {}), ("orthogonal_", (6, 4), {"gain": 2.0}), ("orthogonal_", (3, 2, 2), {}),
    ("sparse_", (6, 3), {"sparsity": 0.4}),
]


def write(path):
    rows = []
    for seed, (name, shape, named) in enumerate(CASES):
        torch.manual_seed(seed)
        out = getattr(init, name)(torch.empty(shape), **named)
        words = ",".join(f"{k}={lua.string(v) if isinstance(v, str) else lua.number(v)}" for k, v in named.items())
        rows.append(f"{{name='{name}',seed={seed},shape={lua.items(shape)},named={{{words}}},out={lua.tensor(out)}}}")
    return lua.write_file(path, "Functions of torch.nn.init.", rows)
