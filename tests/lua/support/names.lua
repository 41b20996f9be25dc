-- names.lua - asks of each public name of PyTorch (tests/reference/names.lua) whether it is here, or why not (names_left_out.lua).

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'

local M = {}

-- What a module's names are looked up in; nil where there is no such module.
local function holder(module)
  local at = torch
  for part in module:gmatch '%.([%w_]+)' do
    local ok, value = pcall(function() return at[part] end)
    at = ok and value or nil
    if at == nil then return nil end
  end
  return at
end

local function is_present(module, name)
  if module == 'torch.Tensor' then
    if torch._C.methods[name] then return true end
    local ok, value = pcall(function() return torch.ones(2, 2, { dtype = torch.complex64 })[name] end)
    return ok and value ~= nil
  end
  local at = holder(module)
  if at == nil then return false end
  local ok, value = pcall(function() return at[name] end)
  return ok and value ~= nil
end

-- { reason, module pattern, name pattern } of the list.
local function rules()
  local list = {}
  for _, group in ipairs(dofile(here .. '../../reference/names_left_out.lua')) do
    for entry in group.names:gmatch '%S+' do
      local module, name
      if entry:sub(1, 2) == '*.' then
        name = entry:sub(3)
      else
        -- modules begin with small letters, but for Tensor; the name is what follows the longest module there is
        for _, known in ipairs(M.modules) do
          if entry:sub(1, #known + 1) == known .. '.' and (not module or #known > #module) then module, name = known, entry:sub(#known + 2) end
        end
      end
      assert(name, entry)
      list[#list + 1] = { reason = group.reason, module = module, name = '^' .. name .. '$', entry = entry }
    end
  end
  return list
end

--- For each module { module, present = {names}, left_out = {reason = {names}}, unexplained = {names} }; and the entries of
--- the list that name nothing that is missing.
function M.look()
  local names, report = dofile(here .. '../../reference/names.lua'), {}
  M.modules = {}
  for i, module in ipairs(names) do M.modules[i] = module.module end
  local list, used = rules(), {}
  for _, module in ipairs(names) do
    local found = { module = module.module, present = {}, left_out = {}, unexplained = {} }
    for name in module.names:gmatch '%S+' do
      if is_present(module.module, name) then
        table.insert(found.present, name)
      else
        local reason = nil
        for _, rule in ipairs(list) do
          if (rule.module == nil or rule.module == module.module) and name:find(rule.name) then
            reason, used[rule] = reason or rule.reason, true
            break
          end
        end
        if reason then
          found.left_out[reason] = found.left_out[reason] or {}
          table.insert(found.left_out[reason], name)
        else
          table.insert(found.unexplained, name)
        end
      end
    end
    report[#report + 1] = found
  end
  local idle = {}
  for _, rule in ipairs(list) do
    if not used[rule] then idle[#idle + 1] = rule.entry end
  end
  return report, idle
end

return M
