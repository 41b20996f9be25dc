"""Twelve networks for beside.py: { name: (module in evaluation mode, inputs) }. Needs torchvision for four of them."""
import os
import sys

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models"))
from networks import declare_operators_of, randomized  # noqa: E402


class Block(nn.Module):
    """A layer of a transformer with the norm first."""

    def __init__(self, size, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x):
        n, length, size = x.shape
        q, k, v = self.qkv(self.first(x)).view(n, length, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(n, length, size))
        return x + self.narrow(F.gelu(self.wide(self.second(x))))


class Words(nn.Module):
    """An encoder, or with `causal` a decoder, of tokens."""

    def __init__(self, causal, words=1000, size=256, layers=4, length=64):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, size), nn.Parameter(torch.randn(length, size) * 0.02)
        self.layers = nn.Sequential(*(Block(size, 4, causal) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, words if causal else 2)

    def forward(self, tokens):
        return self.head(self.norm(self.layers(self.words(tokens) + self.positions)))


class Patches(nn.Module):
    """A vision transformer of the size "tiny", with six layers."""

    def __init__(self, size=192, layers=6):
        super().__init__()
        self.patches, self.token = nn.Conv2d(3, size, 16, 16), nn.Parameter(torch.zeros(1, 1, size))
        self.positions = nn.Parameter(torch.randn(1, 197, size) * 0.02)
        self.layers = nn.Sequential(*(Block(size, 3, False) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.head = cell(64, 128, 2, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


def double(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([double(3, 16), double(16, 32), double(32, 64)])
        self.middle = double(64, 128)
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * n, n, 2, 2) for n in (64, 32, 16)])
        self.joined = nn.ModuleList([double(2 * n, n) for n in (64, 32, 16)])
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.middle(x)
        for up, layer in zip(self.up, self.joined):
            x = layer(torch.cat([kept.pop(), up(x)], 1))
        return self.last(x)


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def mlp():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10), nn.Softmax(-1))


def vision(name):
    package, vision.library = declare_operators_of("torchvision")
    return package.models.get_model(name, weights=None)


def image(size, channels=3):
    return torch.randn(1, channels, size, size)


def tokens():
    return torch.randint(0, 1000, (1, 64))


makers = {
    "lenet": (lenet, lambda: image(28, 1)), "mlp": (mlp, lambda: torch.randn(8, 64)),
    "resnet18": (lambda: vision("resnet18"), lambda: image(224)), "mobilenet_v2": (lambda: vision("mobilenet_v2"), lambda: image(224)),
    "squeezenet1_1": (lambda: vision("squeezenet1_1"), lambda: image(224)), "efficientnet_b0": (lambda: vision("efficientnet_b0"), lambda: image(224)),
    "encoder": (lambda: Words(False), tokens), "decoder": (lambda: Words(True), tokens), "vit": (Patches, lambda: image(224)),
    "lstm": (lambda: Recurrent(nn.LSTM), lambda: torch.randn(1, 32, 64)), "gru": (lambda: Recurrent(nn.GRU), lambda: torch.randn(1, 32, 64)),
    "unet": (UNet, lambda: image(128)),
}


def make(name):
    torch.manual_seed(1)
    module, inputs = makers[name]
    return randomized(module()).eval(), inputs()
