"""Writes lib/export/write/overloads.lua: ATen's overloads for the operations of ltensor, with which torch.export.export names nodes.

    ltensor tests/reference/generator/operation_names.lua | python tests/reference/aten_overloads.py

The standard input has the names of ltensor's operations, one a line. MORE are the ones that the writers of lib/export/write name themselves.
"""

import pathlib
import re
import sys

import torch

MORE = """_unique2 adjoint affine_grid_generator alias avg_pool3d copy_ cross_entropy_loss embedding_renorm_ feature_alpha_dropout feature_dropout fill_ grid_sampler gru
    index index_put_ lift_fresh_copy linalg_vector_norm log_sigmoid lstm matrix_H max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices mH mT
    nll_loss_nd numpy_T rnn_relu rnn_tanh select slice to unique_dim upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d
    _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d""".split()
# Overloads with arguments that the operations of ltensor do not take.
LEFT_OUT = set("""addmm.dtype baddbmm.dtype bmm.dtype bucketize.Scalar isin.Scalar_Tensor isin.Tensor_Scalar linalg_matrix_rank.default linalg_matrix_rank.tol_tensor
    linalg_pinv.default linalg_pinv.rcond_tensor linspace.Scalar_Tensor linspace.Tensor_Scalar linspace.Tensor_Tensor logspace.Scalar_Tensor
    logspace.Tensor_Scalar logspace.Tensor_Tensor mm.dtype narrow.Tensor randint_like.Tensor searchsorted.Scalar sort.Tensor""".split())
WIDTH = 160  # columns
UNUSED = ("Generator", "Layout", "MemoryFormat", "Stream", "Storage")  # optional arguments of these types stay at their defaults
UNUSED_NAMES = ("pin_memory", "non_blocking", "implicit", "sparse_grad", "compute_mode")


def parameter(argument, text):
    """An argument as in the schema, without marks of aliases."""
    text = re.sub(r"\([a-z]!?(\|[a-z])?( -> \*)?\)", "", text).replace("SymInt", "int").replace("1.0000000000000001e-05", "1e-05")
    return None if argument.has_default_value() and (text.startswith(UNUSED) or argument.name in UNUSED_NAMES) else text


def split(text):
    """A list at its commas outside of brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def described(schema):
    """name.overload(arguments) and, if it is not one tensor, the results: their number, or [] for a list."""
    inside = re.sub(r"\([a-z]!?(\|[a-z])?( -> \*)?\)", "", str(schema)).split("(", 1)[1].rsplit(") ->", 1)[0]
    parts, arguments = [], iter(schema.arguments)
    given = split(inside)
    for text in given:
        kept = text if text == "*" else parameter(next(arguments), text)
        if kept:
            parts.append(kept)
    if parts and parts[-1] == "*":
        parts.pop()
    results = [str(r.type) for r in schema.returns]
    shown = "" if results == ["Tensor"] else "[]" if results == ["List[Tensor]"] else str(len(results))
    return f"{schema.name[6:]}.{schema.overload_name or 'default'}({', '.join(parts)}){shown}"


def is_used(schema, names):
    name, overload = schema.name.removeprefix("aten::"), schema.overload_name or "default"
    text = str(schema)
    types = [str(a.type) for a in schema.arguments] + [str(r.type) for r in schema.returns]
    if not schema.name.startswith("aten::") or name not in names or any(a.is_out for a in schema.arguments):
        return False
    if f"{name}.{overload}" in LEFT_OUT:
        return False
    if "Dimname" in text or overload in ("generator", "Tensor_hacked_twin", "hacked_twin", "sublist") or not any("Tensor" in t for t in types):
        return False
    if any("Tensor" not in str(r.type) for r in schema.returns):
        return False
    if any("Generator" in str(a.type) and not a.has_default_value() for a in schema.arguments):
        return False
    packet = getattr(torch.ops.aten, name, None)
    return packet is not None and overload in packet.overloads()


def main():
    names = {name.split(".")[-1] for name in sys.stdin.read().split()} | set(MORE)
    all_of = {described(s) for s in torch._C._jit_get_all_schemas() if is_used(s, names)}
    # An in-place form with the arguments of the other one is known by it.
    kept = sorted(t for t in all_of if re.sub(r"^(\w+?)_\.", r"\1.", t) == t or re.sub(r"^(\w+?)_\.", r"\1.", t) not in all_of)
    lines = {}
    for text in kept:
        lines.setdefault(text.split(".")[0], []).append(text)
    path = pathlib.Path(__file__).resolve().parents[2] / "lib/export/write/overloads.lua"
    rows = [""]
    for text in (text for name in sorted(lines) for text in lines[name]):
        if rows[-1] and len(rows[-1]) + len(text) > WIDTH:
            rows.append("")
        rows[-1] += ("; " if rows[-1] else "") + text
    body = ";\n".join(rows)
    path.write_text(f"""-- overloads.lua - ATen's overloads for our operations: name.overload(arguments), then the number of
-- results if it is not one tensor, [] for a list of tensors. Without optional arguments that a program does not need.
-- Written by tests/reference/aten_overloads.py from PyTorch {torch.__version__.split('+')[0]}; do not edit.
return [[
{body}
]]
""", encoding="utf-8")


if __name__ == "__main__":
    main()
