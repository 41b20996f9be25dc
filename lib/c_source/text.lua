-- text.lua - the text of a generated program: a source and its header.

local formulas = require 'torch.c_source.ops.formulas'
local memory = require 'torch.c_source.memory'
local places = require 'torch.c_source.places'

local M = {}

local function dims(shape)
  local list = {}
  for i, size in ipairs(shape) do list[i] = ('[%d]'):format(size) end
  return #list > 0 and table.concat(list) or '[1]'
end

-- ---- constants ----------------------------------------------------------------------------------

local PER_LINE = 8

local function numbers(buffer, out)
  local c = places.type_of(buffer.dtype).c
  local flat = buffer.tensor:reshape(-1)
  if buffer.numel == 0 then out[#out + 1] = '0' end
  local CHUNK = 65536 -- elements of a list of Lua at a time
  for from = 1, buffer.numel, CHUNK do
    local list = flat:narrow(1, from, math.min(CHUNK, buffer.numel - from + 1)):tolist()
    for i, x in ipairs(list) do
      if i % PER_LINE == 1 then out[#out + 1] = '\n    ' end
      out[#out + 1] = formulas.literal(x, c)
      out[#out + 1] = ', '
    end
  end
end

-- The arrays of constants, in the source or as parts of the file of weights.
local function constants(b, options, out)
  local at = 0
  for _, buffer in ipairs(b.constants) do
    local c = places.type_of(buffer.dtype).c
    if options.weights and c == 'float' then
      out[#out + 1] = ('#define %s (weights + %d) /* %s */\n'):format(buffer.name, at, buffer.label or 'computed')
      at = at + buffer.numel
    else
      out[#out + 1] = ('static const %s %s[%d] = {'):format(c, buffer.name, math.max(buffer.numel, 1))
      numbers(buffer, out)
      out[#out + 1] = '\n};\n'
    end
  end
  return at
end

--- Writes the constants of float32, one after the other, to a file.
function M.write_weights(b, file)
  for _, buffer in ipairs(b.constants) do
    if places.type_of(buffer.dtype).c == 'float' then
      local flat, CHUNK = buffer.tensor:reshape(-1), 65536 -- elements
      for from = 1, buffer.numel, CHUNK do
        local list = flat:narrow(1, from, math.min(CHUNK, buffer.numel - from + 1)):tolist()
        assert(file:write(string.pack('<' .. ('f'):rep(#list), table.unpack(list))))
      end
    end
  end
end

-- ---- the function -------------------------------------------------------------------------------

local function prototype(b, options)
  local list = { options.weights and 'const float *weights' or nil }
  for _, input in ipairs(b.inputs) do list[#list + 1] = ('const %s *%s'):format(places.type_of(input.dtype).c, input.buffer.name) end
  for _, output in ipairs(b.outputs) do list[#list + 1] = ('%s *%s'):format(places.type_of(output.dtype).c, output.buffer.name) end
  return ('int %s_run(%s)'):format(options.name, table.concat(list, ', '))
end

local function argument(x)
  if type(x) == 'table' then return memory.pointer(x) end
  if type(x) == 'number' then return ('%d'):format(x) end
  return x
end

-- Marks the parameters that no statement reads as used, for compilers that warn.
local function unused(b, options, weights, out)
  local read = {}
  for _, statement in ipairs(b.statements) do
    for i = 1, statement.args.n do
      if type(statement.args[i]) == 'table' then read[statement.args[i].buffer] = true end
    end
  end
  if options.weights and weights == 0 then out[#out + 1] = '\n    (void)weights;' end
  for _, input in ipairs(b.inputs) do
    if not read[input.buffer] then out[#out + 1] = ('\n    (void)%s;'):format(input.buffer.name) end
  end
  out[#out + 1] = '\n'
end

local function body(b, out)
  local before
  for _, statement in ipairs(b.statements) do
    local args, call = {}, statement.call
    for i = 1, statement.args.n do args[i] = argument(statement.args[i]) end
    local comment = call and call.node or nil
    if comment and comment ~= before then out[#out + 1] = ('%s    /* %s */\n'):format(before and '\n' or '', comment) end
    before = comment
    local text = ('%s(%s)'):format(statement.fn, table.concat(args, ', '))
    out[#out + 1] = statement.is_checked and ('    if (%s != 0) return 1;\n'):format(text) or ('    %s;\n'):format(text)
  end
end

local function described(b)
  local lines = {}
  for kind, list in pairs { inputs = b.inputs, outputs = b.outputs } do
    for _, place in ipairs(list) do
      lines[#lines + 1] = (' * - %s: %s%s, %s\n'):format(place.buffer.name, places.type_of(place.dtype).c, dims(place.shape), kind == 'inputs' and 'an input' or 'an output')
    end
  end
  table.sort(lines)
  return table.concat(lines)
end

--- The source and the header of a builder's statements. options: { name =, header = its file name,
-- weights = true for a separate file }.
function M.texts(b, options)
  local sizes, upper = memory.plan(b.statements), options.name:upper()
  local arena, bytes = {}, 0
  local names = {}
  for name in pairs(sizes) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local type = places.types[name:match '[%w]+$']
    arena[#arena + 1] = ('static %s arena%s[%d];\n'):format(type.c, type.suffix, sizes[name])
    bytes = bytes + sizes[name] * type.bytes
  end
  local out = { ('/* %s_run: generated by `ltensor build`. See %s. */\n#include "%s"\n\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n')
    :format(options.name, options.header, options.header) }
  out[#out + 1] = b.parts:text() .. '\n\n/* ---- constants ---- */\n\n'
  local weights = constants(b, options, out)
  out[#out + 1] = '\n/* ---- memory: results share elements where their lifetimes allow it ---- */\n\n' .. table.concat(arena) .. '\n'
  out[#out + 1] = prototype(b, options) .. '\n{'
  unused(b, options, weights, out)
  body(b, out)
  out[#out + 1] = '    return 0;\n}\n'
  local header = { ('/* Generated by `ltensor build`.\n *\n * %s_run computes the outputs of a program. Its arrays are contiguous and must not overlap:\n%s'):format(options.name, described(b)) }
  if options.weights then header[#header + 1] = (' * - weights: the %d floats of the file of weights, in the byte order of the machine\n'):format(weights) end
  header[#header + 1] = (' * It returns 0, or 1 if a position of an embedding is out of range. It allocates no memory and\n * uses static arrays: only one thread may run it at a time. */\n#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n'):format(upper, upper)
  header[#header + 1] = ('#define %s_ARENA %d /* bytes of static memory */\n'):format(upper, bytes)
  if options.weights then header[#header + 1] = ('#define %s_WEIGHTS %d /* floats */\n'):format(upper, weights) end
  for _, list in ipairs { b.inputs, b.outputs } do
    for _, place in ipairs(list) do header[#header + 1] = ('#define %s_%s %d /* elements */\n'):format(upper, place.buffer.name:upper(), places.numel(place.shape)) end
  end
  header[#header + 1] = ('\n%s;\n\n#endif\n'):format(prototype(b, options))
  return table.concat(out), table.concat(header)
end

return M
