"""Layers and functions made of other ops: fractional pools for a seed, CrossMapLRN2d, linear_cross_entropy, attention as a
function. A row is {name=, inputs={...}, results={...}}; positions count from 1."""

import torch
import torch.nn.functional as F

from . import lua

F64 = torch.float64


def row(name, inputs, results, **more):
    fields = [f"name='{name}'", f"inputs={lua.items(lua.tensor(t) for t in inputs)}", f"results={lua.items(lua.tensor(t) for t in results)}"]
    fields += [f"{key}={text}" for key, text in more.items()]
    return "{" + ",".join(fields) + "}"


def fractional(n, shape, window, output, ratio=None, dtype=F64):
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    torch.manual_seed(7)
    function = getattr(F, f"fractional_max_pool{n}d")
    y, at = function(x, window, output_size=output, output_ratio=ratio, return_indices=True)
    (y * torch.arange(y.numel(), dtype=dtype).view_as(y)).sum().backward()
    named = [f"kernel_size={lua.number(window) if isinstance(window, int) else lua.items(window)}"]
    if output is not None:
        named.append(f"output_size={lua.number(output) if isinstance(output, int) else lua.items(output)}")
    else:
        named.append(f"output_ratio={lua.items(lua.number(r) for r in ratio)}")
    return row(f"fractional_max_pool{n}d", [x.detach()], [y.detach(), at + 1, x.grad], named="{" + ",".join(named) + "}")


def norm(size):
    x = torch.randn(2, 6, 2, 2, dtype=F64)
    return row("CrossMapLRN2d", [x], [torch.nn.CrossMapLRN2d(size, 0.3, 0.6, 1.5)(x)], size=size)


def entropy(weight_shape, target, bias=False, **options):
    torch.manual_seed(3)
    x, w = torch.randn(3, 4, dtype=F64), torch.randn(*weight_shape, 4, dtype=F64)
    b = torch.randn(weight_shape, dtype=F64) if bias else None
    result = F.linear_cross_entropy(x, w, target, linear_bias=b, **options)
    named = ",".join(f"{k}={lua.string(v) if isinstance(v, str) else lua.number(v)}" for k, v in options.items())
    return row("linear_cross_entropy", [x, w, target if target.is_floating_point() else target + 1] + ([b] if bias else []), [result], named="{" + named + "}")


def attention(mask, add_zero, bias_kv):
    torch.manual_seed(4)
    q, k, v = torch.randn(3, 2, 4, dtype=F64), torch.randn(5, 2, 4, dtype=F64), torch.randn(5, 2, 4, dtype=F64)
    w, b, o, ob = torch.randn(12, 4, dtype=F64), torch.randn(12, dtype=F64), torch.randn(4, 4, dtype=F64), torch.randn(4, dtype=F64)
    bk = torch.randn(2, 1, 1, 4, dtype=F64)
    m = torch.randn(3, 5, dtype=F64)
    y, weights = F.multi_head_attention_forward(q, k, v, 4, 2, w, b, bk[0] if bias_kv else None, bk[1] if bias_kv else None, add_zero, 0.0, o, ob,
                                                attn_mask=m if mask else None)
    return row("multi_head_attention_forward", [q, k, v, w, b, o, ob, bk, m], [y, weights], mask=lua.number(mask), add_zero=lua.number(add_zero),
               bias_kv=lua.number(bias_kv))


def write(path):
    target = torch.tensor([0, 2, 1])
    probabilities = torch.rand(3, 5, dtype=F64).softmax(-1)
    rows = [
        fractional(2, (2, 3, 7, 9), 2, (4, 5)), fractional(2, (3, 8, 8), (3, 2), None, (0.5, 0.5)), fractional(2, (1, 2, 6, 6), 3, 1),
        fractional(2, (2, 2, 9, 9), 2, 5, dtype=torch.float32), fractional(3, (2, 2, 5, 6, 7), 2, (3, 4, 2)), fractional(3, (2, 6, 6, 6), 2, 3),
        norm(3), norm(4), norm(5),
        entropy((5,), target), entropy((5,), target, True, reduction="none"), entropy((5,), target, reduction="sum", label_smoothing=0.2),
        entropy((5, 2), torch.tensor([[0, 4], [2, 2], [1, 3]]), True), entropy((5,), probabilities),
        attention(False, False, False), attention(True, True, False), attention(True, False, True),
    ]
    return lua.write_file(path, "Layers made of other ops.", rows)
