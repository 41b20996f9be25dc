-- declarations.lua - arguments and results of operations, for programs that call operations by
-- name.
--
-- A declaration is parsed from its signature in the reference: 'sum(Tensor self, Dims? dim, bool
-- keepdim=false, *, Dtype? dtype=nil) -> Tensor', one line per overload. An overload is { name =,
-- names = { [parameter] = true }, results = { kinds }, parameters { kind =, optional =, name =,
-- default =, only_named = } }.

local torch = require 'torch'

local M = {}

local function default_of(text)
  if text == nil or text == 'nil' then return nil end
  if text == 'true' or text == 'false' then return text == 'true' end
  return text:match "^'(.*)'$" or math.tointeger(text) or tonumber(text)
end

local function parse(signature)
  local name, inside, given = signature:match '^([%w_.]+)%((.*)%) %-> (.*)$'
  if not name then return nil end
  local overload, only_named = { name = name, names = {}, results = {} }, false
  for kind in given:gsub('[()]', ''):gmatch '([%w%[%]]+)[^,]*' do table.insert(overload.results, kind) end
  for text in (inside .. ', '):gmatch '(.-), ' do
    if text == '*' then
      only_named = true
    elseif text ~= '' then
      local kind, optional, parameter, default = text:match '^([%w|%[%]]+)(%??) ([%w_]+)=?(.*)$'
      local entry = { kind = kind, optional = optional == '?' or default ~= '', name = parameter, default = default_of(default ~= '' and default or nil),
        only_named = only_named }
      overload[#overload + 1], overload.names[parameter] = entry, true
    end
  end
  return overload
end

local parsed = {}

--- The overloads of an op (in_nn: of the function of that name in torch.nn.functional), possibly
--- none.
function M.overloads(op, in_nn)
  local key = in_nn and 'nn.functional.' .. op or op
  if parsed[key] == nil then
    local docs, list = torch._docs(), {}
    local entry = docs[key] or docs[op]
    for line in (entry and entry.signature or ''):gmatch '[^\n]+' do list[#list + 1] = parse(line) end
    parsed[key] = list
  end
  return parsed[key]
end

return M
