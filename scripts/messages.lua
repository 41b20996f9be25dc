-- messages.lua - checks the words of string literals, which are error messages, prompts and
-- descriptions: part of `make lint`.
--
--   lua5.4 scripts/messages.lua    prints the faults, and fails if there is one
--
-- A private phrase in a string literal of src, lib or repl is an error. Messages of PyTorch keep
-- its words (`allowed`). Literals without a space are names. Files of src/cuda are not checked.

package.path = (arg[0]:match '^(.*)/' or '.') .. '/?.lua;' .. package.path
local source_files = require 'source_files'

-- Private phrases and the standard terms. Case does not matter.
local phrases = {
  ['what'] = 'a noun', ['whatever'] = 'a noun', ['who'] = 'the caller, thread, rank or user', ['whom'] = 'a noun',
  ['whose'] = 'with, of', ['nobody'] = 'no caller, no thread', ['somebody'] = 'the user', ['someone'] = 'the user',
  ['lies'] = 'is stored, is', ['lie'] = 'are stored, are', ['lay'] = 'was stored', ['lying'] = 'stored',
  ['those'] = 'a noun', ['ask'] = 'request', ['asks'] = 'requests', ['asked'] = 'requested', ['tells'] = 'reports',
  ['told'] = 'reported', ['says'] = 'states', ['say'] = 'state', ['heard'] = 'received', ['lends'] = 'exports',
  ['lent'] = 'exported', ['wants'] = 'expects', ['wanted'] = 'expected', ['looks at'] = 'reads',
  ['looked at'] = 'read', ['place'] = 'index, position', ['places'] = 'indices, positions',
  ['of its own'] = 'separate', ['of their own'] = 'separate', ['made of'] = 'composed of',
  ['has no form'] = 'does not support', ['given up'] = 'failed', ['given back'] = 'released',
  ['given twice'] = 'occurs twice', ['is not there'] = 'does not exist', ['there is no'] = 'unknown, no',
  ['does not know'] = 'does not support', ['that is known'] = 'supported', ['not known'] = 'unknown, not supported',
}

-- Allowed: parts of PyTorch's messages, standard terms and names.
local allowed = {
  "to rewrite what you're doing", 'Cannot ask for different inplace randomness', 'Maybe you wanted to use',
  'to be equal to those of input', 'in place', 'in-place', 'out-of-place', 'decimal places', '%who',
}

local function escaped(text) return (text:gsub('%p', '%%%0')) end

local patterns = {}
for phrase, term in pairs(phrases) do
  table.insert(patterns, { phrase = phrase, term = term, pattern = '%f[%w_]' .. phrase .. '%f[^%w_]' })
end
table.sort(patterns, function(a, b) return a.phrase < b.phrase end)

-- Calls f(line, literal) for each literal. Parts of a literal that only spaces or `..` separate are
-- one literal.
local function each_literal(text, is_lua, f)
  local at, line, joined, joined_line = 1, 1, nil, nil
  local separator = is_lua and '^%s*%.%.%s*$' or '^%s*$'
  local after = 1
  while at <= #text do
    local start = text:find(is_lua and '[%-%["\']' or '[/"\']', at) or #text + 1
    local last, literal = source_files.token_at(text, start, is_lua)
    if literal then
      line = line + select(2, text:sub(after, start - 1):gsub('\n', ''))
      if joined and text:sub(after, start - 1):find(separator) then
        joined = joined .. literal
      else
        if joined then f(joined_line, joined) end
        joined, joined_line = literal, line
      end
      line = line + select(2, text:sub(start, last):gsub('\n', ''))
      after = last + 1
    end
    at = (last or start) + 1
  end
  if joined then f(joined_line, joined) end
end

local faults = 0

local function check(path)
  each_literal(source_files.read(path), path:find '%.lua$' ~= nil, function(line, literal)
    if not literal:find ' ' then return end
    literal = literal:gsub('%s+', ' ')
    local lower = literal:lower()
    for _, part in ipairs(allowed) do
      lower = lower:gsub(escaped(part:lower()), function(found) return ('-'):rep(#found) end)
    end
    for _, p in ipairs(patterns) do
      local from = lower:find(p.pattern)
      if from then
        local shown = literal:sub(math.max(1, from - 30), from + 40)
        io.stderr:write(('messages: %s:%d: got "%s" in "%s", expected %s\n'):format(path, line, p.phrase, shown,
          p.term))
        faults = faults + 1
      end
    end
  end)
end

local n = 0
for _, path in ipairs(source_files.lines_of "git ls-files src lib repl") do
  local extension = not path:find '^src/cuda/' and path:match '%.(%w+)$'
  if extension == 'c' or extension == 'h' or extension == 'inc' or extension == 'lua' then
    check(path)
    n = n + 1
  end
end
print(('messages: %d files'):format(n))
os.exit(faults == 0)
