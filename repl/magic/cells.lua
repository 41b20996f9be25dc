-- Magics that show and run earlier cells, and the clipboard's. May use repl.magic.macro, repl.errors,
-- repl.input and repl.edit.history.

local magics = {}

-- The numbers of cells in a text like '3 5-7': the cells before the current one.
local function numbers_of(session, text)
  local numbers = {}
  for word in text:gmatch '%S+' do
    local first, last = word:match '^(%d+)%-?(%d*)$'
    first = math.tointeger(tonumber(first))
    if not first then error(("'%s' is not a number of a cell such as 3, or a range such as 3-5"):format(word), 0) end
    for number = first, math.tointeger(tonumber(last)) or first do
      if number < 1 or number >= session.count then
        error(('In[%d] does not exist: the cells before this one are 1 to %d'):format(number, session.count - 1), 0)
      end
      numbers[#numbers + 1] = number
    end
  end
  return numbers
end

-- The texts of these cells.
local function texts_of(session, numbers)
  local texts = {}
  for index, number in ipairs(numbers) do texts[index] = session.inputs[number] end
  return texts
end

-- The newest earlier cell that contains the text; %recall and %rerun themselves are skipped.
local function newest_with(session, text)
  for number = session.count - 1, 1, -1 do
    local cell = session.inputs[number]
    if cell:find(text, 1, true) and not cell:find '^%s*%%re[cr]' then return number end
  end
  error(text == '' and 'no cell ran before this one' or ("no cell contains '%s'"):format(text), 0)
end

-- The numbers of the cells that the arguments of %recall and %rerun select.
local function selected(session, arguments)
  local count = arguments:match '^%-l%s*(%d+)$'
  if count then return numbers_of(session, ('%d-%d'):format(math.max(1, session.count - tonumber(count)), session.count - 1)) end
  local text = arguments:match '^%-g%s+(.+)$'
  if text or arguments == '' then return {newest_with(session, text or '')} end
  return numbers_of(session, arguments)
end

local function show_cell(label, cell) print(label .. (cell:gsub('\n', '\n' .. (' '):rep(#label)))) end

magics.history = {'%history [-g [text]] [n-m]', "shows the cells of this session, or some of them; -g: searches the cells of all sessions for the text",
function(session, arguments)
  local text = arguments:match '^%-g%s*(.*)$'
  if not text then
    for _, number in ipairs(arguments == '' and numbers_of(session, session.count > 1 and '1-' .. session.count - 1 or '')
      or numbers_of(session, arguments)) do
      show_cell(('%4d: '):format(number), session.inputs[number])
    end
    return
  end
  local history = require 'repl.edit.history'
  for _, cell in ipairs(history.load(history.path())) do
    if cell:find(text, 1, true) and not cell:find '^%s*%%hist' then show_cell('   -: ', cell) end
  end
  if session.terminal then return end -- they are in the history file
  for number = 1, session.count - 1 do
    local cell = session.inputs[number]
    if cell:find(text, 1, true) then show_cell(('%4d: '):format(number), cell) end
  end
end, varies = true}
magics.hist = {'%hist', 'the same as %history', magics.history[3], varies = true}

-- Runs the texts as the current cell.
local function run_as_cell(session, texts)
  session.inputs[session.count] = table.concat(texts, '\n')
  return require('repl.input').run_cells(session, texts, session.count)
end

magics.recall = {'%recall [n-m | -g text]', 'puts earlier cells into the next one for editing: the last one, cells n to m, or the newest with a text',
function(session, arguments)
  local texts = texts_of(session, selected(session, arguments))
  if session.edits_next then
    session.next_text = table.concat(texts, '\n')
  else
    return run_as_cell(session, texts)
  end
end}

magics.rerun = {'%rerun [n-m | -l count | -g text]', 'runs earlier cells again: the last one, cells n to m, the last ones, or the newest with a text',
function(session, arguments)
  local texts = texts_of(session, selected(session, arguments))
  print(table.concat(texts, '\n'))
  return run_as_cell(session, texts)
end}

magics.macro = {'%macro [name n-m]', 'names cells, so that the name as a cell runs them; alone: lists the names',
function(session, arguments)
  local macro = require 'repl.magic.macro'
  local name, cells = arguments:match '^([%a_][%w_]*)%s+(.+)$'
  if name then
    local texts = texts_of(session, numbers_of(session, cells))
    rawset(session.environment, name, macro.new(texts))
    print(("type %s to run these cells:\n%s"):format(name, table.concat(texts, '\n')))
    return
  elseif arguments ~= '' then
    error('which cells? for example %macro name 3-5', 0)
  end
  local names = {}
  for each in next, session.environment do
    if type(each) == 'string' and macro.named(session, each) then names[#names + 1] = each end
  end
  table.sort(names)
  for _, each in ipairs(names) do show_cell(each .. ': ', table.concat(macro.named(session, each), '\n')) end
end}

-- Programs that print the clipboard.
local CLIPBOARDS = {'wl-paste -n', 'xclip -o -selection clipboard', 'xsel -ob', 'pbpaste', 'powershell.exe -c Get-Clipboard'}

local function clipboard()
  for _, command in ipairs(CLIPBOARDS) do
    local pipe = io.popen(command .. ' 2>/dev/null')
    local text = pipe and pipe:read 'a'
    if pipe and pipe:close() and text then return text end
  end
  error('%paste found no program that prints the clipboard: install wl-clipboard, xclip or xsel, '
    .. "or paste with the terminal's key, which also makes one cell", 0)
end

magics.paste = {'%paste [-q]', 'runs the text of the clipboard as one cell; -q: does not show it first', function(session, option)
  local text = require('repl.input').without_prompts(clipboard():gsub('\r\n?', '\n'):gsub('%s+$', ''))
  if not text:find '%S' then error('the clipboard is empty', 0) end
  if option ~= '-q' then print(text) end
  return run_as_cell(session, {text})
end, varies = true}

return magics
