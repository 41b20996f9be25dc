"""Calls from PyTorch's database of operators (op_db): its samples as cases of ours. The database spells arguments as
Python does; which of them are positions follows from our declarations."""

import warnings

import torch

from . import lua
from .cases import DTYPES, Arg, index_tensor, spell, spell_result, uncommon_strides, upstream
from .declared import Place, bind, find, overloads
from .index_cases import Subscript

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

RAISED = (RuntimeError, IndexError, ValueError, TypeError, AttributeError)

# Names that are words of Lua.
KEYWORDS = {"end": "['end']", "repeat": "['repeat']"}

# Named arguments that say nothing about a result on the CPU.
DROPPED = {"device", "layout", "pin_memory", "generator", "memory_format"}

OPERATORS = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rdiv__": "/", "__rmod__": "%", "__rpow__": "^", "__rand__": "&",
             "__ror__": "|", "__rxor__": "~"}

# Other names of declared ops: torch.linalg's, and two of torch.nn.functional.
DECLARED_AS = {"linalg.inv": "inverse", "linalg.det": "det", "linalg.slogdet": "slogdet", "linalg.cholesky": "cholesky",
               "linalg.matrix_power": "matrix_power", "nn.functional.unfold": "im2col", "_segment_reduce": "segment_reduce", "nn.functional.fold": "col2im"}

# Ops that give the place of any of several equal elements.
ANY_PLACE = {"kthvalue", "mode", "sort", "topk", "median", "nanmedian", "argsort"}

# Orders of arguments in which a sample has the tensor first and the function does not.
ORDER = {
    "nn.functional.embedding": lambda weight, at: [at, weight],
    "nn.functional.embedding_bag": lambda weight, at: [at, weight],
    "einsum": lambda tensors, equation: [equation, tensors],
    "polygamma": lambda self, n: [n, self],
    "special.polygamma": lambda self, n: [n, self],
    "where": lambda self, condition, other: [condition, self, other],
}


class Given(Arg):
    """A tensor of a sample: contiguous, or a view of its memory by sizes and strides."""

    def __init__(self, base, size=None, strides=None, grad=False):
        super().__init__(base, None, grad)
        self.how, self.size, self.strides = (size, strides, grad), size, strides

    def view(self):
        base = self.base.detach().clone()
        view = base.as_strided(self.size, self.strides) if self.size is not None else base
        return view.requires_grad_() if self.grad else view

    def spell(self):
        if self.size is None:
            return super().spell()
        extra = {"grad": "true"} if self.grad else {}
        return lua.tensor(self.base, layout="'strided'", size=lua.items(self.size), strides=lua.items(self.strides), **extra)

    @classmethod
    def of(cls, t, grad=False, tidy=False):
        t = t.detach()
        if t.is_contiguous() or t.dtype not in DTYPES:
            return cls(tidied(t.clone(), tidy), grad=grad)
        span = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
        if t.numel() == 0:
            span = 0
        return cls(tidied(t.as_strided((span,), (1,)).clone(), tidy), list(t.shape), list(t.stride()), grad)


def tidied(t, tidy):
    """Multiples of 1/64, which are short to write and the same in every dtype."""
    return (t.double() * 64).round().div(64).to(t.dtype) if tidy and t.is_floating_point() else t


def mapped(value, f):
    """A structure with f applied to its tensors."""
    if isinstance(value, torch.Tensor):
        return f(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(v, f) for v in value) if not isinstance(value, torch.Size) else list(value)
    if isinstance(value, dict):
        return {k: mapped(v, f) for k, v in value.items()}
    return value


def flattened(value):
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from flattened(v)
    elif isinstance(value, dict):
        yield from flattened(list(value.values()))
    else:
        yield value


def speaks_of(value):
    """Whether we have all kinds of values of a structure: no complex numbers, no sparse tensors, no other dtypes."""
    for v in flattened(value):
        if isinstance(v, torch.Tensor) and (v.dtype not in DTYPES or v.layout is not torch.strided or v.is_conj()):
            return False
        if isinstance(v, torch.dtype) and v not in DTYPES or isinstance(v, torch.layout) and v is not torch.strided:
            return False
        if isinstance(v, complex) or isinstance(v, torch.memory_format) and v is not torch.preserve_format:
            return False
    return True


class Call:
    """How Lua makes a call: the function's name, the way to it, and its arguments. None of it where `why` says why not.
    taken: an overload takes the arguments as they are."""

    def __init__(self, op, sample, must_fail=False):
        self.why, self.overload, self.taken = None, None, True
        args = [sample.input, *sample.args]
        if op.name in ORDER:
            args = ORDER[op.name](*args)
        named = {k: v for k, v in sample.kwargs.items() if k not in DROPPED}
        name = op.name
        if name.startswith("nn.functional.adaptive_max") and len(args) == 3:
            named["return_indices"] = args.pop()
        if name in OPERATORS:
            self.name, self.via, self.args, self.named = OPERATORS[name], "o", args[::-1], named
            return
        if name == "__getitem__":
            self.subscript(args)
            return
        self.name, self.via = name.split(".")[-1], {"nn": "F", "linalg": "L", "special": "S", "masked": "M", "signal": "W"}.get(name.split(".")[0] if "." in name else "")
        candidates = [DECLARED_AS.get(name), name, name.replace("linalg.", "L."), name.replace("linalg.", "linalg_"), name.replace("special.", "special_"), name.replace("special.", ""), name.replace("masked.", "masked_"), name.replace("signal.windows.", "W."), name.replace("nn.functional.", "F."), name.replace("nn.functional.", "")]
        declared = next((c for c in candidates if c in overloads()), None)
        if declared is None:
            self.why = "not there"
            return
        found = find(declared, args, named)
        if not found and must_fail:
            self.taken = False
            first = overloads()[declared][0]
            found = first, *bind(first, args, named, loosely=True)
        if not found:
            self.why = "no overload takes it"
            return
        self.overload, self.args, self.named = found
        if self.via is None:
            variants = self.overload.variants
            first = self.overload.arguments and self.overload.arguments[0].type.startswith("Tensor") and "[]" not in self.overload.arguments[0].type
            method = "method" in variants and first and isinstance(args[0], Arg)
            self.via = (None if method else "f") if "function" in variants else "m" if method else None
            if not variants & {"function", "method"}:
                self.why = "no function or method"

    def subscript(self, args):
        self.name, self.via, self.named = "index", "i", {}
        entries = args[1] if isinstance(args[1], tuple) else (args[1],)
        if not all(e is None or e is Ellipsis or isinstance(e, (int, slice, Arg)) for e in entries) or any(isinstance(e, bool) or e is Ellipsis for e in entries):
            self.why = "not a subscript of ours"
            return
        self.args = [args[0], Subscript(*[Place(e) if isinstance(e, Given) else e for e in entries])]

    def fields(self):
        """The call in a row of the data."""
        fields = [f"op='{self.name}'", "args={" + ",".join(spell(a) for a in self.args) + "}"]
        if self.named:
            fields.append("kwargs={" + ",".join(f"{KEYWORDS.get(k, k)}={spell(v)}" for k, v in self.named.items()) + "}")
        if self.via:
            fields.append(f"via='{self.via}'")
        return fields

    def index_results(self):
        kinds = self.overload.results if self.overload else []
        if self.name.startswith("unique"):
            return {1} if self.named.get("return_inverse") else set()
        if self.name in ("nonzero", "unravel_index"):
            return set(range(9))
        places = {i for i, kind in enumerate(kinds) if kind == "IndexTensor"}
        return places | ({1} if self.named.get("return_indices") else set())


# What follows the memory format of its input there; ours knows the one.
CHANNELS_LAST = ("nn.functional.conv", "nn.functional.max_pool", "nn.functional.avg_pool", "nn.functional.adaptive", "nn.functional.interpolate",
                 "nn.functional.upsample", "nn.functional.max_unpool", "nn.functional.pad", "nn.functional.grid_sample", "nn.functional.lp_pool", "cat")


def with_layout(op, t):
    """The same elements, not in a row: matrices column by column, lists with holes."""
    if t.dim() >= 2 and not op.name.startswith(CHANNELS_LAST):
        return t.mT.contiguous().mT
    if t.dim() >= 1 and t.numel() > 1:
        return t.repeat_interleave(2, -1)[..., ::2]
    return t


def rounded(out):
    """Floats of double precision with the digits that are compared."""
    if not isinstance(out, torch.Tensor) or out.dtype is not torch.float64 or out._is_zerotensor():
        return out
    return torch.tensor([float(f"{v:.14g}") for v in out.reshape(-1).tolist()], dtype=torch.float64).reshape(out.shape)


class Case:
    """A sample as a row of the data, or why there is none."""

    def __init__(self, op, sample, grad=False, tidy=False, layout=False):
        self.row, self.why = None, None
        structure = (sample.input, sample.args, sample.kwargs)
        if not speaks_of(structure):
            self.why = "a dtype or layout that is not there"
            return
        given = mapped(structure, lambda t: Given.of(with_layout(op, t) if layout else t, grad, tidy))
        self.tensors = [v for v in flattened(given) if isinstance(v, Given)]
        self.sample = type("Sample", (), {"input": given[0], "args": tuple(given[1]), "kwargs": given[2]})
        call = self.call = Call(op, self.sample)
        if call.why:
            self.why = call.why
            return
        try:
            outs, gradients = self.run(op)
        except RAISED as error:
            self.why = f"raises: {type(error).__name__}: {error}"
            return
        if not speaks_of((outs, gradients)):
            self.why = "a dtype that is not there"
            return
        if not all(isinstance(o, (torch.Tensor, int, float, bool)) for o in outs):
            self.why = "a result that is no tensor or number"
            return
        if op.name in ANY_PLACE and not self.distinct():
            outs = outs[:1]
        self.outs = outs
        index_out = call.index_results()
        outs = [index_tensor(o) if i in index_out else o for i, o in enumerate(outs)]
        fields = call.fields()
        strides = [uncommon_strides(o) for o in outs]
        if any(strides) and op.name.startswith(CHANNELS_LAST):
            self.why = "lies channels last"
            return
        fields.append("out={" + ",".join(spell_result(rounded(o), s) for o, s in zip(outs, strides)) + "}")
        if gradients:
            fields.append("grads={" + ",".join(lua.tensor(rounded(g)) for g in gradients) + "}")
        self.row = "{" + ",".join(fields) + "}"

    def distinct(self):
        first = self.tensors[0].view().detach()
        return first.unique().numel() == first.numel()

    def run(self, op):
        """The results, and the gradients of those tensors that have one: the others are marked as not wanting it."""
        while True:
            lives = {}
            def alive(v):
                if isinstance(v, Given):
                    lives[id(v)] = v.view()
                    return lives[id(v)]
                if isinstance(v, (list, tuple)):
                    return type(v)(alive(i) for i in v)
                if isinstance(v, dict):
                    return {k: alive(i) for k, i in v.items()}
                return v
            wanted = [t for t in self.tensors if t.grad]
            try:
                out = op.op(alive(self.sample.input), *alive(self.sample.args), **alive(self.sample.kwargs))
            except RuntimeError as error:
                if "derivative" not in str(error) and "differentiable" not in str(error) or not wanted:
                    raise
                for t in wanted[1:] or wanted:  # the first alone, or none
                    t.grad, t.how = False, (*t.how[:2], False)
                continue
            outs = list(out) if isinstance(out, (tuple, list)) else [out]
            if not wanted:
                return outs, []
            if not (isinstance(outs[0], torch.Tensor) and outs[0].requires_grad):
                missing = wanted
            else:
                outs[0].backward(upstream(outs[0]))
                missing = [t for t in wanted if lives[id(t)].grad is None]
            if not missing:
                order = [lives[id(t)].grad for t in self.in_order() if t.grad]
                return [o.detach() if isinstance(o, torch.Tensor) else o for o in outs], order
            for t in missing:
                t.grad, t.how = False, (*t.how[:2], False)

    def in_order(self):
        """The tensors as Lua makes them: arguments, then the named ones in the order of their names."""
        def given(v):
            v = getattr(v, "arg", v)
            return [v] if isinstance(v, Given) else [g for i in v for g in given(i)] if isinstance(v, list) else []
        return given(self.call.args) + given([self.call.named[name] for name in sorted(self.call.named)])
