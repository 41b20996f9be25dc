"""Strides of elementwise results of two operands, for tests/core/iter_test.c: a header."""

import random

import torch

SUFFIX = ".h"
ROWS = 400


def operand(rng, sizes):
    """A tensor of these sizes, or one that is broadcast to them: dimensions in any order, gaps, repeated elements, equal steps."""
    rank = rng.randint(1, len(sizes)) if rng.random() < 0.3 else len(sizes)
    own = [1 if rng.random() < 0.2 else size for size in sizes[len(sizes) - rank:]]
    order = list(range(rank))
    rng.shuffle(order)
    strides, step = [0] * rank, rng.choice((1, 1, 2))
    for d in order:
        strides[d] = step
        step *= own[d] + (rng.random() < 0.2)
        if rng.random() < 0.15:
            strides[d] = 0
        elif rng.random() < 0.1:
            strides[d] = rng.choice((1, 2, 3, 4))
    return torch.as_strided(torch.zeros(4096), own, strides)


def braces(numbers):
    return "{" + ", ".join(map(str, numbers or [0])) + "}"


def write(path):
    rng = random.Random(5)
    out = ["/* Written by generate.py result_strides: sizes and strides of two tensors, and the strides of their sum by PyTorch. */",
           "#include <stdint.h>", "",
           "static const struct {", "    int ndim[2];", "    int64_t sizes[2][4], strides[2][4];", "    int result_ndim;",
           "    int64_t result_sizes[4], result_strides[4];", "} sums[] = {"]
    rows = 0
    while rows < ROWS:
        sizes = [rng.choice((1, 2, 2, 3, 4)) for _ in range(rng.randint(1, 4))]
        a, b = operand(rng, sizes), operand(rng, sizes)
        if a.is_contiguous() and b.is_contiguous():
            continue  # contiguous whatever the strides of dimensions of size 1, which PyTorch looks at where shapes differ
        rows += 1
        result = a + b
        out.append(f"    {{{{{a.dim()}, {b.dim()}}}, {{{braces(a.shape)}, {braces(b.shape)}}}, {{{braces(a.stride())}, {braces(b.stride())}}}, "
                   f"{result.dim()}, {braces(result.shape)}, {braces(result.stride())}}},")
    out += ["};", ""]
    path.write_text("\n".join(out))
    return ROWS
