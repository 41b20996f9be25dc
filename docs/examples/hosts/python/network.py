import os
import sys

sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)  # torch.so calls the Lua inside of lupa
from lupa.lua54 import LuaRuntime

lua = LuaRuntime()
network = lua.require('network')[0]
print('loss %.4f' % network.train(400), flush=True)

worker = os.fork()
if worker == 0:
    print('value %.4f' % network.predict(0.5))
    sys.exit()
sys.exit(os.waitpid(worker, 0)[1])
