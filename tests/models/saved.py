"""Networks that ltensor saves by torch.export.save, loaded, run and trained by PyTorch, beside ltensor's results.

    python3 tests/models/saved.py LTENSOR

Outputs and buffers may differ by 1e-5 of their largest element, each parameter's gradient by 1e-4 of its. A step of an optimizer must change
the loss, and the trained program must survive PyTorch's own save and load. "python" is a program of PyTorch that ltensor trains and saves: its
parameters are compared. Prints a line for each network; the exit code is 1 where one fails.
Needs numpy and PyTorch 2.9 or later.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from torch.utils import _pytree

TOLERANCE, GRADIENT_TOLERANCE = 1e-5, 1e-4


def weight_of(i, x):
    """The factors of an output in the loss, as in saved.lua."""
    return (torch.arange(x.numel(), dtype=torch.float64) * 0.7 + i).cos().reshape(x.shape).to(x.dtype)


def distance(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return float("inf")
    a, b = (x.astype(numpy.complex128 if numpy.iscomplexobj(x) else numpy.float64) for x in (a, b))
    other = ~((a == b) | numpy.isnan(a) & numpy.isnan(b))
    scale = numpy.abs(b[numpy.isfinite(b)]).max(initial=1)
    return float(numpy.abs(a[other] - b[other]).max(initial=0) / scale)


def loss_of(outputs):
    return sum((y * weight_of(i, y)).sum() for i, y in enumerate(outputs, 1) if y.requires_grad)


def check(folder, name):
    """The largest differences of outputs and buffers, and of gradients."""
    expected = numpy.load(folder / f"{name}.npz")
    program = torch.export.load(folder / f"{name}.pt2")
    module = program.module()
    inputs = [torch.from_numpy(expected[f"input {i + 1}"]) for i in range(sum(1 for key in expected if key.startswith("input ")))]
    args, kwargs = _pytree.tree_unflatten(inputs, program.call_spec.in_spec)
    outputs = _pytree.tree_leaves(module(*args, **kwargs))
    worst = max(distance(y.detach().numpy(), expected[f"output {i}"]) for i, y in enumerate(outputs, 1))
    assert f"output {len(outputs) + 1}" not in expected, "an output is missing"
    loss = loss_of(outputs)
    if isinstance(loss, torch.Tensor):
        loss.backward()
    gradients = {f"gradient of {key}": p.grad for key, p in module.named_parameters() if p.grad is not None}
    missing = {key for key in expected if key.startswith("gradient of ")} ^ set(gradients)
    assert not missing, f"gradients here or there only: {missing}"
    steepest = max((distance(g.numpy(), expected[key]) for key, g in gradients.items()), default=0)
    for key, buffer in module.named_buffers():
        if f"buffer {key}" in expected:
            worst = max(worst, distance(buffer.numpy(), expected[f"buffer {key}"]))
    if name.startswith("module "):
        return worst, steepest
    torch.optim.SGD(module.parameters(), lr=0.05).step()
    assert not torch.equal(loss_of(_pytree.tree_leaves(module(*args, **kwargs))), loss), "a step of the optimizer does not change the loss"
    torch.export.save(program, folder / "again.pt2")
    again = _pytree.tree_leaves(torch.export.load(folder / "again.pt2").module()(*args, **kwargs))
    assert len(again) == len(outputs), "PyTorch's copy has other outputs"
    program.run_decompositions()
    return worst, steepest


def network():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2))


def write_python(folder):
    """A program that Python exports, which ltensor trains by one step; returns the module after the same step."""
    torch.manual_seed(1)
    module, x = network().train(), torch.randn(5, 1, 8, 8)
    program = torch.export.export(module, (x,), dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},))
    torch.export.save(program, folder / "python.pt2")
    numpy.savez(folder / "python.npz", x=x.numpy())
    module(x).square().mean().backward()
    torch.optim.SGD(module.parameters(), lr=0.1).step()
    return module


def check_python(folder, module):
    """The largest differences of outputs, and of parameters and buffers, of the program that ltensor has trained."""
    program = torch.export.load(folder / "trained.pt2")
    trained, x = program.module(), torch.randn(3, 1, 8, 8)
    state = max(distance(value.detach().numpy(), module.state_dict()[name].numpy()) for name, value in program.state_dict.items() if "num" not in name)
    return distance(trained(x).detach().numpy(), module(x).detach().numpy()), state


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        module = write_python(folder)
        problems = subprocess.run([sys.argv[1], pathlib.Path(__file__).parent / "saved.lua", folder], check=True, capture_output=True, text=True).stdout
        if problems:
            failed += 1
            print(problems, end="")
        for name in sorted(path.stem for path in folder.glob("*.npz")):
            try:
                outputs, gradients = check_python(folder, module) if name == "python" else check(folder, name)
                problem = "" if outputs <= TOLERANCE and gradients <= GRADIENT_TOLERANCE else "differs"
            except Exception as error:  # of any kind: the other networks follow
                outputs = gradients = float("nan")
                problem = f"{type(error).__name__}: {error}"
            failed += problem != ""
            print(f"saved {name:30} outputs {outputs:.1e}  gradients {gradients:.1e}  {problem}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
