-- embed_args.lua - prints `file=module:form` for the Lua files to embed: lib/nn/layers/linear.lua
-- is torch.nn.layers.linear, lib/nn/init.lua is torch.nn.init, lib/nn.lua is torch.nn;
-- repl/edit/complete.lua is repl.edit.complete.
--
-- Usage: lua5.4 scripts/embed_args.lua lib|repl FILE...

local root = assert(arg[1], 'usage: embed_args.lua lib|repl FILE...')
local prefix = root == 'lib' and 'torch' or root

-- Modules embedded as bytecode: the ones loaded with torch, and the ones of a program that loads
-- and runs a model.
local opened = {}
for name in ([[autograd backends cuda cuda_memory init nn]]):gmatch '%S+' do opened['torch.' .. name] = true end
local function is_compiled(module)
  return opened[module] or module:find '^torch%.support%.' or module:find '^torch%.onnx' and not module:find '^torch%.onnx%.export'
    or module:find '^torch%.nn%.module' or module:find '^torch%.nn%.functional' or module == 'torch.nn.parameter'
end

for i = 2, #arg do
  local module = prefix .. '.' .. arg[i]:match('^' .. root .. '/(.*)%.lua$'):gsub('/', '.')
  local form = root ~= 'lib' and '' or is_compiled(module) and ':compiled' or ':packed'
  print(arg[i] .. '=' .. module .. form)
end
