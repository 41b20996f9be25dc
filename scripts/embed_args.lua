-- embed_args.lua - prints `file=module` for the Lua files to embed: lib/nn/layers/linear.lua is torch.nn.layers.linear,
-- lib/nn/init.lua is torch.nn.init, lib/nn.lua is torch.nn; repl/edit/complete.lua is repl.edit.complete.
--
-- Usage: lua5.4 scripts/embed_args.lua lib|repl FILE...

local root = assert(arg[1], 'usage: embed_args.lua lib|repl FILE...')
local prefix = root == 'lib' and 'torch' or root
for i = 2, #arg do
  local module = arg[i]:match('^' .. root .. '/(.*)%.lua$')
  print(arg[i] .. '=' .. prefix .. '.' .. module:gsub('/', '.'))
end
