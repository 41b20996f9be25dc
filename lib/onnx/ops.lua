-- ops.lua - the operators by domain: which function computes a node. The functions are in ops/, a subject per file.
--
-- A file returns { [domain] = { [operator] = entry } }. An entry is a function fn(node, inputs...) -> outputs..., or a table:
-- fn; since = the first version of the domain that has it; takes_frame: fn(node, frame, inputs...), for bodies; is_random,
-- grows (its result may be much larger than its inputs): not computed when a model is loaded, unless it is a function that tells the
-- number of elements (a float, which cannot overflow) of the result; check(node) -> what is wrong
-- with a node, seen before anything runs. What changed between versions is decided by node.version.

local M = {}

local NEWEST = 28 -- of ai.onnx
local files = { 'elementwise', 'activation', 'cast', 'reduce', 'shape', 'index', 'select', 'matmul', 'convolution', 'pool', 'norm', 'recurrent', 'attention',
  'control', 'sequence', 'quantize', 'random', 'loss', 'image', 'resize', 'signal', 'learning', 'microsoft' }
local domains = {}
local of_strings = { StringConcat = true, StringNormalizer = true, StringSplit = true, RegexFullMatch = true }

for _, file in ipairs(files) do
  for domain, entries in pairs(require('torch.onnx.ops.' .. file)) do
    local known = domains[domain] or {}
    domains[domain] = known
    for op, entry in pairs(entries) do
      known[op] = type(entry) == 'function' and { fn = entry } or entry
    end
  end
end

--- The entry of an operator of a domain's version; or nil and why there is none.
function M.find(domain, op, version)
  local known = domains[domain]
  local shown = domain == '' and 'ai.onnx' or domain
  if not known then return nil, ("ltensor has no operators of the domain '%s', and the model no function of this name"):format(shown) end
  local entry = known[op]
  if of_strings[op] then return nil, ("'%s' is of strings, elements which ltensor does not have"):format(op) end
  if not entry then return nil, ("ltensor has no operator '%s' of %s, and the model no function of this name"):format(op, shown) end
  if version > NEWEST and domain == '' then return nil, ('version %d of ai.onnx; ltensor knows them to %d'):format(version, NEWEST) end
  return entry
end

return M
