"""Writes names.lua: the public names of PyTorch's modules, for names_spec.lua, which asks of each whether it is here, or why not.

    python tests/reference/names.py
"""

import importlib
import pathlib
import types
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

MODULES = """torch torch.Tensor torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrize torch.nn.utils.parametrizations
    torch.linalg torch.fft torch.special torch.masked torch.signal.windows torch.func torch.autograd torch.autograd.functional torch.autograd.forward_ad
    torch.autograd.graph torch.distributions torch.distributions.transforms torch.distributions.constraints torch.optim torch.optim.lr_scheduler
    torch.optim.swa_utils torch.utils.data torch.sparse torch.cuda torch.cuda.amp torch.amp torch.random torch.testing torch.utils.checkpoint torch.utils.dlpack""".split()


def module_of(name):
    return torch.Tensor if name == "torch.Tensor" else importlib.import_module(name)


def is_public(module, name):
    """A name that the module offers: neither a module itself nor what its source imports from elsewhere for its own use."""
    if name.startswith("_"):
        return False
    value = getattr(module, name, None)
    if isinstance(value, types.ModuleType):
        return False
    home = getattr(value, "__module__", None)
    if module is torch.Tensor or home is None or not isinstance(home, str):
        return True
    return home.startswith(("torch", "builtins")) or home == "_VariableFunctions"


def names_of(module):
    listed = getattr(module, "__all__", None) or dir(module)
    if module is torch:
        listed = sorted(set(listed) | {n for n in dir(torch._C._VariableFunctions) if hasattr(torch, n)})
    return sorted({n for n in listed if is_public(module, n)})


def internal_operators():
    """The operators of PyTorch's own test database that no public function is: parts of others, of torch.ops.aten."""
    def is_function(name):
        at = torch
        for part in name.split("."):
            at = getattr(at, part, None)
        return at is not None or hasattr(torch.Tensor, name) or hasattr(torch.Tensor, name + "_")
    names = {op.name for op in op_db}
    return sorted(n.removeprefix("torch.ops.aten.").removeprefix("torch.") for n in names
                  if n.startswith(("torch.", "_")) and not n.startswith("__") or not is_function(n))


def main():
    warnings.simplefilter("ignore")
    path = pathlib.Path(__file__).resolve().parent / "names.lua"
    lines = [f"-- The public names of PyTorch's modules.\n-- Written by names.py from PyTorch {torch.__version__.split('+')[0]}; do not edit.\nreturn {{"]
    for name in MODULES:
        lines.append(f"{{ module = '{name}', names = [[{' '.join(names_of(module_of(name)))}]] }},")
    lines.append(f"{{ module = 'torch.ops.aten', names = [[{' '.join(internal_operators())}]] }},")
    path.write_text("\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
