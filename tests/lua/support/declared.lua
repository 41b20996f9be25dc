-- declared.lua - what a function, method or constructor of the library declares that it takes, and whether PyTorch's forms of the same
-- name (tests/reference/arguments.lua) are among these.
--
-- A form is { names in a row..., rest = whether more may stand there, known = { [name] = true }, optional = { [name] = true } }.

local torch = require 'torch'
local arguments = require 'torch.support.arguments'
local declarations = require 'torch.support.declarations'

local M = {}

-- ---- ours ---------------------------------------------------------------------------------------------------------------

local function form() return { known = {}, optional = {} } end

local function of_overloads(list, first)
  local forms = {}
  for _, overload in ipairs(list) do
    local made = form()
    for i, a in ipairs(overload) do
      if i > 1 or a.name ~= 'self' or first then
        local name = a.name == 'self' and 'input' or a.name
        if not a.only_named then made[#made + 1] = name end
        made.known[name], made.optional[name] = true, a.optional
      end
    end
    forms[#forms + 1] = made
  end
  return forms
end

local function of_signature(signature, is_method)
  local made = form()
  for i, a in ipairs(signature) do
    if not (is_method and i == 1) then
      if i <= signature.positional then made[#made + 1] = a.name end
      made.known[a.name], made.optional[a.name] = true, a.optional
    end
  end
  made.rest = signature.rest
  return { made }
end

local function of_class(class)
  local at = class
  while at do
    local signature, reader = arguments.signature_of(at), arguments.constructors[at.__classname]
    if signature then return of_signature(signature, true) end
    if reader then return of_signature(type(reader) == 'table' and reader or arguments.parse(reader), false) end
    if rawget(at, 'init') then return nil end
    at = at.super
  end
  return nil
end

--- The forms that a value declares; nil where it declares nothing. is_method: of a tensor or of a class.
function M.of(value, is_method)
  if type(value) == 'table' then return of_class(value) end
  if type(value) ~= 'function' then return nil end
  local signature = arguments.signature_of(value)
  if signature then return of_signature(signature, signature.is_self ~= nil or is_method and signature[1] ~= nil and signature[1].name == 'self') end
  local name, in_nn = arguments.ops[value], false
  if not name then name, in_nn = torch._C.op_name(value) end
  local list = name and declarations.overloads(name, in_nn) or {}
  if name and #list == 0 then list = declarations.overloads(name, true) end
  if #list == 0 then return nil end
  return of_overloads(list, not is_method)
end

-- ---- PyTorch's ------------------------------------------------------------------------------------------------------------

function M.parse(text)
  local made, named = form(), false
  for word in text:gmatch '%S+' do
    if word == '*' then named = true elseif word == '...' then made.rest = true
    else
      local name = word:gsub('%?$', '')
      if not named then made[#made + 1] = name end
      made.known[name], made.optional[name] = true, word:sub(-1) == '?'
    end
  end
  return made
end

-- Whether our name of an argument, or another name of it (src/lua/arg_messages.c), is PyTorch's.
local aliases = torch._C.argument_aliases()
local function same(ours, theirs)
  if ours == theirs or ours == 'x' and theirs == 'input' then return true end
  for _, other in ipairs(aliases[ours] or ours == 'input' and aliases.self or {}) do
    if other == theirs then return true end
  end
  return false
end
local function knows(ours, theirs)
  if ours.known[theirs] then return true end
  for name in pairs(ours.known) do
    if same(name, theirs) then return true end
  end
  return false
end

-- Why a form of ours does not take what PyTorch's does; nil where it does.
local function lacks(ours, theirs)
  for i, name in ipairs(theirs) do
    if not same(ours[i], name) and not (ours.rest and i > #ours) then
      return knows(ours, name) and ("'%s' is not number %d in a row"):format(name, i) or ("'%s' is not known"):format(name)
    end
  end
  for name in pairs(theirs.known) do
    if not knows(ours, name) and not (ours.rest and not theirs.optional[name]) then return ("'%s' is not known"):format(name) end
  end
  for name in pairs(ours.known) do
    if not ours.optional[name] and not knows(theirs, name) then return ("'%s' must be given"):format(name) end
    if not ours.optional[name] and theirs.optional[name] then return ("'%s' may not be left out"):format(name) end
  end
  if theirs.rest and not ours.rest then return 'values in a row are not taken' end
  return nil
end

--- Why none of our forms takes what a form of PyTorch does: the reason of the nearest; nil where one does.
function M.difference(ours, theirs)
  local reason
  for _, made in ipairs(ours) do
    local why = lacks(made, theirs)
    if not why then return nil end
    reason = reason or why
  end
  return reason
end

return M
