"""Recurrent layers and cells: layers, directions, states given or not, without a batch, projections."""

import torch

from .cases import Arg, values
from .module_run import Make as M, Modules

F32 = torch.float32


def x(*shape, dtype=F32):
    return Arg(values(dtype, *shape, low=-1.0, high=1.0), grad=True)


def write(path):
    g = Modules()
    for name, states in (("RNN", 1), ("GRU", 1), ("LSTM", 2)):
        def state(*shape):
            return x(*shape) if states == 1 else [x(*shape), x(*shape)]

        g.add(M(name, 3, 2), x(4, 2, 3), loose=10)
        g.add(M(name, 3, 2), x(4, 2, 3), state(1, 2, 2), loose=10)
        g.add(M(name, 3, 2, num_layers=2, bidirectional=True), x(3, 2, 3), state(4, 2, 2), loose=10)
        g.add(M(name, 3, 2, batch_first=True, bias=False), x(2, 4, 3), loose=10)
        g.add(M(name, 3, 2), x(4, 3), state(1, 2), loose=10)
        g.add(M(name, 3, 2, 2, dropout=0.5), x(3, 2, 3), evaluate=True, loose=10)
        g.add(M(name, 2, 2), x(3, 1, 2, dtype=torch.float64), dtype=torch.float64, loose=10)
        g.add(M(name, 2, 2), x(1, 1, 2), loose=10, use=(1,))
        g.add(M(name + "Cell", 3, 2), x(4, 3), loose=10)
        g.add(M(name + "Cell", 3, 2, bias=False), x(4, 3), state(4, 2), loose=10)
        g.add(M(name + "Cell", 3, 2), x(3), state(2), loose=10)
    g.add(M("RNN", 3, 2, nonlinearity="relu"), x(4, 2, 3), loose=10)
    g.add(M("RNNCell", 3, 2, nonlinearity="relu"), x(4, 3), loose=10)
    g.add(M("LSTM", 3, 4, proj_size=2, bidirectional=True), x(4, 2, 3), loose=10)
    g.add(M("LSTM", 3, 4, 2, proj_size=2), x(4, 2, 3), [x(2, 2, 2), x(2, 2, 4)], loose=10)
    return g.write(path, "Recurrent layers of torch.nn.")
