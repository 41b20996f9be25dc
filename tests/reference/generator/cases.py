"""Recording one op case: PyTorch runs it here, the spec runs it again in Lua and compares.

An argument is a plain value (number, bool, string, None, dtype, list) or one of

    Arg(base, layout, grad)  a tensor, given as a base and how to view it
    Dim(i), Dims(...)        dimensions: from 0 here, from 1 in the data when not negative
    Pos(i)                   a position along a dimension, the same way
    Idx(tensor)              an index tensor, the same way

Results are tensors, index tensors where `index_out` names their place, numbers and bools.
"""

import torch

from . import lua

# Upstream gradient of element i, the same formula as in the spec.
def upstream(out):
    values = [((i * 7) % 5) - 1.5 for i in range(out.numel())]
    weights = torch.tensor(values, dtype=torch.float64)
    if out.is_complex():
        weights = torch.complex(weights, 0.5 - weights / 2)
    return weights.reshape(out.shape).to(out.dtype)


def from_one(i):
    return i + 1 if i >= 0 else i


def index_tensor(t):
    return torch.where(t >= 0, t + 1, t)


class Arg:
    """A tensor argument. layout: None, 'transpose' (last two dims of the base), 'step' (every second
    element of the last dim), 'offset' (without the first row), 'expand' (a new first dim of 2). grad: of
    floating dtypes alone."""

    def __init__(self, base, layout=None, grad=False):
        self.base, self.layout, self.grad = base, layout, grad and base.is_floating_point()

    def view(self):
        base = self.base.detach().clone()
        view = {
            None: lambda: base,
            "transpose": lambda: base.transpose(-2, -1),
            "step": lambda: base[..., ::2],
            "offset": lambda: base[1:],
            "expand": lambda: base.expand(2, *base.shape),
        }[self.layout]()
        return view.requires_grad_() if self.grad else view

    def spell(self):
        extra = {}
        if self.layout:
            extra["layout"] = f"'{self.layout}'"
        if self.grad:
            extra["grad"] = "true"
        return lua.tensor(self.base, **extra)


class Dim:
    def __init__(self, i):
        self.value = i

    def spell(self):
        return str(from_one(self.value))


class Pos(Dim):
    pass


class Dims:
    def __init__(self, *dims):
        self.value = list(dims)

    def spell(self):
        return "{list={" + ",".join(str(from_one(d)) for d in self.value) + "}}"


class Idx:
    def __init__(self, t):
        self.value = t if isinstance(t, torch.Tensor) else torch.tensor(t)

    def spell(self):
        return lua.tensor(index_tensor(self.value))


def live(arg):
    """The argument as PyTorch takes it."""
    if isinstance(arg, Arg):
        return arg.view()
    if isinstance(arg, (Dim, Dims, Idx)):
        return arg.value
    if isinstance(arg, list):
        return [live(a) for a in arg]
    return arg


def spell(arg):
    """The argument as Lua source."""
    if hasattr(arg, "spell"):
        return arg.spell()
    if isinstance(arg, list):
        return "{list={" + ",".join(spell(a) for a in arg) + "}}"
    if isinstance(arg, torch.dtype):
        return "{type='" + lua.dtype_name(arg) + "'}"
    if isinstance(arg, str):
        return lua.string(arg)
    if arg is None:
        return "{none=true}"
    return lua.number(arg)


def leaves(args):
    for arg in args:
        if isinstance(arg, torch.Tensor) and arg.requires_grad:
            yield arg
        elif isinstance(arg, list):
            yield from leaves(arg)


def spell_result(out, strides=None):
    """strides: of the result, in the data where it is not contiguous."""
    if not isinstance(out, torch.Tensor):
        return "{value=" + lua.number(out) + "}"
    extra = {"strides": lua.items(strides)} if strides else {}
    return lua.tensor(out, **extra)


def uncommon_strides(out):
    return out.stride() if isinstance(out, torch.Tensor) and not out.is_contiguous() else None


class Group:
    """The cases of one data file."""

    def __init__(self):
        self.rows = []

    def add(self, op, *args, run=None, via=None, exact=False, index_out=(), loose=None, **kwargs):
        """One case. run: what to call in PyTorch (torch.<op> otherwise). via: how Lua calls it: 'f'
        function, 'm' method, 'F' torch.nn.functional, 'o' operator, 'i' subscript; both f and m when not given.
        exact: IEEE fixes the result. A case PyTorch has no kernel for is left out; other failures
        are recorded as such."""
        values = [live(a) for a in args]
        named = {k: live(v) for k, v in kwargs.items()}
        row = [f"op='{op}'", "args={" + ",".join(spell(a) for a in args) + "}"]
        if kwargs:
            row.append("kwargs={" + ",".join(f"{k}={spell(v)}" for k, v in kwargs.items()) + "}")
        if via:
            row.append(f"via='{via}'")
        call = run or getattr(torch, op)
        try:
            out = call(*values, **named)
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            if "not implemented" not in str(error):
                raise
            return
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if exact:
            row.append("exact=true")
        if loose:
            row.append(f"loose={loose}")
        row.append("out={" + ",".join(
            spell_result(index_tensor(o) if i in index_out else o, uncommon_strides(o)) for i, o in enumerate(outs)) + "}")
        wanted = list(leaves(values)) + list(leaves(named.values()))
        if wanted and getattr(outs[0], "requires_grad", False):
            outs[0].backward(upstream(outs[0]))
            row.append("grads={" + ",".join(lua.tensor(leaf.grad) for leaf in wanted) + "}")
        self.rows.append("{" + ",".join(row) + "}")

    def fails(self, op, *args, message, run=None, via=None, **kwargs):
        """A case that must raise; `message` is a piece of PyTorch's message, found in Lua's too."""
        values = [live(a) for a in args]
        call = run or getattr(torch, op)
        try:
            call(*values, **{k: live(v) for k, v in kwargs.items()})
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            if message not in str(error):
                raise AssertionError(f"{op}: PyTorch says {error}") from error
        else:
            raise AssertionError(f"{op} did not fail in PyTorch")
        row = [f"op='{op}'", "args={" + ",".join(spell(a) for a in args) + "}"]
        if kwargs:
            row.append("kwargs={" + ",".join(f"{k}={spell(v)}" for k, v in kwargs.items()) + "}")
        if via:
            row.append(f"via='{via}'")
        row.append("error=" + lua.string(message))
        self.rows.append("{" + ",".join(row) + "}")

    def write(self, path, comment):
        return lua.write_file(path, comment, self.rows)


INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
DTYPES = [torch.bool] + INTEGERS + FLOATS
NAN, INF = float("nan"), float("inf")


def values(dtype, *shape, low=-3.0, high=3.0):
    """Random elements with two decimals (short to write); integers and bools for those dtypes."""
    shape = tuple(shape)
    if dtype is torch.bool:
        return torch.rand(shape) < 0.5
    if dtype.is_complex:
        part = dtype.to_real()
        return torch.complex(values(part, *shape, low=low, high=high), values(part, *shape, low=low, high=high))
    if not dtype.is_floating_point:
        low = 0 if dtype is torch.uint8 else -9
        return torch.randint(low, 10, shape).to(dtype)
    return ((torch.rand(shape, dtype=torch.float64) * (high - low) + low) * 100).round().div(100).to(dtype)


def positive(dtype, *shape):
    if not dtype.is_floating_point:
        return torch.randint(1, 5, tuple(shape)).to(dtype)
    return values(dtype, *shape, low=0.1, high=4.0)


def distinct(dtype, *shape):
    """No two elements equal, so that the place of an extreme is not a matter of taste."""
    n = 1
    for size in shape:
        n *= size
    t = torch.randperm(n)
    if dtype.is_floating_point:
        return (t.to(torch.float64) / 4 - n / 8).to(dtype).reshape(shape)
    return t.to(dtype).reshape(shape)
