"""The declarations of our ops (src/ops), read by Lua, and fitting a call of PyTorch's to one of them: which argument is
a dimension, a position or an index tensor follows from its type there."""

import collections
import functools
import pathlib
import subprocess

import torch

from .cases import Arg, Dim, Dims, Idx, index_tensor
from . import lua

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Functions of lib/, which have no declaration: their arguments and results in the words of one.
LIBRARY = {
    "F.interpolate": "(Tensor input, Size? size=nil, Size? scale_factor=nil, string mode=nil, bool? align_corners=nil, bool? recompute_scale_factor=nil, bool antialias=false) -> Tensor",
    "F.upsample_nearest": "(Tensor input, Size? size=nil, Size? scale_factor=nil) -> Tensor",
    "F.upsample_bilinear": "(Tensor input, Size? size=nil, Size? scale_factor=nil) -> Tensor",
    "F.grid_sample": "(Tensor input, Tensor grid, string mode=nil, string padding_mode=nil, bool? align_corners=nil) -> Tensor",
    "F.ctc_loss": "(Tensor log_probs, IndexTensor targets, Tensor input_lengths, Tensor target_lengths, *, Index blank=1, string reduction='mean', bool zero_infinity=false) -> Tensor",
    "F.triplet_margin_with_distance_loss": "(Tensor anchor, Tensor positive, Tensor negative, *, float margin=1, bool swap=false, string reduction='mean') -> Tensor",
    "L.matrix_rank": "(Tensor A, *, Tensor|Scalar tol=nil, Tensor|Scalar atol=nil, Tensor|Scalar rtol=nil, bool hermitian=false) -> Tensor",
    "L.pinv": "(Tensor A, *, Tensor|Scalar rcond=nil, Tensor|Scalar atol=nil, Tensor|Scalar rtol=nil, bool hermitian=false) -> Tensor",
    "L.lstsq": "(Tensor A, Tensor B, *, float? rcond=nil, string? driver=nil) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    "L.diagonal": "(Tensor A, *, int offset=0, Dim dim1=-2, Dim dim2=-1) -> Tensor",
    "L.norm": "(Tensor A, Scalar|string? ord=nil, Dims? dim=nil, bool keepdim=false, *, Dtype? dtype=nil) -> Tensor",
}
for name, own in {"bartlett": "", "blackman": "", "cosine": "", "hamming": "", "hann": "", "nuttall": "", "general_cosine": "Scalar[] a, ",
                  "general_hamming": "float alpha=0.54, ", "exponential": "float? center=nil, float tau=1.0, ", "gaussian": "float std=1.0, ",
                  "kaiser": "float beta=12.0, "}.items():
    LIBRARY[f"W.{name}"] = f"(int M, *, {own}bool sym=true, Dtype? dtype=nil, bool requires_grad=false) -> Tensor"
for n in (1, 2, 3):
    LIBRARY[f"F.lp_pool{n}d"] = "(Tensor input, float norm_type, Size kernel_size, Size? stride=nil, bool ceil_mode=false) -> Tensor"
    LIBRARY[f"F.max_unpool{n}d"] = "(Tensor input, IndexTensor indices, Size kernel_size, Size? stride=nil, Size padding=0, Size? output_size=nil) -> Tensor"

# What the functions of lib/ add to those that are declared: max pools that give the places, activations in place.
ADDED = {"return_indices": "bool", "inplace": "bool", "as_tuple": "bool"}

LISTING = """
local declarations = dofile 'scripts/gen/declarations.lua'
local ops = declarations.load().ops
for _, op in ipairs(declarations.load_scripted().ops) do
  op.scripted = true
  ops[#ops + 1] = op
end
for _, op in ipairs(ops) do
  local arguments, results, names, variants = {}, {}, { op.name }, {}
  for i, a in ipairs(op.args) do
    arguments[i] = a.type .. ' ' .. a.name .. ' ' .. (a.keyword_only and 1 or 0) .. ' ' .. ((a.has_default or a.optional) and 1 or 0)
  end
  for i, r in ipairs(op.returns) do results[i] = r.type end
  for _, alias in ipairs(op.aliases) do names[#names + 1] = alias end
  for variant in pairs(op.variants) do variants[#variants + 1] = variant end
  for _, name in ipairs(names) do
    print(table.concat({ name, table.concat(variants, ' '), table.concat(arguments, ','), table.concat(results, ','), op.factory and 'factory' or '', op.scripted and 'scripted' or '' }, '\t'))
  end
end
"""

Argument = collections.namedtuple("Argument", "type name named optional")
Overload = collections.namedtuple("Overload", "variants arguments results factory scripted", defaults=[False])


def argument(text, named=False):
    """'Size? size=nil' as an Argument."""
    name = text.split()[-1]
    return Argument(text.split()[0], name.split("=")[0], named, "=" in name or "?" in text)


@functools.cache
def overloads():
    """Name -> overloads in the order in which they are tried; those of lib/ by 'F.name' and 'L.name'."""
    found = collections.defaultdict(list)
    listing = subprocess.run(["lua5.4", "-e", LISTING], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        name, variants, arguments, results, factory, scripted = line.split("\t")
        rows = [a.split(" ") for a in arguments.split(",") if a]
        found[name].append(Overload(set(variants.split()), [Argument(t, n, k == "1", d == "1") for t, n, k, d in rows], results.split(","), bool(factory), bool(scripted)))
    for name, text in LIBRARY.items():
        arguments, results = text[1:].split(") -> ")
        before, _, after = arguments.partition("*, ")
        rows = [argument(a) for a in before.split(", ") if a] + [argument(a, True) for a in after.split(", ") if a]
        found[name].append(Overload({"function"}, rows, [r.split()[0] for r in results.strip("()").split(", ")], False))
    return found


def is_int(v):
    return isinstance(v, int) and not isinstance(v, bool)


def is_number(v):
    return isinstance(v, (int, float, bool))


def is_list(v, of):
    return isinstance(v, (list, tuple)) and all(of(item) for item in v)


def is_index(v):
    return isinstance(v, Arg) and not v.base.is_floating_point()


def is_tensor(v):
    return isinstance(v, Arg)


FITS = {
    "Tensor": is_tensor, "IndexTensor": is_index, "Scalar": is_number, "int": is_int, "float": is_number,
    "Scalar[]": lambda v: is_list(v, is_number),
    "Tensor|Scalar": lambda v: is_tensor(v) or is_number(v), "Scalar|string": lambda v: is_number(v) or isinstance(v, str),
    "Tensor[]": lambda v: is_list(v, is_tensor), "IndexTensor[]": lambda v: is_list(v, is_tensor),
    "bool": lambda v: isinstance(v, bool), "string": lambda v: isinstance(v, str), "Device": lambda v: isinstance(v, (str, torch.device)),
    "Dim": is_int, "Dims": lambda v: is_int(v) or is_list(v, is_int), "Index": is_int,
    "Size": lambda v: is_number(v) or is_list(v, is_number), "Dtype": lambda v: isinstance(v, torch.dtype),
    "Generator": lambda v: v is None,
}
NUMBERS = {"Scalar", "int", "float", "Dim", "Index"}


def fits(kind, value, numbers):
    """numbers: a 0-dim tensor may stand for its number."""
    if value is None:
        return kind.endswith("?")
    kind = kind.removesuffix("?")
    return FITS[kind](value) or numbers and kind in NUMBERS and is_tensor(value) and value.view().dim() == 0


class Place(Idx):
    """An index tensor that may be a view, as Arg says."""

    def __init__(self, arg):
        super().__init__(arg.base)
        self.arg = arg

    def spell(self):
        if self.arg.base.dtype is torch.bool:
            return self.arg.spell()
        return type(self.arg)(index_tensor(self.arg.base), *self.arg.how).spell()


def typed(kind, value):
    """The value as cases.py's kind of argument."""
    kind = kind.removesuffix("?")
    if value is None:
        return None
    if kind in ("Dim", "Index") and is_int(value):
        return Dim(value)
    if kind == "Dims" and is_int(value):
        return Dim(value)
    if kind == "Dims" and is_list(value, is_int):
        return Dims(*value)
    if kind in ("IndexTensor", "Dim", "Index") and is_tensor(value):
        return Place(value)
    if kind == "IndexTensor[]" and is_list(value, is_tensor):
        return [Place(v) for v in value]
    return list(value) if isinstance(value, (list, tuple)) else value


def bind(overload, args, named, numbers=False, loosely=False):
    """The arguments, typed, or None where they do not fit. loosely: whatever they are, for calls that must fail."""
    if overload.arguments and args and isinstance(args[-1], (list, tuple)) and not args[-1] and len(args) <= len(overload.arguments):
        last = overload.arguments[len(args) - 1]  # {} at the end would be named arguments
        args, named = args[:-1], {last.name: args[-1], **named}
    out, rest, positional = [], list(args), [a for a in overload.arguments if not a.named]
    for at, a in enumerate(positional):
        if not rest:
            break
        numbers_in_a_row = a.type.rstrip("?") in ("Size", "Dims") and is_list(rest, is_int) and at == len(positional) - 1
        if a.type == "Tensor[]" and is_list(rest, is_tensor):
            rest = rest if len(rest) > 1 else [rest]
            out, rest = out + rest, []
            break
        row = numbers_in_a_row and len(rest) > 1
        values, rest = (rest, []) if row else (rest[:1], rest[1:])
        for value in values:
            if not (loosely or fits(a.type, value, numbers)):
                return None
            out.append(typed(a.type, value))
    if rest and not loosely:
        return None
    known = {a.name: a.type for a in overload.arguments}
    known.update(ADDED)
    if overload.factory:
        known.update(requires_grad="bool", dtype="Dtype?")
    given = {a.name for a in positional[:len(args)]}
    for a in overload.arguments:
        if not loosely and not a.optional and a.name not in given and a.name not in named:
            return None
    result = {}
    for name, value in named.items():
        if value is None and any(a.name == name and a.optional for a in overload.arguments):
            continue  # nil is absent
        if not loosely and not (name in known and fits(known[name], value, numbers)):
            return None
        result[name] = typed(known.get(name, ""), value)
    return out + rest, result


def find(name, args, named):
    """The first overload that takes the call, with its arguments; None where none does."""
    for numbers in (False, True):
        for overload in overloads()[name]:
            bound = bind(overload, args, named, numbers)
            if bound:
                return overload, *bound
    return None
