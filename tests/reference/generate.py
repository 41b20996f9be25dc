"""Writes the reference data of the test suite, computed by PyTorch, as Lua tables beside this file.

    python tests/reference/generate.py [group...]

Needs PyTorch 2.13 on the CPU (the data files are kept, so only people who extend them need it).
A group is a module of generator/; each has `write(path)`, and a SUFFIX where the data are no Lua table. Positions in the data are Lua's: dims,
index tensors and index results already count from 1, so that the specs only call and compare.
"""

import importlib
import pathlib
import sys

import torch

GROUPS = sorted(p.name.removesuffix("_cases.py") for p in pathlib.Path(__file__).parent.glob("generator/*_cases.py"))
SIZE_LIMIT = 1_500_000


def main(wanted):
    here = pathlib.Path(__file__).resolve().parent
    torch.set_num_threads(1)  # the order of floating-point sums must not depend on the machine
    for group in wanted or GROUPS:
        module = importlib.import_module(f"generator.{group}_cases")
        path = here / (group + getattr(module, "SUFFIX", ".lua"))
        torch.manual_seed(20)
        count = module.write(path)
        size = path.stat().st_size
        print(f"{path.name:16} {count:5} cases  {size:8} bytes")
        if size > SIZE_LIMIT:
            sys.exit(f"{path.name} is larger than {SIZE_LIMIT} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
