"""opinfo_cases.py of the functions beside torch's own: torch.special, torch.masked, torch.signal.windows and the ops written in Lua."""

from . import lua
from .opinfo_cases import all_rows


def write(path):
    return lua.write_file(path, "Samples of PyTorch's database of operators, of functions beside torch's own.", all_rows("library"))
