-- graph.lua - converts ONNX graphs to the form of run.lua: nodes in order, numbered values.
--
-- A graph is { nodes =, inputs =, outputs =, constants =, captures =, size = }: `size` slots
-- contain its values; inputs are { name =, slot =, type =, default = }, outputs { name =, slot = },
-- constants { slot =, name =, value =, learned = }, statistics { [slot] = true } of batch norms, captures { outer =, inner = } the values that a
-- body (of If, Loop, Scan) uses of the enclosing graph. A node is { op =, domain =, version =, name
-- =, inputs = { slots, 0 for an absent one }, outputs =, attributes =, known = { [input] = value of
-- a constant one }, fn =, done = { slots with their last use here } }. Calls of the model's
-- functions are inlined. Nodes with constant inputs and small results are evaluated here; optimize.lua
-- has the other passes.

local torch = require 'torch'
local kinds = require 'torch.onnx.kinds'
local ops = require 'torch.onnx.ops'
local optimize = require 'torch.onnx.optimize'
local tensors = require 'torch.onnx.tensors'

local M = {}

local MAX_NODES = 1 << 17 -- after inlining of functions: a small file can expand to very many
local MAX_DEPTH = 50

local Builder = {}
Builder.__index = Builder

function Builder:fail(format, ...) torch._C.raise(self.reader.path .. ': ' .. format:format(...)) end

local function named(proto)
  local name = proto.name or ''
  if name == '' then name = proto.output[1] or '' end
  return ("node '%s' (%s)"):format(name, proto.op_type or 'no operator')
end

-- ---- names --------------------------------------------------------------------------------------

-- A scope maps the names of one graph's values, or of one function call; `parent` is the scope
-- around a body.
local function new_scope(graph, parent) return { graph = graph, slots = {}, parent = parent, known = {} } end

local function new_slot(graph)
  graph.size = graph.size + 1
  return graph.size
end

-- The slot of a name that some scope has, carried through the bodies in between; nil if none has
-- it.
local function find(scope, name)
  local slot = scope.slots[name]
  if slot or not scope.parent then return slot end
  local outer = find(scope.parent, name)
  if not outer then return nil end
  slot = new_slot(scope.graph)
  table.insert(scope.graph.captures, { outer = outer, inner = slot })
  scope.slots[name] = slot
  scope.graph.known[slot] = scope.parent.graph.known[outer]
  return slot
end

local function define(self, scope, name, where)
  if scope.slots[name] then self:fail("%s: two values are named '%s'", where, name) end
  local slot = new_slot(scope.graph)
  scope.slots[name] = slot
  return slot
end

-- ---- attributes ---------------------------------------------------------------------------------

local fields = { 'f', 'i', 's', 't', 'g', 'floats', 'ints', 'strings', 'tensors', 'graphs', [11] = 'sparse_tensor', [13] = 'tp' }
local build_graph

-- given: inside of a function, the attributes of its call.
local function read_attributes(self, scope, proto, given, where)
  local attributes = {}
  for _, attribute in ipairs(proto.attribute) do
    local name = attribute.name or ''
    local reference = attribute.ref_attr_name
    if reference and reference ~= '' then
      if not given then self:fail("%s: attribute '%s' refers to one of a function, outside of one", where, name) end
      attributes[name] = given[reference]
    else
      local field = fields[attribute.type or 0]
      if not field then -- missing in files of the first version
        for _, candidate in pairs(fields) do
          local value = attribute[candidate]
          if value ~= nil and not (type(value) == 'table' and next(value) == nil) then field = candidate end
        end
      end
      local value = field and attribute[field]
      local place = ("%s, attribute '%s'"):format(where, name)
      if field == 'f' then value = value or 0.0
      elseif field == 'i' then value = value or 0
      elseif field == 's' then value = value or ''
      elseif field == 't' and value then value = tensors.read(self.reader, value, self.reader.path .. ': ' .. place)
      elseif field == 'sparse_tensor' and value then value = tensors.read_sparse(self.reader, value, self.reader.path .. ': ' .. place)
      elseif field == 'g' and value then value = build_graph(self, value, scope, given, place)
      elseif field == 'tensors' or field == 'graphs' then self:fail('%s: a list of %s is not supported', place, field) end
      if value == nil then self:fail('%s has no value', place) end
      attributes[name] = value
    end
  end
  return attributes
end

-- ---- nodes --------------------------------------------------------------------------------------

local add_nodes

local function domain_of(name) return name == 'ai.onnx' and '' or name or '' end

local function versions_of(list)
  local versions = {}
  for _, entry in ipairs(list) do versions[domain_of(entry.domain)] = entry.version end
  return versions
end

-- Inlines a call of a function of the model; its names have their own scope.
local function call_function(self, scope, proto, fn, inputs, attributes, where)
  self.depth = self.depth + 1
  if self.depth > MAX_DEPTH then self:fail('%s: functions call each other more than %d deep', where, MAX_DEPTH) end
  local body = new_scope(scope.graph)
  for i, name in ipairs(fn.input) do body.slots[name] = inputs[i] or 0 end
  for _, default in ipairs(fn.attribute_proto) do
    if default.name and attributes[default.name] == nil then
      attributes[default.name] = read_attributes(self, scope, { attribute = { default } }, nil, where)[default.name]
    end
  end
  add_nodes(self, body, fn.node, versions_of(fn.opset_import), attributes)
  for i, name in ipairs(proto.output) do
    if name ~= '' then
      local slot = fn.output[i] and body.slots[fn.output[i]]
      if not slot then self:fail("%s: the function has no output %d", where, i) end
      if scope.slots[name] then self:fail("%s: two values are named '%s'", where, name) end
      scope.slots[name] = slot
    end
  end
  self.depth = self.depth - 1
end

local function add_node(self, scope, proto, versions, given)
  local graph, where = scope.graph, named(proto)
  self.nodes = self.nodes + 1
  if self.nodes > MAX_NODES then self:fail('more than %d nodes', MAX_NODES) end
  local domain, op = domain_of(proto.domain), proto.op_type or ''
  local inputs = {}
  for i, name in ipairs(proto.input) do
    inputs[i] = name == '' and 0 or find(scope, name)
    if not inputs[i] then self:fail("%s: its input '%s' is made by no node before it", where, name) end
  end
  local attributes = read_attributes(self, scope, proto, given, where)
  local fn = self.functions[domain .. ':' .. op .. ':' .. (proto.overload or '')]
  if fn then return call_function(self, scope, proto, fn, inputs, attributes, where) end
  if domain == '' and op == 'Identity' and inputs[1] and inputs[1] ~= 0 and #proto.output == 1 then -- another name of the same value
    if scope.slots[proto.output[1]] then self:fail("%s: two values are named '%s'", where, proto.output[1]) end
    scope.slots[proto.output[1]] = inputs[1]
    return
  end
  local version = versions[domain]
  if not version then self:fail("%s: the model has no version for the operator set '%s'", where, domain == '' and 'ai.onnx' or domain) end
  local entry, reason = ops.find(domain, op, version)
  if not entry then self:fail('%s: %s', where, reason) end
  local node = { op = op, domain = domain, version = version, name = proto.name or '', where = where, inputs = inputs, outputs = {},
    attributes = attributes, known = {}, fn = entry.fn, takes_frame = entry.takes_frame, is_random = entry.is_random, grows = entry.grows }
  for i, slot in ipairs(inputs) do node.known[i] = graph.known[slot] end
  for i, name in ipairs(proto.output) do node.outputs[i] = name == '' and 0 or define(self, scope, name, where) end
  if entry.check then
    local problem = entry.check(node)
    if problem then self:fail('%s: %s', where, problem) end
  end
  if op == 'BatchNormalization' then graph.statistics[inputs[4]], graph.statistics[inputs[5]] = true, true end
  kinds.describe(node)
  graph.nodes[#graph.nodes + 1] = node
  M.fold(self, graph, node)
end

function add_nodes(self, scope, protos, versions, given)
  for _, proto in ipairs(protos) do add_node(self, scope, proto, versions, given) end
end

-- ---- folding ------------------------------------------------------------------------------------

local MAX_FOLDED = 1 << 16 -- elements of an input
local MAX_FOLDED_BYTES = 1 << 26 -- memory limit for evaluating a node
local MAX_GROWN = 1 << 26 -- total elements of a model's folded constants that differ in size from their inputs

-- Constant folding: replaces a node with constant inputs by constants if these are small.
function M.fold(self, graph, node)
  if node.is_random or node.takes_frame or node.grows == true then return end
  local arguments = {}
  for i, slot in ipairs(node.inputs) do
    local value = graph.known[slot]
    if slot ~= 0 and (value == nil or value:numel() > MAX_FOLDED) then return end
    arguments[i] = value
  end
  if #node.inputs == 0 and node.op ~= 'Constant' then return end
  if node.grows then
    local ok, numel = pcall(node.grows, node, table.unpack(arguments, 1, #node.inputs))
    if not ok or numel < 0 or numel > MAX_GROWN - self.grown then return end
    self.grown = self.grown + numel
  end
  local results = table.pack(pcall(torch._C.within_budget, 0, MAX_FOLDED_BYTES, node.fn, node, table.unpack(arguments, 1, #node.inputs)))
  if not results[1] then
    if node.op == 'Constant' then self:fail('%s: %s', node.where, results[2]) end
    return -- the error is raised when the model reaches this node
  end
  for i = 1, #node.outputs do
    if not torch.is_tensor(results[i + 1]) then return end
  end
  graph.nodes[#graph.nodes] = nil
  for i, slot in ipairs(node.outputs) do
    local value = results[i + 1]
    graph.known[slot] = value
    graph.constants[#graph.constants + 1] = { slot = slot, value = value }
  end
end

-- ---- graphs -------------------------------------------------------------------------------------

local function add_initializers(self, scope, proto, where)
  local function add(name, value, place)
    name = name or ''
    local slot = scope.slots[name]
    local input
    for _, candidate in ipairs(scope.graph.inputs) do
      if candidate.name == name then input = candidate end
    end
    if slot and not input then self:fail("%s: two values are named '%s'", place, name) end
    slot = slot or define(self, scope, name, place)
    local constant = { slot = slot, name = name, value = value, learned = value.dtype.is_floating_point }
    table.insert(scope.graph.constants, constant)
    if input then input.default = constant end
    -- Values that a caller may replace, and trained values, are not constants.
    if not constant.learned and (not input or self.ir_version < 4) then scope.graph.known[slot] = value end
  end
  for _, tensor in ipairs(proto.initializer) do
    local place = ("%s, initializer '%s'"):format(where, tensor.name or '')
    add(tensor.name, tensors.read(self.reader, tensor, self.reader.path .. ': ' .. place), place)
  end
  for _, tensor in ipairs(proto.sparse_initializer) do
    local name = tensor.values and tensor.values.name or ''
    local place = ("%s, initializer '%s'"):format(where, name)
    add(name, tensors.read_sparse(self.reader, tensor, self.reader.path .. ': ' .. place), place)
  end
end

function build_graph(self, proto, parent, given, where)
  self.depth = self.depth + 1
  if self.depth > MAX_DEPTH then self:fail('%s: graphs nested more than %d deep', where, MAX_DEPTH) end
  local graph = { ir_version = self.ir_version, name = proto.name or '', nodes = {}, inputs = {}, outputs = {}, constants = {}, statistics = {}, captures = {}, known = {}, size = 0 }
  local scope = new_scope(graph, parent)
  for i, input in ipairs(proto.input) do
    graph.inputs[i] = { name = input.name or '', slot = define(self, scope, input.name or '', where), type = input.type }
  end
  add_initializers(self, scope, proto, where)
  graph.fixed = graph.size -- inputs and initializers stay while the graph runs
  add_nodes(self, scope, proto.node, self.versions, given)
  for i, output in ipairs(proto.output) do
    local slot = find(scope, output.name or '')
    if not slot or slot == 0 then self:fail("%s: its output '%s' is made by no node", where, output.name or '') end
    graph.outputs[i] = { name = output.name, slot = slot, type = output.type }
  end
  optimize(graph)
  self.depth = self.depth - 1
  return graph
end

--- The graph of a ModelProto.
function M.build(reader, model)
  local self = setmetatable({ reader = reader, depth = 0, nodes = 0, grown = 0, functions = {}, ir_version = model.ir_version or 0 }, Builder)
  if not model.graph then self:fail('no graph: not an ONNX model, or a damaged one') end
  self.versions = versions_of(model.opset_import)
  if not next(self.versions) then self.versions[''] = 1 end
  for _, fn in ipairs(model.functions) do
    self.functions[domain_of(fn.domain) .. ':' .. (fn.name or '') .. ':' .. (fn.overload or '')] = fn
  end
  return build_graph(self, model.graph, nil, nil, ("graph '%s'"):format(model.graph.name or ''))
end

return M
