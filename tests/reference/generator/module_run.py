"""Recording a module of torch.nn: built after a seed, called, differentiated; the spec does the same in Lua.

A case is a Lua table: make (a function that builds it), seed, text (how it prints), state (names, shapes and sums of
its state_dict), inputs, named (keyword arguments of the call), out (tensors, nested lists flattened), grads (of the
parameters by name), input_grads, after (buffers after the call).
"""

import torch
from torch import nn

from . import lua
from .cases import Arg, Dim, Dims, Idx, Pos, from_one, index_tensor, upstream


class Make:
    """A module, or a call of nn's namespace, that is spelled as Lua and built in Python."""

    def __init__(self, name, *args, **named):
        self.name, self.args, self.named = name, args, named

    def live(self):
        target = nn
        for part in self.name.split("."):
            target = getattr(target, part)
        return target(*[live(a) for a in self.args], **{k: live(v) for k, v in self.named.items()})

    def spell(self):
        parts = [spell(a) for a in self.args]
        if self.named:
            parts.append("{" + ", ".join(f"{k} = {spell(v)}" for k, v in self.named.items()) + "}")
        return f"nn.{self.name}({', '.join(parts)})"


def live(value):
    if isinstance(value, (Make, Arg)):
        return value.live() if isinstance(value, Make) else value.view()
    if isinstance(value, (Dim, Dims, Idx)):
        return value.value
    if isinstance(value, list):
        return [live(v) for v in value]
    if isinstance(value, tuple):
        return tuple(live(v) for v in value)
    return value


def spell(value):
    if isinstance(value, (Make, Dim)):
        return value.spell()
    if isinstance(value, Arg):
        return f"tensor{value.spell()}"
    if isinstance(value, Dims):
        return "{" + ", ".join(str(from_one(d)) for d in value.value) + "}"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(spell(v) for v in value) + "}"
    if isinstance(value, str):
        return lua.string(value)
    if value is None:
        return "false"
    if isinstance(value, torch.dtype):
        return f"torch.{lua.dtype_name(value)}"
    return lua.number(value)


def data(value):
    """An argument of forward: a tensor, a list of them, a flag."""
    if isinstance(value, (Arg, Idx)):
        return value.spell()
    if isinstance(value, (list, tuple)):
        return "{list={" + ",".join(data(v) for v in value) + "}}"
    if value is None:
        return "{none=true}"
    return lua.string(value) if isinstance(value, str) else lua.number(value)


def flatten(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in flatten(v)]
    return []


def leaves(values):
    for v in values:
        if isinstance(v, torch.Tensor) and v.requires_grad:
            yield v
        elif isinstance(v, (list, tuple)):
            yield from leaves(v)


class Modules:
    def __init__(self):
        self.rows = []
        self.seed = 0

    def add(self, make, *inputs, named=None, evaluate=False, warm=False, text=True, loose=None, index_out=(), grads=True,
            dtype=None, use=None, sums=True):
        """warm: a call in training mode first, then evaluation. use: the outputs that are differentiated."""
        self.seed += 1
        torch.manual_seed(self.seed)
        module = make.live()
        row = [f"make=function(nn, torch, tensor) return {make.spell()} end", f"seed={self.seed}"]
        if dtype:
            module = module.to(dtype)
            row.append(f"to='{lua.dtype_name(dtype)}'")
        if text:
            row.append(f"text={lua.string(str(module))}")
        state = []
        for name, t in module.state_dict().items():
            total = f",sum={lua.number(t.double().sum().item())}" if sums else ""
            state.append(f"{{{lua.string(name)},{lua.items(t.shape)}{total}}}")
        row.append("state={" + ",".join(state) + "}")
        given = [live(i) for i in inputs]
        words = {k: live(v) for k, v in (named or {}).items()}
        row.append("inputs={" + ",".join(data(i) for i in inputs) + "}")
        if named:
            row.append("named={" + ",".join(f"{k}={data(v)}" for k, v in named.items()) + "}")
        if warm:
            row.append("warm=true")
            module(*given, **words)
            module.eval()
        if evaluate:
            row.append("evaluate=true")
            module.eval()
        outs = flatten(module(*given, **words))
        row.append("out={" + ",".join(lua.tensor(index_tensor(o) if i in index_out else o) for i, o in enumerate(outs)) + "}")
        used = [outs[i] for i in (use or range(len(outs))) if outs[i].requires_grad]
        if grads and used:
            if use:
                row.append("use=" + lua.items(i + 1 for i in use))
            torch.autograd.backward(used, [upstream(o) for o in used])
            row.append("grads={" + ",".join(
                f"{{{lua.string(n)},{lua.tensor(p.grad)}}}" for n, p in module.named_parameters() if p.grad is not None) + "}")
            row.append("input_grads={" + ",".join(lua.tensor(t.grad) for t in leaves(given + list(words.values()))) + "}")
        buffers = [(n, b) for n, b in module.named_buffers() if b.is_floating_point()]
        if buffers and not evaluate:
            row.append("after={" + ",".join(f"{{{lua.string(n)},{lua.tensor(b)}}}" for n, b in buffers) + "}")
        if loose:
            row.append(f"loose={loose}")
        self.rows.append("{" + ",".join(row) + "}")

    def write(self, path, comment):
        return lua.write_file(path, comment, self.rows)


__all__ = ["Make", "Modules", "Arg", "Dim", "Dims", "Idx", "Pos"]
