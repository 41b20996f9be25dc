-- parameter.lua - nn.Parameter(data, {requires_grad = true}): a tensor that modules register when it is
-- assigned to one of their fields. It shares data's memory and has a history of its own.

local torch = require 'torch'
local fail = require 'torch.support.fail'

return function(data, options)
  if not torch.is_tensor(data) then
    fail(('Parameter(): argument 1 must be a Tensor, not %s'):format(torch.type(data)))
  end
  local requires_grad = true
  if options ~= nil then
    if type(options) ~= 'table' then fail('Parameter(): argument 2 must be a table {requires_grad =}') end
    if options.requires_grad ~= nil then requires_grad = options.requires_grad end
  end
  local parameter = torch._C.make_parameter(data:detach())
  parameter.requires_grad = requires_grad
  return parameter
end
