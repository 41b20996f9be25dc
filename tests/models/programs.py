"""Writes the programs of tests/core/model_lua_test.c: programs.py tests/core/models. Needs PyTorch 2.8
or later."""

import sys

import torch
from torch import nn
from torch.nn import functional


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(64, 3)

    def forward(self, x):
        return self.out(functional.max_pool2d(functional.relu(self.norm(self.conv(x))), 2).flatten(1))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(11, 8), nn.Linear(8, 5)
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        words = self.words(x)
        mixed = functional.scaled_dot_product_attention(self.query(words), self.key(words), self.value(words))
        return functional.log_softmax(self.out(words + mixed), -1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.out = nn.GRU(3, 6, batch_first=True), nn.Linear(6, 2)

    def forward(self, x, state):
        y, state = self.layers(x, state)
        return torch.sigmoid(self.out(y)).mean(1), torch.cat([state[0], x[:, 0]], 1), y.argmax(-1)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(6), nn.Linear(6, 10), nn.Linear(10, 6)

    def forward(self, x):
        return x + self.down(functional.gelu(self.up(self.norm(x))))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.layer(x) + 1, lambda x: x.sin() * 2, (x,))


class Rounds(nn.Module):
    def forward(self, n, x):
        return torch._higher_order_ops.while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, x * 1.5 + n), (n, x))[1]


torch.manual_seed(0)
for name, model, args in [
    ("convolution", Convolution(), (torch.rand(2, 1, 8, 8),)),
    ("attention", Attention(), (torch.randint(0, 11, (2, 7)),)),
    ("mixer", Mixer(), (torch.rand(3, 6),)),
    ("recurrent", Recurrent(), (torch.rand(2, 5, 3), torch.rand(1, 2, 6))),
    ("branches", Branches(), (torch.rand(2, 3),)),
    ("rounds", Rounds(), (torch.tensor(3), torch.rand(2))),
]:
    torch.export.save(torch.export.export(model.eval(), args), f"{sys.argv[1]}/{name}.pt2")
