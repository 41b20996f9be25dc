"""The arguments of PyTorch's layers, optimizers, schedulers and functions of nn.functional: names in order, defaults, and
which can be given by name alone. Read from Python's signatures; functions that choose between two others have none."""

import inspect

import torch
import torch.nn.functional as F

from . import lua

OLD = {"size_average", "reduce"}  # reduction has taken their place
LEFT_OUT = {"device", "dtype", "_stacklevel"}


def spell(value):
    if isinstance(value, bool) or isinstance(value, (int, float)):
        return lua.number(value)
    if isinstance(value, str):
        return lua.string(value)
    if isinstance(value, tuple):
        return lua.items(spell(v) for v in value)
    return None  # None, and functions


def arguments(call, skip):
    """Rows {name, default=, named=}; None where Python does not say."""
    parameters = list(inspect.signature(call).parameters.values())[skip:]
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return None
    rows = []
    for p in parameters:
        if p.name in OLD or p.name in LEFT_OUT and p.kind != p.POSITIONAL_ONLY:
            continue
        fields = [lua.string(p.name)]
        if p.default is not p.empty:
            fields.append("optional=true")
            if spell(p.default) is not None:
                fields.append("default=" + spell(p.default))
        if p.kind == p.KEYWORD_ONLY:
            fields.append("named=true")
        rows.append("{" + ",".join(fields) + "}")
    return rows


def of_classes(kind, module, base):
    for name in sorted(vars(module)):
        value = getattr(module, name)
        if not name.startswith("_") and inspect.isclass(value) and issubclass(value, base) and value is not base:
            yield kind, name, arguments(value.__init__, 1)


def of_functions():
    for name in sorted(vars(F)):
        value = inspect.unwrap(getattr(F, name))
        if not name.startswith("_") and inspect.isfunction(value) and not name.startswith("has_torch") and value.__module__ == F.__name__:
            yield "F", name, arguments(value, 0)


def write(path):
    rows = []
    for part in (of_classes("nn", torch.nn, torch.nn.Module), of_classes("optim", torch.optim, torch.optim.Optimizer),
                 of_classes("lr_scheduler", torch.optim.lr_scheduler, torch.optim.lr_scheduler.LRScheduler), of_functions()):
        for kind, name, taken in part:
            if taken is not None:
                rows.append(f"{{kind='{kind}',name='{name}',arguments=" + lua.items(taken) + "}")
    return lua.write_file(path, "The arguments of PyTorch's classes and functions.", rows)
