-- cpp.lua - generates OUT_DIR/ltensor_ops.hpp: a C++ function per public operation, which
-- ltensor.hpp includes. Overloads have one name, arguments have the defaults of the declarations.
--
-- Usage: lua5.4 scripts/gen/cpp.lua OUT_DIR

package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local declarations = require 'declarations'

-- Type of the declaration -> C++ parameter and the argument of the C function, %s being the name.
local types = {
  ['Tensor'] = { 'const Tensor &', '%s.get()' }, ['IndexTensor'] = { 'const Tensor &', '%s.get()' },
  ['Tensor|Scalar'] = { 'const Operand &', '%s.get()' },
  ['Tensor[]'] = { 'const TensorList &', '%s.get()' }, ['IndexTensor[]'] = { 'const TensorList &', '%s.get()' },
  ['Scalar[]'] = { 'const Tensor &', '%s.get()' }, ['Scalar'] = { 'const Scalar &', '%s' }, ['int'] = { 'int64_t ', '%s' }, ['float'] = { 'double ', '%s' },
  ['bool'] = { 'bool ', '%s' }, ['string'] = { 'const Text &', '%s.get()' }, ['Dim'] = { 'int64_t ', '%s' },
  ['Dims'] = { 'const Dims &', '%s.get()' }, ['Index'] = { 'int64_t ', '%s' }, ['Size'] = { 'const Dims &', '%s.get()' },
  ['Dtype'] = { 'Dtype ', 'static_cast<lt_dtype>(%s)' },
  ['Dtype?'] = { 'std::optional<Dtype> ', 'detail::dtype_or_none(%s)' },
  ['Device?'] = { 'const std::optional<Device> &', 'detail::pointer_to(%s)' },
  ['Generator?'] = { 'const GeneratorArgument &', '%s.get()' },
  ['Scalar?'] = { 'const std::optional<Scalar> &', 'detail::pointer_to(%s)' },
  ['int?'] = { 'std::optional<int64_t> ', 'detail::pointer_to(%s)' },
  ['float?'] = { 'std::optional<double> ', 'detail::pointer_to(%s)' },
  ['bool?'] = { 'std::optional<bool> ', 'detail::pointer_to(%s)' },
}
-- An absent value of these is a state of the type itself.
for _, name in ipairs { 'Tensor', 'IndexTensor', 'Scalar[]', 'string', 'Dims', 'Size' } do types[name .. '?'] = types[name] end
types['Dim?'], types['Index?'] = types['int?'], types['int?']

local results = {
  Tensor = { 'Tensor', 'lt_tensor *%s = nullptr;', 'Tensor::steal(%s)' },
  ['Tensor[]'] = { 'std::vector<Tensor>', 'lt_tensor_list %s = {0, nullptr};', 'detail::steal_list(&%s)' },
  bool = { 'bool', 'bool %s = false;', '%s' }, int = { 'int64_t', 'int64_t %s = 0;', '%s' },
  Scalar = { 'Scalar', 'lt_scalar %s = lt_scalar_from_int(0);', 'Scalar(%s)' },
}
results.IndexTensor = results.Tensor

-- Names of operations that are keywords of C++ end in "_".
local keywords = {}
for word in ([[and asm auto bool bitand bitor bool break case catch char class compl const constexpr continue default delete do double
  else enum explicit export extern false float for friend goto if inline int long mutable namespace new not operator or private
  protected public register return short signed sizeof static struct switch template this throw true try typedef typename
  union unsigned using virtual void volatile while xor]]):gmatch '%S+' do keywords[word] = true end
local function cpp_name(name) return keywords[name] and name .. '_' or name end

-- The default value as a C++ expression: positions count from 0.
local function default_of(arg)
  local text, base = arg.default, arg.type:gsub('%?$', '')
  if not text then return nil end
  if text == 'nil' then return 'std::nullopt' end
  local position = (base == 'Dim' or base == 'Index') and math.tointeger(tonumber(text))
  if position and position > 0 then return tostring(position - 1) end
  return (text:gsub("^'(.*)'$", '"%1"'))
end

-- The parameters of a C++ function in order: required ones, then ones with defaults. The dtype and
-- the device of a factory are one parameter `options`, before its other keyword-only ones.
local function parameters_of(op)
  local list, options = {}, nil
  for _, arg in ipairs(op.args) do
    local passed = types[arg.type][2]:format(cpp_name(arg.name))
    if op.factory and (arg.type == 'Dtype?' or arg.type == 'Device?') and arg.has_default then
      options = options or { type = 'const Options &', name = 'options', default = '{}', declared = 'Options' }
    else
      list[#list + 1] = { type = types[arg.type][1], name = cpp_name(arg.name), default = default_of(arg), declared = arg.type,
        keyword_only = arg.keyword_only }
    end
    list[#list] = list[#list] or options
    if #list > 0 then list[#list].passed = list[#list].passed or passed end
  end
  if options then
    local at = #list + 1
    while at > 1 and list[at - 1].keyword_only do at = at - 1 end
    table.insert(list, at, options)
  end
  for i = #list - 1, 1, -1 do
    if list[i + 1].default == nil then list[i].default = nil end
  end
  return list, options ~= nil
end

-- The arguments of the C function.
local function passed_by(op, has_options)
  local list = {}
  for i, arg in ipairs(op.args) do
    local of_options = has_options and arg.has_default and (arg.type == 'Dtype?' and 'options.dtype()' or arg.type == 'Device?' and 'options.device()')
    list[i] = of_options or types[arg.type][2]:format(cpp_name(arg.name))
  end
  return list
end

local function min_arity(parameters)
  local n = #parameters
  while n > 0 and parameters[n].default do n = n - 1 end
  return n
end

-- Makes calls of two overloads of a name distinct: parameters of the later one up to the first
-- difference become required. False if that is not possible, or if arguments of one C++ type before
-- the difference have other meanings; then the later one has its C name.
local function separate(earlier, later)
  local longest = math.min(#earlier, #later)
  local first = 1
  while first <= longest and earlier[first].type == later[first].type do
    if earlier[first].declared ~= later[first].declared and not earlier[first].declared:find '^Dim' then return false end
    first = first + 1
  end
  if first > #later then return #later < min_arity(earlier) end
  if min_arity(earlier) < first and min_arity(later) < first then
    for i = 1, first do later[i].default = nil end
  end
  return true
end

local function signature(list, with_defaults)
  local parts = {}
  for i, p in ipairs(list) do
    parts[i] = p.type .. p.name .. (with_defaults and p.default and ' = ' .. p.default or '')
  end
  return table.concat(parts, ', ')
end

-- A function with new results.
local function new_function(op, name, list, has_options)
  local types_of, declared, values, passed = {}, {}, {}, passed_by(op, has_options)
  for i, result in ipairs(op.returns) do
    local r, output = results[result.type], declarations.output_name(result)
    types_of[i], declared[i], values[i] = r[1], '    ' .. r[2]:format(output) .. '\n', r[3]:format(output)
    passed[#passed + 1] = '&' .. output
  end
  local single = #values == 1
  if has_options then values[1] = 'detail::with_options(out, options)' end
  return ('inline %s %s(%s)\n{\n%s    detail::check(lt_%s(%s));\n    return %s;\n}\n'):format(
    single and types_of[1] or 'std::tuple<' .. table.concat(types_of, ', ') .. '>', name, signature(list, true),
    table.concat(declared), op.cname, table.concat(passed, ', '), single and values[1] or '{' .. table.concat(values, ', ') .. '}')
end

-- A function that writes to its first argument and returns it.
local function inplace_function(op, name, c_name, list)
  local first = list[1]
  if first.type == 'const TensorList &' then
    return ('inline void %s(%s)\n{\n    detail::check(%s(%s));\n}\n'):format(name, signature(list, true), c_name,
      table.concat(passed_by(op), ', '))
  end
  local own = { { type = 'const Tensor &', name = first.name } }
  table.move(list, 2, #list, 2, own)
  return ('inline Tensor %s(%s)\n{\n    detail::check(%s(%s));\n    return %s;\n}\n'):format(name, signature(own, true), c_name,
    table.concat(passed_by(op), ', '), first.name)
end

-- A function that writes to the given tensors and returns them.
local function out_function(op, name, list)
  local passed, outs, parameters, types_of = passed_by(op), declarations.out_names(op), {}, {}
  for i, output in ipairs(outs) do
    passed[#passed + 1] = output .. '.get()'
    parameters[i], types_of[i] = 'const Tensor &' .. output, 'const Tensor &'
  end
  local result = #outs == 1 and types_of[1] or 'std::tuple<' .. table.concat(types_of, ', ') .. '> '
  return ('inline %s%s(%s%s%s)\n{\n    detail::check(lt_%s_out(%s));\n    return %s;\n}\n'):format(result, name,
    table.concat(parameters, ', '), #list > 0 and ', ' or '', signature(list, true), op.cname, table.concat(passed, ', '),
    #outs == 1 and outs[1] or '{' .. table.concat(outs, ', ') .. '}')
end

-- Of PyTorch's two ways to correct a variance, the bool `unbiased` would take a number for a
-- dimension: var(x, 1).
local function is_left_out(op)
  for _, arg in ipairs(op.args) do
    if arg.name == 'unbiased' then return true end
  end
  return op.name:sub(1, 1) == '_'
end

-- The functions of an operation by one of its names in C; base is the name without an overload.
-- `overloads` maps each name to the parameter lists of its functions so far.
local function functions_by_name(op, base, cname, overloads)
  local named = setmetatable({ cname = cname }, { __index = op })
  local list, has_options = parameters_of(op)
  local name, earlier = base, overloads[base] or {}
  for _, other in ipairs(earlier) do
    if not separate(other, list) then name = cname end
  end
  if name == base then
    earlier[#earlier + 1] = list
    overloads[base] = earlier
  end
  local out = {}
  if op.inplace_only then
    out[1] = inplace_function(named, name, 'lt_' .. cname, list)
  else
    out[1] = new_function(named, cpp_name(name), list, has_options)
  end
  if op.variants.inplace then out[#out + 1] = inplace_function(named, name .. '_', 'lt_' .. declarations.inplace_name(named), list) end
  if declarations.has_out(op) then out[#out + 1] = out_function(named, name .. '_out', list) end
  return table.concat(out)
end

local function functions_of(model)
  local out, overloads = {}, {}
  for _, op in ipairs(model.ops) do
    if op.chosen and not is_left_out(op) then
      out[#out + 1] = ('\n/* %s\n * %s */\n'):format(op.signature, (op.doc:gsub('\n%s*', '\n * ')))
      out[#out + 1] = functions_by_name(op, op.name, op.cname, overloads)
      for _, other in ipairs(op.synonyms) do
        out[#out + 1] = ('\n/* %s is %s. */\n'):format(other.known, op.name)
        out[#out + 1] = functions_by_name(op, other.c, declarations.synonym(op, other.c), overloads)
      end
    end
  end
  return table.concat(out)
end

-- ltensor_operators.hpp leaves out the operators of these.
local function absent_of(model)
  local out = {}
  for _, op in ipairs(model.ops) do
    if not op.chosen and not op.overload then out[#out + 1] = ('#define LT_WITHOUT_%s\n'):format(op.name) end
  end
  return table.concat(out)
end

local introduction = [[
/* Generated by scripts/gen/cpp.lua from src/ops. Do not edit. */
#ifndef LTENSOR_OPS_HPP
#define LTENSOR_OPS_HPP

/* A function per operation, included by ltensor.hpp, with its declaration and description. Results are values, several are
 * a std::tuple. The descriptions are written for Lua, too: a "position" and the default of a Dim count from 1 in Lua and
 * from 0 in C++ (dim=1 is 0).
 *
 *   Type?        optional: std::nullopt
 *   IndexTensor  int64, counts from 0
 *   Dtype, Device of a new tensor: one argument, Options
 *   name_        in place: writes to its first argument and returns it
 *   name_out     fills its first arguments, one for each result, with its shape, and returns them */

]]

local dir = assert(arg[1], 'usage: cpp.lua OUT_DIR')
local model = declarations.load()
declarations.write(dir .. '/ltensor_ops.hpp',
  introduction .. absent_of(model) .. '\nnamespace lt\n{\n' .. functions_of(model) .. '\n} // namespace lt\n\n#endif\n')
