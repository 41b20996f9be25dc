"""Programs that torch.export saves, loaded and run by ltensor, beside PyTorch's results: as exported, and after run_decompositions().

    python3 tests/models/exported.py LTENSOR

Prints what differs by more than 1e-4; the exit code is 1 then. Needs numpy and PyTorch 2.8 or later.
"""
import os
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree

RUN = """
local program, inputs, args = torch.export.load 'program.pt2', torch.load 'inputs.npz', {}
for i = 1, COUNT do args[i] = inputs['input_' .. i] end
local results = table.pack(program(table.unpack(args)))
for i = 1, results.n do torch.save(results[i]:detach():contiguous(), ('output_%d.npy'):format(i)) end
"""


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.Linear(72, 10)
        self.more = nn.Sequential(nn.InstanceNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2), nn.GroupNorm(2, 8), nn.ConvTranspose2d(8, 8, 2, 2),
                                  nn.Upsample(scale_factor=2), nn.AdaptiveAvgPool2d(4), nn.AvgPool2d(2, 1), nn.Flatten())

    def forward(self, x):
        return F.log_softmax(self.last(self.more(torch.relu(self.norm(self.first(x))))), -1)


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer(6, 8, 2, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.layer(x)


class Words(nn.Module):
    """With sizes that vary, lists and dicts, a tensor of its own, and a write into a view."""

    def __init__(self):
        super().__init__()
        self.embedding, self.norm, self.own = nn.Embedding(11, 8), nn.LayerNorm(8), torch.tensor([1.0, 2.0])

    def forward(self, words, extra):
        n, length = words.shape
        y = self.norm(self.embedding(words)).reshape(n, length * 8 // 2, 2) * self.own + torch.arange(length * 4).unsqueeze(-1)
        values, places = y.topk(1, dim=1)
        z = y.masked_fill(y > 3, 0.0)
        z[:, 0] = 1
        return {"a": values, "b": (places, y.argmax(1))}, z.to(torch.float64), extra["k"] + y.shape[1]


class Parts(nn.Module):
    def forward(self, x, i):
        y = x.clone()
        y[0, :] = 0
        y[i, 1] += 1
        return (x[i], x[:, ::2], x[-1:, 1:-1], x.gather(1, i[:, None].expand(-1, 2)), torch.where(x > 0, x, -x).cumsum(1), x.sort(1)[1],
                F.pad(x, (1, 2)), torch.einsum("ij,kj->ik", x, x), x.index_select(0, i).std(0), *x.max(dim=1), torch.tril(x), torch.roll(x, 1, 0),
                x.unflatten(1, (2, 2)), torch.stack([x, x], 0).mean((0, 2)), x.split([1, 3], 1)[1], torch.full((2,), 3.0) + x.norm(), y,
                torch.arange(0, 4, 2), x.pow(2).clamp(min=0.1).rsqrt())


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: self.layer(x) + 1, lambda x: (x * 2).sin() - self.layer.bias, (x,))
        return torch.cond(y.max() > 1, lambda y: torch.cond(y.min() > 0, torch.sin, torch.cos, (y,)), lambda y: y + 1, (y,))


class Rounds(nn.Module):
    def forward(self, i, x):
        return torch._higher_order_ops.while_loop(lambda i, x: (i < 5) & (x.abs().max() < 100), lambda i, x: (i + 1, x * 1.5 + i), (i, x))


def cases():
    n, length = torch.export.Dim("n", min=2, max=20), torch.export.Dim("length", min=2, max=30)
    yield "images", Images(), (torch.randn(2, 3, 16, 16),), {}
    for layer in (nn.LSTM, nn.GRU, nn.RNN):
        yield layer.__name__, Recurrent(layer), (torch.randn(3, 5, 6),), {}
    yield "words", Words(), (torch.randint(0, 11, (3, 4)), {"k": torch.ones(2)}), {"dynamic_shapes": {"words": {0: n, 1: length}, "extra": {"k": None}}}
    yield "parts", Parts(), (torch.randn(4, 4), torch.tensor([0, 2, 1, 3])), {}
    yield "transformer", nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2), (torch.randn(2, 5, 16),), {}
    yield "branches", Branches(), (torch.randn(4, 3),), {}
    yield "rounds", Rounds(), (torch.tensor(0), torch.randn(3)), {}
    yield "activations", nn.Sequential(nn.GELU(), nn.Dropout(0.1), nn.SiLU(), nn.Hardswish(), nn.LeakyReLU(), nn.PReLU(), nn.Softplus(), nn.ELU()), (torch.randn(3, 8),), {}


def check(ltensor, program, args, folder):
    torch.export.save(program, os.path.join(folder, "program.pt2"))
    inputs, wanted = _pytree.tree_leaves(args), _pytree.tree_leaves(program.module()(*args))
    numpy.savez(os.path.join(folder, "inputs.npz"), **{f"input_{i + 1}": x.numpy() for i, x in enumerate(inputs)})
    done = subprocess.run([ltensor, "--disable-cuda", "-e", RUN.replace("COUNT", str(len(inputs)))], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.splitlines()[0]
    for i, x in enumerate(wanted):
        got, x = numpy.load(os.path.join(folder, f"output_{i + 1}.npy")), x.detach().numpy()
        if got.shape != x.shape or got.dtype != x.dtype:
            return f"result {i + 1}: {got.dtype} {got.shape}, not {x.dtype} {x.shape}"
        if not numpy.allclose(got, x, rtol=1e-4, atol=1e-4, equal_nan=True):
            return f"result {i + 1} differs"
    return None


def main(ltensor):
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    failed = count = 0
    for name, module, args, options in cases():
        program = torch.export.export(module.eval(), args, **options)
        for kind, form in (("", program), (", decomposed", program.run_decompositions())):
            with tempfile.TemporaryDirectory() as folder:
                problem = check(os.path.abspath(ltensor), form, args, folder)
            count += 1
            if problem:
                failed += 1
                print(f"{name}{kind}: {problem}")
    print(f"{count - failed} of {count} programs of torch.export: run, equal")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
