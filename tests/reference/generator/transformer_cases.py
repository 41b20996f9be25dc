"""Attention and transformer layers."""

import torch

from .cases import Arg, values
from .module_run import Make as M, Modules

F32 = torch.float32


def x(*shape):
    return Arg(values(F32, *shape, low=-1.0, high=1.0), grad=True)


def write(path):
    g = Modules()
    same = x(3, 2, 4)
    hide = Arg(torch.tensor([[False, False, True], [False, True, False]]))
    above = Arg(torch.ones(3, 3, dtype=torch.bool).triu(1))
    added = Arg(values(F32, 3, 3))
    mha = "MultiheadAttention"
    g.add(M(mha, 4, 2), x(3, 2, 4), x(5, 2, 4), x(5, 2, 4), loose=20)
    g.add(M(mha, 4, 2, batch_first=True), x(2, 3, 4), x(2, 5, 4), x(2, 5, 4), loose=20)
    g.add(M(mha, 4, 2, bias=False), x(3, 2, 4), same, same, named={"key_padding_mask": hide}, loose=20)
    g.add(M(mha, 4, 2), x(3, 2, 4), same, same, named={"attn_mask": above, "average_attn_weights": False}, loose=20)
    g.add(M(mha, 4, 2), x(3, 2, 4), same, same, named={"attn_mask": added, "need_weights": False}, loose=20)
    g.add(M(mha, 4, 2), x(3, 2, 4), same, same,
          named={"attn_mask": Arg(values(F32, 4, 3, 3)), "key_padding_mask": Arg(values(F32, 2, 3))}, loose=20)
    g.add(M(mha, 4, 2, kdim=3, vdim=5), x(3, 2, 4), x(5, 2, 3), x(5, 2, 5), loose=20)
    g.add(M(mha, 4, 2, add_bias_kv=True, add_zero_attn=True), x(3, 2, 4), same, same, named={"attn_mask": added}, loose=20)
    g.add(M(mha, 4, 2), x(3, 4), x(5, 4), x(5, 4), loose=20)
    layer, decoder = "TransformerEncoderLayer", "TransformerDecoderLayer"
    off = {"dropout": 0.0}
    g.add(M(layer, 4, 2, 6, **off), x(3, 2, 4), loose=20)
    g.add(M(layer, 4, 2, 6, activation="gelu", norm_first=True, batch_first=True, **off), x(2, 3, 4), loose=20)
    g.add(M(layer, 4, 2, 6, bias=False, **off), x(3, 2, 4), named={"src_mask": added, "src_key_padding_mask": Arg(values(F32, 2, 3))}, loose=20)
    g.add(M(decoder, 4, 2, 6, **off), x(3, 2, 4), x(5, 2, 4), named={"tgt_mask": above}, loose=20)
    g.add(M(decoder, 4, 2, 6, norm_first=True, **off), x(3, 2, 4), x(5, 2, 4), loose=20)
    g.add(M("TransformerEncoder", M(layer, 4, 2, 6, **off), 2), x(3, 2, 4), named={"mask": added}, loose=20)
    g.add(M("TransformerEncoder", M(layer, 4, 2, 6, **off), 1, norm=M("LayerNorm", 4)), x(3, 2, 4), loose=20)
    g.add(M("TransformerDecoder", M(decoder, 4, 2, 6, **off), 2), x(3, 2, 4), x(5, 2, 4), loose=20)
    g.add(M("Transformer", 4, 2, 1, 1, 6, **off), x(3, 2, 4), x(5, 2, 4), loose=30)
    return g.write(path, "Attention and transformers of torch.nn.")
