"""The names of the nodes of the graph (x.grad_fn) that calls record: samples of PyTorch's database of operators, of each op one
for each set of names that its results have."""

import warnings

import torch

from . import lua
from .opinfo import Case, Given, flattened, op_db
from .opinfo_cases import MOST_OF_ONE, samples_of


def numel_of(sample):
    return sum(v.numel() for v in flattened((sample.input, sample.args, sample.kwargs)) if isinstance(v, torch.Tensor))


def alive(value):
    if isinstance(value, Given):
        return value.view()
    if isinstance(value, (list, tuple)):
        return type(value)(alive(v) for v in value)
    if isinstance(value, dict):
        return {k: alive(v) for k, v in value.items()}
    return value


class NamedCase(Case):
    """A case that also has the names of the nodes of its results. Which tensors want a gradient is known once it ran."""

    def names(self, op):
        sample = self.sample
        out = op.op(alive(sample.input), *alive(sample.args), **alive(sample.kwargs))
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        return [o.grad_fn.name() if isinstance(o, torch.Tensor) and o.grad_fn is not None else None for o in outs]


def rows_of(op):
    rows, seen = [], set()
    for sample in sorted(samples_of(op, torch.float64), key=numel_of):
        if numel_of(sample) > MOST_OF_ONE:
            continue
        case = NamedCase(op, sample, grad=True, tidy=True)
        if not case.row:
            case = NamedCase(op, sample, grad=True)
        if not case.row:
            continue
        names = case.names(op)
        if not any(names) or tuple(names) in seen or len(names) > 9:
            continue
        seen.add(tuple(names))
        texts = ",".join(lua.string(name) if name else "false" for name in names)
        rows.append("{case={" + ",".join(case.call.fields()) + "},nodes={" + texts + "}}")
    return rows


def write(path):
    warnings.simplefilter("ignore")
    rows = []
    for op in op_db:
        if op.supports_autograd and torch.float64 in op.supported_dtypes("cpu"):
            rows += rows_of(op)
    return lua.write_file(path, "Names of the nodes that calls record.", rows)
