"""Makes the calls that expressions.lua wrote down again with PyTorch, and tells what differs.

    python torch_twin.py FILE

Positions count from 1 there: which arguments and results are positions, their declared types say. A difference in value, dtype or shape ends
in exit status 1; what only one of the two refuses is counted, and listed once per function with -v.
"""
import json
import math
import sys

import torch
import torch.nn.functional as F

TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 6e-2, torch.float32: 2e-4, torch.float64: 1e-9}
POSITIONS = ("Dim", "Dims", "Index", "IndexTensor", "IndexTensor[]")
SPREAD = ("chain_matmul", "broadcast_tensors")
# Defined for sorted boundaries only; results that come by other names than by their order; an empty tensor as it is.
LEFT_OUT = ("bucketize", "searchsorted", "unique", "unique_consecutive", "pixel_shuffle", "pixel_unshuffle")
NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def dtype_of(name):
    return getattr(torch, name.replace("torch.", ""))


def shifted(number):
    return number - 1 if isinstance(number, int) and not isinstance(number, bool) and number > 0 else number


def decode(value, kind, writes=False):
    position = kind.rstrip("?") in POSITIONS
    if isinstance(value, dict) and "tensor" in value:
        dtype = dtype_of(value["dtype"])
        data = [NUMBERS.get(x, x) if isinstance(x, str) else x for x in value["tensor"]]
        tensor = torch.tensor(data, dtype=torch.float64 if dtype.is_floating_point else dtype).to(dtype).reshape(value["shape"])
        if position and not dtype.is_floating_point and dtype != torch.bool:
            tensor = torch.where(tensor > 0, tensor - 1, tensor)
        for dim, expanded in enumerate(value["expanded"] if writes else ()):
            if expanded:  # its elements stay one place of the memory
                tensor = tensor.narrow(dim, 0, 1)
        return tensor.clone().expand(value["shape"])
    if isinstance(value, dict):
        return dtype_of(value["dtype"])
    if isinstance(value, list):
        return [decode(item, kind) for item in value]
    if isinstance(value, str):
        return NUMBERS.get(value, value) if kind.rstrip("?") in ("Scalar", "float") else value
    return shifted(value) if position else value


def means_nothing(call):
    """Losses of two dtypes or shapes, whose results go by the first; scores that broadcast; topk in no order; logit whose bounds have changed sides; what PyTorch rounds to integers on the way; convolutions and distances of nothing; integers as
    the probabilities of classes, which are positions then; bags of which the last ends before the indices do."""
    values = [a["value"] for a in call["arguments"] + call["named"]]
    if call["op"] == "logit":
        return any(isinstance(v, (int, float)) and v > 0.5 for v in values[1:])
    tensors = [v for v in values if isinstance(v, dict) and "shape" in v]
    if call["op"] == "cross_entropy":
        return any(a["name"] == "target" and a["type"] == "Tensor" and "float" not in a["value"]["dtype"] for a in call["arguments"])
    if call["op"] == "embedding_bag":
        return any(a["name"] == "include_last_offset" and a["value"] for a in call["arguments"] + call["named"])
    if call["op"] == "cdist":
        return any(0 in v["shape"] for v in tensors) and len({v["dtype"] for v in tensors}) > 1
    if call["op"].endswith("_loss") or call["op"].endswith("_logits") or call["op"] == "scaled_dot_product_attention":
        return len({(v["dtype"], tuple(v["shape"])) for v in tensors}) > 1 and call["op"] != "nll_loss"
    if call["op"] == "topk" and any(a["name"] == "sorted" for a in call["arguments"] + call["named"]):
        return True
    if call["op"].startswith("conv"):
        return any(0 in v["shape"] for v in values if isinstance(v, dict) and "shape" in v)
    return call["op"] == "local_response_norm" and "float" not in values[0]["dtype"]


def function_of(call):
    name = call["op"]
    if name == "embedding":  # F.embedding takes the weight second
        return torch.embedding
    if hasattr(F, name) and (call["nn"] or not hasattr(torch.Tensor, name)):
        return getattr(F, name)
    found = getattr(torch, name, None)
    return found if callable(found) else getattr(torch.Tensor, name, None)


def has_repeats(tensor):
    flat = tensor.flatten().double()
    return bool(flat.isnan().any()) or flat.unique().numel() < flat.numel()


def difference(got, want, loosest):
    """got is ours."""
    if not torch.is_tensor(want):
        return None
    if not torch.is_tensor(got):
        return None if want.dim() == 0 else f"no tensor but {got}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype} instead of {want.dtype}"
    if got.shape != want.shape:
        return f"shape {list(got.shape)} instead of {list(want.shape)}"
    if want.numel() == 0:
        return None
    a, b = (x.detach().to(torch.complex128 if want.is_complex() else torch.float64) for x in (got, want))
    finite = b[b.isfinite()].abs()
    largest = finite.max().item() if finite.numel() else 0
    allowed = 0.0
    if want.is_floating_point():
        allowed = max(loosest, TOLERANCE[want.dtype])
    bound = allowed * (b.abs().nan_to_num(0, 0, 0) + 0.05 * largest + (1 if allowed > 1e-2 else 1e-2)) if allowed else torch.zeros_like(b)
    wrong = ~(((a - b).abs() <= bound) | (a == b) | (a.isnan() & b.isnan()))
    if wrong.any():
        at = wrong.flatten().nonzero()[0].item()
        return f"element {at} (from 0) is {got.flatten()[at].item()} instead of {want.flatten()[at].item()}"
    return None


def main():
    verbose = "-v" in sys.argv
    calls = same = unknown = here_only = there_only = 0
    differences, seen = [], set()
    for line in open(sys.argv[-1]):
        call = json.loads(line)
        calls += 1
        function = function_of(call)
        if function is None or call["op"] in LEFT_OUT or means_nothing(call):
            unknown += 1
            continue
        if call["op"] == "tensor_split" and isinstance(call["arguments"][1]["value"], int):  # so many parts, no position
            call["arguments"][1]["type"] = "int"
        arguments = [decode(a["value"], a["type"], call["op"].endswith("_")) for a in call["arguments"]]
        named = {a["name"]: decode(a["value"], a["type"]) for a in call["named"]}
        if function is getattr(F, call["op"], None):  # whose third argument may be one of PyTorch's past
            for a, value in list(zip(call["arguments"], arguments))[2:]:
                named[a["name"]] = value
            arguments = arguments[:2]
        if call["op"] in SPREAD:
            arguments = arguments[0]
        tied = any(torch.is_tensor(x) and has_repeats(x) for x in arguments[:1])
        loosest = max([TOLERANCE.get(x.dtype, 0) for x in arguments if torch.is_tensor(x)] + [0])
        try:
            results = function(*arguments, **named)
            refused = None
        except Exception as error:  # whatever PyTorch raises is a refusal
            refused = str(error).split("\n")[0]
        if refused is not None or "error" in call:
            if refused is None:
                here_only += 1
                word = "refused here only: " + call["error"]
            elif "error" not in call:
                there_only += 1
                word = "refused by PyTorch only: " + refused
            else:
                same += 1
                continue
            if verbose and (call["op"], word[:16]) not in seen:
                seen.add((call["op"], word[:16]))
                print(call["text"][:300] + "\n  " + word[:300])
            continue
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        given = [decode(value, kind) for value, kind in zip(call["results"], call["kinds"])]
        if len(given) == 1 and isinstance(given[0], list):
            given = given[0]
        text = None
        for i, (got, want) in enumerate(zip(given, results)):
            kind = call["kinds"][min(i, len(call["kinds"]) - 1)]
            if not (tied and kind == "IndexTensor"):
                text = text or difference(got, want, loosest)
        if text:
            differences.append(call["text"] + "\n  " + text)
        else:
            same += 1
    for text in differences:
        print(text)
    print(f"expressions: {calls} beside PyTorch {torch.__version__}, {same} the same, {len(differences)} differ, "
          f"{here_only} refused here only, {there_only} by PyTorch only, {unknown} not in PyTorch")
    sys.exit(1 if differences else 0)


main()
