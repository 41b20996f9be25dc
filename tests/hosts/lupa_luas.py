"""Each Lua that the package lupa brings along requires torch, in a process of its own: a Lua 5.4 whose functions other libraries see can use
it, all others are refused with a message."""
import pkgutil
import subprocess
import sys

PROGRAM = r"""
import importlib, os, sys
if sys.argv[2] == 'global':
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
lua = importlib.import_module('lupa.' + sys.argv[1]).LuaRuntime(unpack_returned_tuples=True)
opened, value = lua.execute('''
    local ok, torch = pcall(require, 'torch')
    if not ok then return false, torch end
    local n = 0
    for _ in pairs(torch.nn.functional) do n = n + 1 end
    for i = 1, 1000 do local t = torch.ones(i) end
    for _ = 1, 5 do collectgarbage() end
    return true, n''')
print(value if opened else 'refused: ' + str(value))
"""


def main():
    import lupa
    names = [module.name for module in pkgutil.iter_modules(lupa.__path__) if module.name.startswith('lua')]
    failures = 0
    for name in names:
        for visible in ('local', 'global'):
            run = subprocess.run([sys.executable, '-c', PROGRAM, name, visible], capture_output=True, text=True, timeout=60)
            text = run.stdout.strip()
            if name == 'lua54' and visible == 'global':
                right = text.isdigit() and int(text) > 100
            else:
                right = text.startswith('refused: ') and ('cannot open torch' in text or 'version mismatch' in text)
            if run.returncode != 0 or not right:
                failures += 1
                print(f'{name}, {visible}: status {run.returncode}: {text} {run.stderr}')
    return 1 if failures or not names else 0


sys.exit(main())
