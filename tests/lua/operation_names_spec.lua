-- operation_names_spec.lua - three lists of names agree: the public functions of torch, torch.linalg, torch.fft,
-- torch.special and torch.nn.functional, the names that lt_call accepts, and the functions of ltensor_ops.h. The
-- functions that exist in Lua only are in support/lua_only.lua, each with a reason.

local torch = require 'torch'

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local build = os.getenv 'LTENSOR_BUILD' or root .. 'build'
local names = dofile(root .. 'scripts/gen/names.lua')
local lua_only = dofile(here .. 'support/lua_only.lua')

-- ---- the three lists -------------------------------------------------------------------------------------------------

local function text_of(path)
  local file = io.open(path)
  if not file then return nil end -- tests that were installed without the build
  local text = file:read 'a'
  file:close()
  return text
end

local table_text, header_text = text_of(build .. '/gen/calls_table.c'), text_of(build .. '/gen/ltensor_ops.h')

local modules = { [''] = torch, ['linalg.'] = torch.linalg, ['fft.'] = torch.fft, ['special.'] = torch.special,
  ['nn.functional.'] = torch.nn.functional }

local function functions_of_lua()
  local list = {}
  for prefix, module in pairs(modules) do
    for name, value in pairs(module) do
      -- torch.linalg_solve is torch.linalg.solve
      local own = type(name) == 'string' and prefix == '' and names.of_call(name) or prefix .. tostring(name)
      if type(name) == 'string' and type(value) == 'function' and name:sub(1, 1) ~= '_' then list[own] = true end
    end
  end
  return list
end

local function names_of_lt_call()
  local list = {}
  for name in table_text:gmatch '\n    {"([%w_.]+)", %d+, %d+}' do list[name] = true end
  return list
end

-- The functions of the header, with the name of the operation: sum_dim -> sum, special_expit -> special.expit.
local function functions_of_c()
  local list, name = {}, nil
  for line in header_text:gmatch '[^\n]+' do
    name = line:match '^/%* ([%w_]+)[%w_.]*%(' or line:match '^/%* ([%w_.]+) is ' or name
    local c = line:match '^LT_API lt_status lt_([%w_]+)%('
    if c then list[c] = name end
  end
  return list
end

local function sorted(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

local function assert_none(list, message) assert(#list == 0, ('%d %s: %s'):format(#list, message, table.concat(list, ' '))) end

-- ---- the comparison --------------------------------------------------------------------------------------------------

describe('the names of operations #cpu', function()
  if not table_text or not header_text then return end
  local in_lua, in_calls, in_c = functions_of_lua(), names_of_lt_call(), functions_of_c()

  local operations_of_c = {} -- lt_sum, lt_sum_dim: sum
  for c, operation in pairs(in_c) do operations_of_c[c], operations_of_c[operation] = true, true end

  local function has_c_function(name)
    for _, c in ipairs(names.of_c(name)) do
      if operations_of_c[c] then return true end
    end
    return false
  end

  it('of Lua are names of lt_call, or are listed with a reason', function()
    local missing = {}
    for _, name in ipairs(sorted(in_lua)) do
      if not in_calls[name] and not lua_only[name] then missing[#missing + 1] = name end
    end
    assert_none(missing, 'functions that lt_call does not have')
  end)

  it('of Lua are functions of ltensor_ops.h, or are listed with a reason', function()
    local missing = {}
    for _, name in ipairs(sorted(in_lua)) do
      if not has_c_function(name) and not lua_only[name] then missing[#missing + 1] = name end
    end
    assert_none(missing, 'functions without a C function')
  end)

  it('of lt_call are functions or methods of Lua', function()
    local methods, unknown = torch._C.methods, {}
    for _, name in ipairs(sorted(in_calls)) do
      local plain = name:gsub('^(%l+)_(.*)$', function(module, own) return modules[module .. '.'] and module .. '.' .. own or nil end)
      if not (in_lua[name] or in_lua[plain] or methods[name] or torch._C[name]) then unknown[#unknown + 1] = name end
    end
    assert_none(unknown, 'names of lt_call that Lua does not have')
  end)

  it('of ltensor_ops.h are names of lt_call', function()
    local unknown = {}
    for _, c in ipairs(sorted(in_c)) do
      local operation = in_c[c]
      if not (in_calls[operation] or in_calls['nn.functional.' .. operation] or in_calls[c]) then unknown[#unknown + 1] = c end
    end
    assert_none(unknown, 'C functions that lt_call does not have')
  end)

  it('are listed as of Lua only while they are', function()
    local stale = {}
    for _, name in ipairs(sorted(lua_only)) do
      if not in_lua[name] or in_calls[name] or #lua_only[name] < 10 then stale[#stale + 1] = name end
    end
    assert_none(stale, 'exceptions that are none')
  end)
end)
