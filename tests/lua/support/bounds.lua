-- bounds.lua - calls every op with integers that nobody means, one argument at a time, where a number that bounds a loop before it was
-- checked would take for ever. Prints what takes more instructions of Lua or seconds than it may; ended by bounds_spec.lua after a time.

local declarations = require 'torch.support.declarations'
local INTEGERS = { 1 << 40, 1 << 62, math.mininteger, math.maxinteger, -1, 0 }
local INSTRUCTIONS, SECONDS = 20000000, 2

local x = torch.ones(2, 2)
local samples = { Tensor = x, IndexTensor = torch.ones(2, 2, { dtype = torch.int64 }), ['Tensor|Scalar'] = x, ['Tensor[]'] = { x, x }, Scalar = 1, int = 1, float = 1.0,
  bool = false, string = 'mean', Dim = 1, Index = 1, Dims = 1, Size = { 2, 2 }, ['Scalar[]'] = { 1, 1 }, Dtype = torch.float32, Device = 'cpu' }
-- How often an algorithm repeats is the caller's affair.
local left_alone = { niter = true }
local bounding = { int = true, Scalar = true, Dim = true, Index = true, Dims = true, Size = true }

local function limited(f, ...)
  debug.sethook(function() error('too many instructions', 0) end, '', INSTRUCTIONS)
  local begin = os.clock()
  local ok, message = pcall(f, ...)
  debug.sethook()
  if not ok and tostring(message):find('too many instructions', 1, true) then return 'too many instructions' end
  if os.clock() - begin > SECONDS then return ('%.1f seconds'):format(os.clock() - begin) end
  return nil
end

local calls, names = 0, {}
for name in pairs(torch._docs()) do names[#names + 1] = name end
table.sort(names)
for _, key in ipairs(names) do
  local short, in_nn = key:gsub('^nn%.functional%.', '')
  local f = in_nn > 0 and torch._C.nn[short] or torch[short] or torch._C.methods[short]
  for _, overload in ipairs(f and declarations.overloads(short, in_nn > 0) or {}) do
    for i, a in ipairs(overload) do
      if bounding[a.kind] and not left_alone[a.name] then
        for _, integer in ipairs(INTEGERS) do
          local named = {}
          for j, b in ipairs(overload) do
            if j == i then named[b.name] = integer elseif not b.optional then named[b.name] = samples[b.kind] end
          end
          calls = calls + 1
          io.stderr:write(key, ' ', a.name, ' = ', integer, '\n')
          local why = limited(f, named)
          if why then print(('%s{%s = %d}: %s'):format(key, a.name, integer, why)) end
        end
      end
    end
  end
end
print(calls .. ' calls')
