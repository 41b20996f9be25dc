-- c_program.lua - compiles programs that `ltensor build` has written, runs them on tensors, and reads their
-- results.

local torch = require 'torch'
local process = dofile((debug.getinfo(1, 'S').source:match '^@(.*/)' or './') .. 'process.lua')

local M = {}

local forms = { float32 = { 'f', 'float' }, float64 = { 'd', 'double' }, int64 = { 'i8', 'int64_t' }, int32 = { 'i4', 'int32_t' }, bool = { 'B', 'unsigned char' } }
local function form_of(tensor) return forms[tostring(tensor.dtype):match '[%w]+$'] end

local function bytes_of(tensor)
  local list = tensor:reshape(-1):to(tensor.dtype == torch.bool and torch.int64 or tensor.dtype):tolist()
  return string.pack('<' .. form_of(tensor)[1]:rep(#list), table.unpack(list))
end

local function tensor_of(bytes, at, like)
  local list, format = {}, '<' .. form_of(like)[1]
  for i = 1, like:numel() do list[i], at = string.unpack(format, bytes, at) end
  return torch.tensor(list, { dtype = like.dtype == torch.bool and torch.int64 or like.dtype }):view(like.shape):to(like.dtype), at
end

-- A main function that reads the inputs from stdin and writes the outputs to stdout.
local function main_of(name, inputs, outputs, weights)
  local text, reads, writes, args = { ('#include "%s.h"\n#include <stdio.h>\n'):format(name) }, {}, {}, {}
  local function array(kind, i, n, c)
    local own = ('%s%d'):format(kind, i)
    text[#text + 1] = ('static %s %s[%d];\n'):format(c, own, n)
    args[#args + 1] = own
    return own
  end
  if weights then
    local own = array('weights', 0, weights, 'float')
    reads[1] = ('FILE *file = fopen("%s.weights", "rb"); if (file == NULL || fread(%s, sizeof %s, 1, file) != 1) return 3; fclose(file);'):format(name, own, own)
  end
  for i, x in ipairs(inputs) do
    local own = array('in', i, x:numel(), form_of(x)[2])
    reads[#reads + 1] = ('if (fread(%s, sizeof %s, 1, stdin) != 1) return 2;'):format(own, own)
  end
  for i, y in ipairs(outputs) do
    local own = array('out', i, y:numel(), form_of(y)[2])
    writes[#writes + 1] = ('fwrite(%s, sizeof %s, 1, stdout);'):format(own, own)
  end
  text[#text + 1] = ('int main(void) { %s const int status = %s_run(%s); if (status != 0) return 10 + status; %s return 0; }\n'):format(
    table.concat(reads, ' '), name, table.concat(args, ', '), table.concat(writes, ' '))
  return table.concat(text)
end

local function write(path, text)
  local file <close> = assert(io.open(path, 'wb'))
  assert(file:write(text))
end

--- Compiles folder/NAME.c by a command and runs it on the inputs. outputs: tensors of the expected shapes
-- and dtypes; weights: the number of floats in folder/NAME.weights. Returns the outputs, or nil, the message and the status.
function M.run(folder, name, compiler, inputs, outputs, weights)
  write(('%s/main_%s.c'):format(folder, name), main_of(name, inputs, outputs, weights))
  local parts = {}
  for i, x in ipairs(inputs) do parts[i] = bytes_of(x) end
  write(('%s/%s.in'):format(folder, name), table.concat(parts))
  local bytes, message, status = process.run(('cd %s && %s %s.c main_%s.c -o %s.out -lm && ./%s.out <%s.in'):format(folder, compiler, name, name, name, name, name))
  if status ~= 0 then return nil, message, status end
  local results, at = {}, 1
  for i, y in ipairs(outputs) do results[i], at = tensor_of(bytes, at, y) end
  return results
end

--- The greatest difference of results, relative to the greatest element of each.
function M.difference(results, expected)
  local worst = 0
  for i, y in ipairs(expected) do
    local x, z = results[i]:double(), y:double()
    local difference = (x - z):abs():max():item() / math.max(z:abs():max():item(), 1e-30)
    if difference ~= difference then return difference end
    worst = math.max(worst, difference)
  end
  return worst
end

return M
