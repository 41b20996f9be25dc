"""The losses of LeNet's first 100 steps on Fashion-MNIST (Debian's package), for seed 0: tests/bench/training.py."""

import importlib.util
import pathlib

from . import lua

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")


def write(path):
    script = path.parents[1] / "bench" / "training.py"
    spec = importlib.util.spec_from_file_location("training", script)
    training = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(training)
    return lua.write_file(path, "The loss of every step of scripts/lenet.lua --steps 100.",
                          [lua.number(loss, 9) for loss in training.losses(DATA, 100)])
