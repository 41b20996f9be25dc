-- program.lua - the nn.Module of a .pt2 file: its archive, tensors and nodes, in the form that
-- onnx/run.lua executes.
--
-- The program is a list of nodes that name operators of PyTorch as targets.

local torch = require 'torch'
local archives = require 'torch.export.archive'
local arguments = require 'torch.export.arguments'
local Builder = require 'torch.export.builder'
local class = require 'torch.support.class'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local nn = require 'torch.nn'
local optimize = require 'torch.onnx.optimize'
local parts = require 'torch.support.module_tree'
local readable = require 'torch.export.readable'
local run = require 'torch.onnx.run'
local trees = require 'torch.export.tree'
local zip = require 'torch.files.zip'

local field, present = archives.field, archives.present

local M = {}

local Part = nn.Module:extend 'ProgramPart'
local Program = nn.Module:extend 'ExportedProgram'

-- ---- the module ---------------------------------------------------------------------------------

-- Sets the dtype and the sizes (-1: any) that the program declares for an input or output, and the
-- names of the symbols of sizes that vary.
local function describe(value, declared)
  local meta = type(declared) == 'table' and declared[value.name]
  if type(meta) ~= 'table' or type(meta.sizes) ~= 'table' then return value end
  value.dtype, value.sizes, value.symbols = archives.dtypes[meta.dtype], {}, {}
  for i, size in ipairs(meta.sizes) do
    local symbol = type(size) == 'table' and type(size.as_expr) == 'table' and size.as_expr.expr_str
    symbol = type(symbol) == 'string' and symbol:match "^Symbol%('([%w_]+)'[^()]*%)$" or symbol
    value.sizes[i] = type(size) == 'table' and math.tointeger(size.as_int) or -1
    if type(symbol) == 'string' and symbol:find '^[%a_][%w_]*$' then value.symbols[i] = symbol end
  end
  return value
end

-- The name of a value that is a tensor or a number.
local function value_name(argument)
  local one = present(argument.as_tensor) or present(argument.as_sym_int) or present(argument.as_sym_float) or present(argument.as_sym_bool)
  return one and (one.name or one.as_name)
end

-- The value of an argument that is constant; nil for None.
local function constant_of(argument)
  for _, form in ipairs { 'as_int', 'as_float', 'as_bool', 'as_string' } do
    if present(argument[form]) ~= nil then return argument[form] end
  end
end

-- Tokens order operators with effects, as the nodes' order does.
local TOKEN = { false }

-- frozen: names of parameters without gradient. Names of one tensor are one parameter.
local function add_inputs(self, model, specs, tensors, frozen)
  local fields, parameters = class.fields(model), {}
  local function keep(spec, name_field, value_kind, persistent)
    local name = field(self.archive, spec, name_field, 'string')
    local value, slot = tensors[name], self:slot(field(self.archive, spec, 'arg', 'table').name)
    if not value then self.archive:fail("no tensor '%s'", name) end
    local at, key = parts.place(model, Part, name)
    if value_kind == 'parameter' then
      local has_grad = not frozen[name] and (value.dtype.is_floating_point or value.dtype.is_complex)
      local is_shared = torch._C.is_parameter(value) -- of an exported module
      parameters[value] = parameters[value] or is_shared and value or nn.Parameter(value, { requires_grad = has_grad })
      at:register_parameter(key, parameters[value])
    else
      at:register_buffer(key, value, persistent)
    end
    self.constants[#self.constants + 1] = { name = name, slot = slot, fields = class.fields(at), key = key, kind = value_kind, is_saved = persistent ~= false }
  end
  for _, spec in ipairs(specs) do
    if spec.parameter then keep(spec.parameter, 'parameter_name', 'parameter')
    elseif spec.buffer then keep(spec.buffer, 'buffer_name', 'buffer', spec.buffer.persistent ~= false)
    elseif spec.tensor_constant then keep(spec.tensor_constant, 'tensor_constant_name', 'buffer', false)
    elseif spec.user_input then
      local argument = field(self.archive, spec.user_input, 'arg', 'table')
      local name = value_name(argument)
      if name then
        local input = { name = name, slot = self:slot(name), is_number = not present(argument.as_tensor) }
        table.insert(fields.inputs, input)
        table.insert(fields.leaves, input)
      elseif not next(argument) or present(argument.as_custom_obj) then
        self.archive:fail 'an input that is an object of Python: export the program with tensors and numbers'
      else
        table.insert(fields.leaves, { constant = constant_of(argument) })
      end
    elseif spec.constant_input then
      local constant = spec.constant_input
      table.insert(fields.leaves, { name = constant.name, constant = constant_of(field(self.archive, constant, 'value', 'table')) })
    elseif spec.token then
      self.constants[#self.constants + 1] = { name = '', slot = self:slot(field(self.archive, spec.token, 'arg', 'table').name), fields = TOKEN, key = 1 }
    else
      self.archive:fail('an input of the kind %s, which ltensor does not support', tostring(next(spec)))
    end
  end
end

local constants_of_results = { as_int = true, as_float = true, as_bool = true, as_string = true }

-- Results, and the values that are written to buffers, parameters and inputs after a call.
local function add_outputs(self, model, specs)
  local fields = class.fields(model)
  local written = { buffer_mutation = 'buffer_name', parameter_mutation = 'parameter_name', user_input_mutation = 'user_input_name' }
  for _, spec in ipairs(specs) do
    local kind, what = next(spec)
    if written[kind] then
      local change = { name = field(self.archive, what, written[kind], 'string'), made = field(self.archive, what, 'arg', 'table').name, is_input = kind == 'user_input_mutation' }
      table.insert(fields.changes, change)
    elseif kind == 'user_output' or kind == 'loss_output' then
      local argument = field(self.archive, what, 'arg', 'table')
      local form, value = next(argument)
      if kind == 'loss_output' then form, value = 'as_tensor', argument end
      fields.results.n = fields.results.n + 1
      if form ~= 'as_none' then
        local name = constants_of_results[form] and tostring(value) or kind == 'loss_output' and value.name or value_name(argument)
        if not name then self.archive:fail("a result that is a %s, which ltensor does not support", tostring(form)) end
        local output = { name = name, value = constants_of_results[form] and value }
        table.insert(fields.outputs, output)
        fields.results[fields.results.n] = output
      end
    elseif kind ~= 'token' then
      self.archive:fail('a result of the kind %s, which ltensor does not support', tostring(kind))
    end
  end
end

-- ---- calls --------------------------------------------------------------------------------------

local function value_of(frame, output)
  if output.slot then return frame[output.slot] end
  return output.value
end

local function flat_results(frame, outputs, i)
  local output = outputs[i]
  if not output then return end
  return value_of(frame, output), flat_results(frame, outputs, i + 1)
end

-- The results as the exported module returns them: a tuple is several values.
local function results(model, frame)
  local tree = model.out_tree
  if not tree then return flat_results(frame, model.outputs, 1) end
  local leaves = {}
  for i = 1, model.results.n do leaves[i] = model.results[i] and value_of(frame, model.results[i]) end
  local value = trees.unflatten(tree, leaves, 1)
  if tree.is_tuple then return table.unpack(value, 1, #tree) end
  return value
end

--- The program's results. The arguments are the ones of the exported module, or the tensors and
-- numbers in them in order, or a table of these by name.
function Program:forward(...)
  local frame, at = arguments.frame_of(self, ...), {}
  local inputs = {}
  for _, change in ipairs(self.changes) do
    if change.is_input then inputs[change] = frame[change.target] end
  end
  local ok, message = pcall(run.nodes, self._graph, frame, at)
  if not ok then
    if type(message) ~= 'string' or not at.node then error(message, 0) end
    fail('%s: %s', at.node.where, (message:gsub('^%[?[^%s:]*%]?:%d+: ', '')))
  end
  for _, change in ipairs(self.changes) do
    local target = inputs[change] or change.fields[change.key]
    local by_autograd = change.is_input and torch.is_grad_enabled() and not (target.requires_grad and target.is_leaf)
    if by_autograd then target:copy_(frame[change.slot])
    else torch.no_grad(function() target:copy_(frame[change.slot]) end) end
  end
  return results(self, frame)
end

--- The graph as text: the arguments, one line for each node, the results. It is printed, too, unless
--- print_output is false.
function Program:print_readable(print_output)
  local text = torch._C.printable(readable.graph(self._text))
  if print_output then print(text) end
  return text
end
declare.methods(Program, 'print_readable(self, boolean print_output=true)')

function Program:extra_repr()
  local names = {}
  for i, input in ipairs(self.inputs) do names[i] = input.name end
  return ('inputs=(%s), nodes=%d'):format(table.concat(names, ', '), #self._graph.nodes)
end

-- The ranges of symbols of sizes: { [name] = { min =, max = } }.
local function ranges_of(program)
  local ranges = {}
  for name, range in pairs(type(program.range_constraints) == 'table' and program.range_constraints or {}) do
    ranges[name] = { min = math.tointeger(range.min_val), max = math.tointeger(range.max_val) }
  end
  return ranges
end

-- Sets the trees of nested arguments and results, from the signature of the whole module.
local function add_trees(archive, fields, modules)
  local whole = type(modules) == 'table' and type(modules[1]) == 'table' and present(modules[1].signature)
  if type(whole) ~= 'table' or modules[1].fqn ~= '' then return end
  fields.in_tree, fields.out_tree = trees.read(archive, whole.in_spec, #fields.leaves), trees.read(archive, whole.out_spec, fields.results.n)
  fields.argument_names = type(whole.forward_arg_names) == 'table' and whole.forward_arg_names or nil
end

local function build(archive, text, tensors, frozen, entry)
  local program = archives.parsed(archive, entry, text)
  local module = field(archive, program, 'graph_module', 'table')
  local signature, graph = field(archive, module, 'signature', 'table'), field(archive, module, 'graph', 'table')
  local self = Builder.new(archive, graph, field(archive, signature, 'output_specs', 'table'))
  local model = Program()
  local fields = class.fields(model)
  fields._text, fields.graph_signature = text, readable.signature(signature)
  fields.inputs, fields.outputs, fields.changes, fields.ranges = {}, {}, {}, ranges_of(program)
  fields.leaves, fields.results = {}, { n = 0 }
  add_inputs(self, model, field(archive, signature, 'input_specs', 'table'), tensors, frozen)
  add_outputs(self, model, field(archive, signature, 'output_specs', 'table'))
  add_trees(archive, fields, module.module_call_graph)
  for _, list in ipairs { fields.inputs, fields.outputs } do
    for _, value in ipairs(list) do describe(value, graph.tensor_values) end
  end
  local fixed = self.size -- inputs and tensors stay while the program runs
  for _, proto in ipairs(field(archive, graph, 'nodes', 'table')) do self:add(proto) end
  self:check_missing()
  local graph_outputs = {}
  for _, list in ipairs { fields.outputs, fields.changes } do
    for _, value in ipairs(list) do
      if value.value == nil then
        value.slot = self.slots[value.made or value.name] or archive:fail("its result '%s' is made by no node", tostring(value.name))
        table.insert(graph_outputs, value)
      end
    end
  end
  for _, change in ipairs(fields.changes) do
    for _, value in ipairs(self.constants) do
      if value.name == change.name and not change.is_input then change.fields, change.key = value.fields, value.key end
    end
    for _, input in ipairs(fields.inputs) do
      if change.is_input and input.name == change.name then change.target = input.slot end
    end
    if not change.fields and not change.target then archive:fail("its program changes '%s', which it does not have", change.name) end
  end
  fields._graph = { nodes = self.nodes, constants = self.constants, inputs = fields.inputs, outputs = graph_outputs, captures = {}, known = {}, size = self.size, fixed = fixed }
  optimize(fields._graph)
  fields._graph.constants = self.constants -- a saved file has unused ones, too
  -- PyTorch's program is no module; a submodule of the program may have this name.
  if fields.module == nil then fields.module = function(self) return self end end
  return model:eval()
end

local MAX_SAMPLES = 1 << 24 -- bytes of sample inputs that a program keeps for torch.export.save

local function read_program(archive)
  local model = build(archive, archives.read(archive))
  for _, entry in ipairs(archive.entries) do
    if entry.name:find 'data/sample_inputs/[^/]*%.pt$' and entry.size <= MAX_SAMPLES then class.fields(model)._samples = archive:text(entry, MAX_SAMPLES) end
  end
  return model
end

--- The program of a text of JSON, and its tensors by name.
function M.build(text, tensors)
  local source = { path = 'torch.export.export' }
  function source.fail(_, format, ...) fail('%s: ' .. format, source.path, ...) end
  return torch._C.within_budget(#text, nil, build, source, text, tensors, {}, 'the program')
end

--- As torch.export.load. given: tensors by name, for the ones without an entry.
function M.load(path, max_memory, _, given)
  local archive <close> = zip.open(path)
  archive.tensors = given
  return torch._C.within_budget(archive.size, max_memory, read_program, archive)
end

return M
