-- described.lua - the meaning of arguments, a sentence each, for the reference and for editors.
--
-- Most names mean the same everywhere: arguments.txt has their sentences. A file of declarations
-- describes the others in one text, the field `arguments` of its list, and a file of lib/ in a long
-- comment that begins with the word arguments. A line is the name, a colon and the sentence; a line
-- that is indented continues the one above it:
--
--   dim: Dimension along which the op works.
--   dim (Dims): Dimensions along which the op works; all of them if absent.
--   cross.dim: Dimension of size 3.
--   cross(): The vector product.
--
-- The second one is for arguments of the type Dims, with or without a question mark; the third one
-- for the op, function, class or method `cross`. The last one describes a function that has no
-- comment of its own, because a loop makes it. The most specific line counts. A sentence begins
-- with a capital letter or a code span and ends with a full stop. May use only Lua's standard
-- library.

local M = {}

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'

-- key -> sentence, of a text in that form. where: names the text in errors.
function M.read(text, where)
  local found, key = {}, nil
  for line in (text .. '\n'):gmatch '([^\n]*)\n' do
    local name, sentence = line:match '^([%a_%.][%w_%.:]*): (.+)$'
    if not name then name, sentence = line:match '^([%a_%.][%w_%.:]* ?%b()): (.+)$' end
    if line:find '^%s+%S' and key then
      found[key] = found[key] .. ' ' .. line:match '^%s+(.-)%s*$'
    elseif name then
      if found[name] then error(('%s: %s is described twice'):format(where, name), 0) end
      key, found[name] = name, sentence
    elseif line:find '%S' and not line:find '^#' then
      error(("%s: '%s' is no line of the form 'name: sentence'"):format(where, line), 0)
    end
  end
  for name, sentence in pairs(found) do
    local begins_well = sentence:find '^[%u%d`]' or name:find '%)$' -- a description may begin with a formula
    if not begins_well or not sentence:find '%.$' then error(('%s: the description of %s is no sentence'):format(where, name), 0) end
  end
  return found
end

local function contents(path)
  local file = assert(io.open(path))
  local text = file:read 'a'
  file:close()
  return text
end

-- The same of the long comment of a file of lib/.
function M.of_file(path)
  return M.read(contents(path):match '\n%-%-%[=%[ arguments\n(.-)\n%]=%]\n' or '', path)
end

M.shared = M.read(contents(here .. 'arguments.txt'), 'scripts/gen/arguments.txt')

-- The lines of each text that were used: the test looks for others.
M.used = {}

function M.get(texts, key)
  if texts[key] then
    M.used[texts] = M.used[texts] or {}
    M.used[texts][key] = true
  end
  return texts[key]
end

-- The sentence of an argument in such a text; nil without one. owners: the names of its function,
-- the most specific first.
function M.find(texts, owners, name, type_name)
  local kind = type_name and type_name:gsub('%?$', '')
  for i = 1, #owners + 1 do
    local key = owners[i] and owners[i] .. '.' .. name or name
    local sentence = kind and M.get(texts, ('%s (%s)'):format(key, kind)) or M.get(texts, key)
    if sentence then return sentence end
  end
  return nil
end

-- The arguments of an op: the declared ones, and the ones that all ops of its form have.
function M.arguments_of(op)
  local list = table.move(op.args, 1, #op.args, 1, {})
  local function add(type_name, name, default) list[#list + 1] = { type = type_name, name = name, default = default, has_default = true, keyword_only = true } end
  if op.factory then
    add('bool', 'requires_grad', 'false')
    add('bool', 'pin_memory', 'false')
  end
  if op.variants.out or op.variants.copied_out then
    add((#op.returns > 1 or op.returns[1].type == 'Tensor[]') and 'Tensor[]?' or 'Tensor?', 'out', 'nil')
  end
  return list
end

-- The sentence of an op's argument.
function M.of_op(op, a)
  return M.find(op.described or {}, { op.cname, op.name }, a.name, a.type) or M.find(M.shared, {}, a.name, a.type)
end

return M
