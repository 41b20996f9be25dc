"""Calls that PyTorch's database of operators says must fail. Of ours it is asked that they fail too, in whatever words:
messages are compared by the groups that have a subject."""

import warnings

import torch

from . import lua
from .declared import Place
from .opinfo import RAISED, Call, Given, flattened, mapped, op_db, speaks_of

MOST_ELEMENTS = 400


def why_not(op, sample, raised, taken):
    """Why the call need not fail, or cannot be spelled, or would fail for another reason. taken: a declaration of ours takes it."""
    values = list(flattened((sample.input, sample.args)))
    if "out" in sample.kwargs:
        return "out= is part of an input there, and rows share no memory"
    if taken and isinstance(raised, (TypeError, AttributeError)) and any(isinstance(v, (int, float)) for v in values):
        return "a number may stand on either side"
    if op == "complex" and not any(isinstance(v, torch.Tensor) for v in values):
        return "a number of Lua's"
    if isinstance(raised, TypeError) and any(isinstance(v, float) and v.is_integer() for v in values):
        return "1.0 may stand for 1"
    if sum(v.numel() for v in values if isinstance(v, torch.Tensor)) > MOST_ELEMENTS:
        return "larger than needed"
    if any(v is None for v in values[1:]) and isinstance(sample.input, (list, tuple)):
        return "a table ends before nil"
    if any(isinstance(v, torch.Tensor) and v.dim() > 64 for v in values):
        return "more dimensions than any tensor has"
    return None


def call_of(op, structure):
    given = mapped(structure, lambda t: Given.of(t, tidy=True))
    return Call(op, type("Sample", (), {"input": given[0], "args": tuple(given[1]), "kwargs": given[2]}), must_fail=True)


def row_of(op, error):
    """The call as a row of the data, or why there is none."""
    sample = error.sample_input
    structure = (sample.input, sample.args, sample.kwargs)
    if not speaks_of(structure):
        return None, "a dtype or layout that is not there"
    if any(isinstance(v, torch.Tensor) and v.device.type != "cpu" for v in flattened(structure)):
        return None, "another device"
    call = call_of(op, structure)
    if call.why:
        return None, call.why
    if any(isinstance(a, Place) and a.value.is_floating_point() for a in call.args):  # which would be refused first
        places = {id(v) for a, v in zip(call.args, (sample.input, *sample.args)) if isinstance(a, Place)}
        structure = mapped(structure, lambda t: t.long() if id(t) in places else t)
        call = call_of(op, structure)
    try:
        op.op(structure[0], *structure[1], **structure[2])
        return None, "PyTorch does it"
    except RAISED as raised:
        message, why = str(raised), why_not(op.name, sample, raised, call.taken)
    if why:
        return None, why
    try:
        return "{" + ",".join([*call.fields(), "error=''"]) + "}", message
    except (AttributeError, TypeError):
        return None, "an argument that Lua has no word for"


def all_rows():
    warnings.simplefilter("ignore")
    for op in op_db:
        if op.error_inputs_func is None or op.name == "multinomial":  # whose samples are whatever the memory holds
            continue
        torch.manual_seed(20)
        for error in op.error_inputs("cpu"):
            yield op, *row_of(op, error)


def write(path):
    return lua.write_file(path, "Calls that must fail.", list(dict.fromkeys(row for _, row, _ in all_rows() if row)))
