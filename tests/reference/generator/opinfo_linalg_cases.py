"""Small samples of those ops of PyTorch's database that are LAPACK's; a GPU says that it does not have them."""

from . import lua
from .opinfo_cases import all_rows


def write(path):
    return lua.write_file(path, "Samples of PyTorch's database of operators: LAPACK.", all_rows("linalg"))
