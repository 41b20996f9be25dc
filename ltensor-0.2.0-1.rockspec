-- For `luarocks make` in this folder: the module torch, its libraries and the simulated GPUs. scripts/deps.sh lists the packages that
-- the build needs. For Lua 5.3, the build also needs lua5.4, which runs its scripts.
rockspec_format = '3.0'
package = 'ltensor'
version = '0.2.0-1'
-- Where the archive lies that `git archive --prefix=ltensor-0.2.0/ -o ltensor-0.2.0.tar.gz HEAD` makes; `luarocks make` does not ask for it, `luarocks build` does.
source = { url = 'file://ltensor-0.2.0.tar.gz' }
description = {
  summary = 'Tensors, gradients and networks with the names of PyTorch, on CPUs and GPUs',
  license = 'MIT',
}
supported_platforms = { 'linux' }
dependencies = { 'lua >= 5.3, < 5.6' }
build = {
  type = 'make',
  build_target = 'rock',
  install_target = 'install-rock',
  build_variables = { LUA_CFLAGS = '-I$(LUA_INCDIR)', ROCK_LUA = '$(LUA)' },
  install_variables = { LUA_CFLAGS = '-I$(LUA_INCDIR)', ROCK_LUA = '$(LUA)', ROCK_LIBDIR = '$(LIBDIR)' },
}
