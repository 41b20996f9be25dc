"""scaled_dot_product_attention."""

import torch
import torch.nn.functional as F

from .cases import FLOATS, INF, Arg, Group, values

NAME = "scaled_dot_product_attention"


def add(g, q, k, v, *args, **kwargs):
    half = q.dtype in (torch.float16, torch.bfloat16)

    def run(query, key, value, *rest, **named):
        if half:
            query, key, value = query.float(), key.float(), value.float()
            named = {n: t.float() if isinstance(t, torch.Tensor) and t.dtype is q.dtype else t for n, t in named.items()}
        return F.scaled_dot_product_attention(query, key, value, *rest, **named).to(q.dtype)

    # The derivative uses the result, which is rounded: in few digits it is anybody's guess.
    inputs = [Arg(t, grad=not half) for t in (q, k, v)]
    g.add(NAME, *inputs, *args, run=run, via="F", loose=8, **kwargs)


def write(path):
    g = Group()
    for dtype in FLOATS:
        def inputs(*shapes):
            return [values(dtype, *shape) for shape in shapes]

        small = inputs((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4))
        add(g, *small)
        add(g, *small, is_causal=True)
        add(g, *small, attn_mask=Arg(torch.tensor([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1], [1, 0, 0, 0, 0]]).bool()))
        if dtype is torch.bfloat16 or dtype is torch.float16:
            continue
        add(g, *small, attn_mask=Arg(values(dtype, 2, 1, 3, 5)))
        add(g, *small, attn_mask=Arg(values(dtype, 2, 2, 3, 5)), scale=0.3)
        add(g, *small, attn_mask=Arg(values(dtype, 3, 5), grad=True))
        add(g, *small, attn_mask=Arg(torch.tensor([[True] * 5, [False] * 5, [True, False] * 2 + [True]])))
        add(g, *small, attn_mask=Arg(torch.tensor([[0.0] * 5, [-INF] * 5, [0.0, -INF] * 2 + [0.0]], dtype=dtype)))
        add(g, *inputs((3, 4), (5, 4), (5, 2)))
        add(g, *inputs((2, 3, 4), (2, 5, 4), (2, 5, 7)), is_causal=True)
        add(g, *inputs((2, 2, 7, 4), (2, 2, 3, 4), (2, 2, 3, 4)), is_causal=True)
        add(g, *inputs((2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4)), enable_gqa=True)
        add(g, *inputs((2, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)))
        add(g, *inputs((2, 2, 0, 4), (2, 2, 5, 4), (2, 2, 5, 4)))
        add(g, *inputs((1, 1, 3, 1), (1, 1, 5, 1), (1, 1, 5, 1)))
        g.add(NAME, *[Arg(values(dtype, 1, 2, 4, 3), "transpose", grad=True) for _ in range(3)], run=F.scaled_dot_product_attention, via="F", loose=8)
    ones = [Arg(torch.ones(2, 3, 4)) for _ in range(3)]
    fails = lambda *args, message, **kw: g.fails(NAME, *args, run=F.scaled_dot_product_attention, via="F", message=message, **kw)
    fails(Arg(torch.ones(4)), *ones[1:], message="but got query.dim: 1 key.dim: 3 and value.dim: 3 instead.")
    fails(*ones[:2], Arg(torch.ones(2, 3, 4, dtype=torch.float64)), message="Expected query, key, and value to have the same dtype")
    fails(*ones, attn_mask=Arg(torch.ones(3, 3)), is_causal=True, message="Explicit attn_mask should not be set when is_causal=True")
    return g.write(path, "Attention.")
