-- graph.lua - torch.autograd.graph: replacements of saved tensors, edges of the graph, and hooks of
-- several tensors.

--[=[ arguments
error_message: Message of the error.
tensor: Tensor.
tensors: Tensors with gradients to observe.
fn: Function that is called with the gradients.
mode: `'all'` to call the function once with all gradients, `'any'` to call it with the first one.
device_type: Type of the device from which saved tensors are moved: `'cuda'`.
pack_hook: Function of a tensor that returns a value to save in its place.
unpack_hook: Function of this value that returns the tensor.
node: Node of the graph.
output_nr: Number of the node's output, from 0.
ownership_token: Value that keeps the node alive.
]=]

local torch = require 'torch'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local scopes = require 'torch.autograd.scope'

local C = torch._C
local graph = {}

-- The open scopes of hooks, for custom Functions, and of messages that reject hooks; `outer` of the
-- list is the innermost one. Guards may end in any order.
local hooks, refusals = {}, {}

local function open(list, scope)
  scope.outer, list.outer = list.outer, scope
  return scope
end

local function close(list, scope)
  local inner = list
  while inner and inner.outer ~= scope do inner = inner.outer end
  if inner then inner.outer = scope.outer end
end

-- leave() may have to be called again: if a running hook closes the scope, it is restored
-- afterwards.
local guard_metatable = {
  __name = 'guard',
  __close = function(guard)
    scopes.close(guard._scope)
    guard.leave()
  end,
}

-- A guard that calls leave; with a body its results. Scopes have their own list and may end in any
-- order.
local function within(leave, body, ...)
  local guard = setmetatable({ leave = leave, _scope = scopes.open(leave, function() end, leave) }, guard_metatable)
  if body == nil then return guard end
  local _ <close> = guard
  return body(...)
end

--- While body(...) runs, or until the returned guard is closed, pack_hook(tensor) is called for
--- each tensor that is saved for backward, and its result, any value but nil, is stored instead.
--- unpack_hook(value) returns a tensor of the same shape, dtype and device when backward needs it.
--- Neither is recorded, and pack_hook must not change its tensor. Only the innermost hooks are
--- called.
function graph.saved_tensors_hooks(pack_hook, unpack_hook, body, ...)
  if refusals.outer then fail('%s', refusals.outer.message) end
  local opened = C.open_saved_hooks(pack_hook, unpack_hook)
  local scope = open(hooks, { pack = pack_hook, unpack = unpack_hook })
  return within(function()
    close(hooks, scope)
    C.close_saved_hooks(opened)
  end, body, ...)
end

--- While body(...) runs, or until the guard is closed, saved tensors are stored in host memory and
--- copied back to their device for backward, which saves device memory for additional copies (shown
--- in the copies ledger). With pin_memory, the copies overlap with the device's work.
function graph.save_on_cpu(pin_memory, _, body, ...)
  local function pack(tensor)
    if not pin_memory then return { tensor.device, tensor:cpu() } end
    local packed = torch.empty(tensor.shape, { dtype = tensor.dtype, pin_memory = tensor.is_cuda })
    packed:copy_(tensor)
    return { tensor.device, packed }
  end
  local function unpack(packed) return packed[2]:to(packed[1], { non_blocking = pin_memory }) end
  return graph.saved_tensors_hooks(pack, unpack, body, ...)
end

--- While body(...) runs, or until the guard is closed, setting hooks of saved tensors is an error
-- with this message. If hooks are set already, this call raises it.
function graph.disable_saved_tensors_hooks(error_message, body, ...)
  if hooks.outer then fail('%s', error_message) end
  local scope = open(refusals, { message = error_message })
  return within(function() close(refusals, scope) end, body, ...)
end

--- While body(...) runs, or until the guard is closed, you may write to tensors in place after they
--- were saved for backward: values that were saved in the scope are copied first. Backward may run
--- later if nothing writes to them any more. Such scopes do not nest.
function graph.allow_mutation_on_saved_tensors(body, ...)
  C.open_saved_copies()
  -- Saved tensors of custom Functions, which core does not store, are copied immediately.
  local scope = open(hooks, { pack = function(tensor) return tensor:clone() end, unpack = function(tensor) return tensor end })
  return within(function()
    close(hooks, scope)
    C.close_saved_copies()
  end, body, ...)
end

--- Records that a tensor, or each of a list, was written in place by other code, for example your
--- own kernel.
function graph.increment_version(tensor)
  if torch.is_tensor(tensor) then tensor = { tensor } end
  for _, entry in ipairs(tensor) do C.increment_version(entry) end
end

-- ---- edges --------------------------------------------------------------------------------------

-- The key of the tensor that an edge represents, for gradient requests.
local TENSOR = {}

local GradientEdge = class.Object:extend('GradientEdge')

--- GradientEdge(node, output_nr): the gradient of one of a node's results (from 1).
--- torch.autograd.backward and grad accept it instead of a tensor as root or input, and the tensor
--- need not be kept. Fields: node, output_nr.
function GradientEdge:init(node, output_nr)
  if torch.type(node) ~= 'Node' then fail("GradientEdge(): argument 'node' must be a Node of the graph, as x.grad_fn is, got %s", torch.type(node)) end
  self[TENSOR], self.node, self.output_nr = C.edge_tensor(node, output_nr), node, output_nr
end
declare.methods(GradientEdge, 'init(self, any node, integer output_nr, any? ownership_token)')

function GradientEdge:__tostring() return ('GradientEdge(node=%s, output_nr=%d)'):format(self.node, self.output_nr) end

--- The edge of a tensor's gradient: torch.autograd.grad(y, x) and grad(y, get_gradient_edge(x)) are
--- equal.
function graph.get_gradient_edge(tensor)
  return GradientEdge(C.gradient_edge(tensor))
end

graph.GradientEdge = GradientEdge

--- For torch.autograd: the tensor of an edge.
function graph.__tensor_of(edge) return edge[TENSOR] end

-- ---- hooks of several tensors -------------------------------------------------------------------

local Handles = { __name = 'RemovableHandle' }
Handles.__index = Handles

--- Removes the hooks; further calls have no effect.
function Handles:remove()
  for _, handle in ipairs(self) do handle:remove() end
end

-- The function that each of n hooks calls: fn with all gradients, after the last one that this
-- backward computes.
local function when_all(edges, fn)
  local number, waits, grads
  return function(i, grad)
    if number ~= C.backward_number() then
      number, waits, grads = C.backward_number(), 0, {}
      for k, edge in ipairs(edges) do
        grads[k] = false
        if C.backward_reaches(edge[TENSOR]) then waits = waits + 1 end
      end
    end
    grads[i], waits = grad, waits - 1
    if waits > 0 then return end
    local all = grads
    grads = nil
    fn(all)
  end
end

local function when_any(fn)
  local number
  return function(_, grad)
    if number == C.backward_number() then return end
    number = C.backward_number()
    fn(grad)
  end
end

--- Calls fn in each backward that computes gradients of some of the tensors. {mode = 'all'}, the
--- default: with a list of the gradients, after the last one (false for tensors without a gradient
--- in this backward); {mode = 'any'}: with the first gradient. fn must not change them. Returns a
--- handle; its remove() removes the hook.
function graph.register_multi_grad_hook(tensors, fn, mode)
  if mode ~= 'all' and mode ~= 'any' then fail("Expects mode to be one of ('all', 'any') but got %s", mode) end
  local edges, handles = {}, setmetatable({}, Handles)
  for i, tensor in ipairs(tensors) do
    if not tensor.requires_grad then fail('register_multi_grad_hook(): tensor %d does not require grad', i) end
    edges[i] = graph.get_gradient_edge(tensor)
  end
  local arrived = mode == 'all' and when_all(edges, fn) or when_any(fn)
  for i, tensor in ipairs(tensors) do
    handles[i] = tensor:register_hook(function(grad) arrived(i, grad) end)
  end
  return handles
end

--- For custom Functions: the innermost hooks, or nil.
function graph.__hooks() return hooks.outer end

declare.functions(graph, [[
  increment_version(Tensor|tensors tensor)
  get_gradient_edge(Tensor tensor)
  register_multi_grad_hook(tensors tensors, function fn, *, string mode='all')
]])
declare.functions(graph, [[
  saved_tensors_hooks(function pack_hook, function unpack_hook)
  save_on_cpu(boolean pin_memory=false, string device_type='cuda')
  disable_saved_tensors_hooks(string error_message)
  allow_mutation_on_saved_tensors()
]], 'scope')

return { graph = graph }
