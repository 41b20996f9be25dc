-- copy_causes.lua - names the operation in the ledger of copies: the copies between devices that an
-- operation written in Lua makes inside are implicit, and their cause is the operation.

local torch = require 'torch'
local arguments = require 'torch.support.arguments'
local checked = require 'torch.support.argument_checks'
local cuda = torch.cuda

local copy_causes = {}

local ending = setmetatable({}, { __close = function() cuda._imply_copies() end })

-- f, whose copies have the operation `name` as their cause.
function copy_causes.wrap(name, f)
  return function(...)
    if not cuda._imply_copies(name) then return f(...) end
    local _ <close> = ending
    return f(...)
  end
end

-- Wraps functions of a module, with declared arguments, in place. prefix: before their names in the
-- ledger.
function copy_causes.functions(module, prefix, names)
  for name in names:gmatch '%S+' do
    local f = module[name]
    local wrapped = copy_causes.wrap(prefix .. name, f)
    arguments.wrapping(wrapped, f)
    module[name], checked.originals[wrapped] = wrapped, checked.original(f)
  end
end

return copy_causes
