-- The annotations of functions written in C (lib/meta), as help shows them. Reads embedded source
-- text only.

local annotations = {}

local FILES = {'torch', 'cuda', 'modules', 'values'}

local function source_of(file)
  local torch = package.loaded.torch
  local read = type(torch) == 'table' and rawget(torch, '_C').module_source
  local ok, text = pcall(read or error, 'torch.meta.' .. file)
  return ok and type(text) == 'string' and '\n' .. text or ''
end

-- The comment lines above position `start` of the text, which begins a line.
local function lines_above(text, start)
  local lines = {}
  while true do
    local first, line = text:sub(1, start - 1):match '\n()(%-%-%-[^\n]*)\n$'
    if not first then return lines end
    table.insert(lines, 1, line:sub(4))
    start = first
  end
end

-- The text of an annotation behind its type, which has blanks only in braces and parentheses.
local function without_type(text)
  local at = 1
  while at <= #text and text:sub(at, at) ~= ' ' do at = text:match('^%b{}()', at) or text:match('^%b():? ?()', at) or at + 1 end
  return text:sub(at + 1)
end

-- Adds the names of the options that the type describes: {name?: type, ...}, or an alias of one.
local function add_options(type_text, source, options)
  local alias = type_text:match '^(torch%.%w+)'
  local fields = alias and source:match('\n%-%-%-@alias ' .. alias:gsub('%p', '%%%0') .. ' (%b{})') or type_text:match '^%b{}'
  for name in (fields or ''):gmatch '([%a_][%w_]*)%??:' do options[#options + 1] = name end
end

-- The function 'torch.tensor', 'cuda.is_available' or 'Tensor:item': {signature, text, arguments,
-- options, result}, where arguments is a list of {name, text}, options a list of names and result a
-- type or nil; nil without annotations.
function annotations.of_function(path)
  for _, file in ipairs(FILES) do
    local text = source_of(file)
    local start, parameters = text:match('\n()function ' .. path:gsub('%p', '%%%0') .. '(%b())')
    if start then
      local description, arguments, results, options = {}, {}, {}, {}
      for _, line in ipairs(lines_above(text, start)) do
        local name, rest = line:match '^@param ([%w_.]+)%?? (.*)$'
        local about = rest and without_type(rest)
        if name == 'options' then add_options(rest, text, options) end
        if about and about ~= '' then arguments[#arguments + 1] = {name, about} end
        results[#results + 1] = line:match '^@return (.*)$'
        if not line:find '^@' then description[#description + 1] = line end
      end
      local arrow = #results > 0 and ' -> ' .. table.concat(results, ', ') or ''
      return {signature = path:match '[%w_]+$' .. parameters .. arrow, text = table.concat(description, ' '), arguments = arguments,
        options = options, result = results[1]}
    end
  end
end

-- The description of a field of the module torch; nil without one.
function annotations.of_field(name)
  return source_of('torch'):match('\n%-%-%-@field ' .. name:gsub('%p', '%%%0') .. ' %S+  ([^\n]*)')
end

return annotations
