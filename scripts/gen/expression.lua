-- expression.lua - parses the expression of a derivative into a tree.
--
-- Grammar, loosest first: + -, then * /, then unary -, then ^ (right-associative); operands are
-- numbers, strings in single quotes, nil, true, false, names, calls f(a, b) and parentheses.
-- Operators become calls of the corresponding ops, so that a tree has only four kinds of nodes:
--   { kind = 'number', text = '0.5' }
--   { kind = 'constant', value = 'nil' }    also true, false, strings
--   { kind = 'name', name = 'self' }
--   { kind = 'call', name = 'mul', args = {...} }
-- May use only Lua's standard library.

local M = {}

local binary = {
  ['+'] = { power = 1, op = 'add' }, ['-'] = { power = 1, op = 'sub' },
  ['*'] = { power = 2, op = 'mul' }, ['/'] = { power = 2, op = 'div' },
  ['^'] = { power = 4, op = 'pow', right = true },
}
local unary_power = 3

local constants = { ['nil'] = true, ['true'] = true, ['false'] = true }

local function tokens_of(text, fail)
  local tokens, at = {}, 1
  local patterns = {
    { 'number', '^%d+%.?%d*[eE][+-]?%d+' }, { 'number', '^%d+%.?%d*' }, { 'name', '^[%a_][%w_]*' },
    { 'string', "^'[^']*'" }, { 'symbol', '^[%+%-%*/%^%(%),]' },
  }
  while true do
    at = text:find('%S', at)
    if not at then break end
    local found
    for _, pattern in ipairs(patterns) do
      found = text:match(pattern[2], at)
      if found then
        tokens[#tokens + 1] = { kind = pattern[1], text = found }
        at = at + #found
        break
      end
    end
    if not found then fail("cannot read '" .. text:sub(at) .. "'") end
  end
  return tokens
end

local function call(name, ...) return { kind = 'call', name = name, args = { ... } } end

-- The tree of text; fail(message) is called for invalid text and must not return.
function M.parse(text, fail)
  local tokens, at = tokens_of(text, fail), 1
  local expression

  local function symbol(wanted)
    local token = tokens[at]
    if not (token and token.kind == 'symbol' and token.text == wanted) then return false end
    at = at + 1
    return true
  end

  local function expect(wanted)
    if not symbol(wanted) then fail("'" .. wanted .. "' is missing in '" .. text .. "'") end
  end

  local function arguments()
    local list = {}
    if symbol(')') then return list end
    repeat list[#list + 1] = expression(0) until not symbol(',')
    expect(')')
    return list
  end

  local function operand()
    local token = tokens[at]
    if not token then fail("'" .. text .. "' ends too early") end
    at = at + 1
    if token.kind == 'number' then return { kind = 'number', text = token.text } end
    if token.kind == 'string' then return { kind = 'constant', value = token.text } end
    if token.kind == 'name' then
      if constants[token.text] then return { kind = 'constant', value = token.text } end
      if symbol('(') then return { kind = 'call', name = token.text, args = arguments() } end
      return { kind = 'name', name = token.text }
    end
    if token.text == '(' then
      local inside = expression(0)
      expect(')')
      return inside
    end
    if token.text == '-' then
      local inside = expression(unary_power)
      if inside.kind == 'number' then return { kind = 'number', text = '-' .. inside.text } end
      return call('neg', inside)
    end
    fail("'" .. token.text .. "' in '" .. text .. "' stands where a value should")
  end

  function expression(power)
    local left = operand()
    while true do
      local token = tokens[at]
      local operator = token and token.kind == 'symbol' and binary[token.text]
      if not operator or operator.power <= power then return left end
      at = at + 1
      left = call(operator.op, left, expression(operator.right and operator.power - 1 or operator.power))
    end
  end

  local tree = expression(0)
  if tokens[at] then fail("'" .. tokens[at].text .. "' is too much in '" .. text .. "'") end
  return tree
end

return M
