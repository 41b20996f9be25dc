-- Runs the cells of a notebook, Markdown or Jupyter's: shows it with fresh outputs, checks the
-- stored ones, or stores new ones.
--
-- The cells run in one session, each as typed at the prompt. Output is captured at the file
-- descriptors; the output of a cell is its printed text followed by its value. Notes on hidden
-- copies (stderr) are compared with `copies` blocks and otherwise passed on. A notebook that needs
-- GPUs stops early without a failure: at a cell that is stored without output for N GPUs but has
-- output with fewer. May use repl.input, repl.session, repl.notebook.markdown, repl.notebook.ipynb,
-- repl.notebook.compare, repl.debug.engine, repl.system.

local compare = require 'repl.notebook.compare'
local input = require 'repl.input'
local ipynb = require 'repl.notebook.ipynb'
local markdown = require 'repl.notebook.markdown'
local plain = require 'repl.notebook.plain'
local ranks = require 'repl.ranks'
local session = require 'repl.session'
local system = require 'repl.system'

local notebook = {}

local function device_count()
  local count = session.cuda_function 'device_count'
  return count and count() or 0
end

-- ---- running a cell ------------------------------------------------------------------------

-- Splits stderr output into notes on copies, in the form of `copies` blocks, and the rest.
local function split_notes(text)
  local notes, rest = {}, {}
  for line in text:gmatch '[^\n]*\n?' do
    local note = line:match '^%[copy%] ([^\n]*)'
    if note then
      notes[#notes + 1] = note:gsub('^(.-  .-  .-)  .*$', '%1')
    else
      rest[#rest + 1] = line
    end
  end
  return notes, table.concat(rest)
end

-- Runs one cell: {output, printed, notes, stderr, result, failed}. `output` and `notes` are lists
-- of lines; `printed` is the text on stdout, without the cell's value.
local function run_cell(state, source)
  system.start_capture()
  local ok, result = pcall(input.run, state, source)
  local out, err = system.end_capture()
  out = plain.text(out)
  if not ok then error(result, 0) end
  local shown = result.text and out .. result.text .. '\n' or out
  local notes = split_notes(err)
  return {output = markdown.lines(shown), printed = out, notes = notes, stderr = err, result = result, failed = result.report ~= nil}
end

-- Whether the output of the cell reports too few GPUs for the rest of the notebook: it is stored as
-- empty for more GPUs.
local function stops(cell, ran, gpus)
  if #ran.output == 0 or markdown.output(cell, 'text', gpus) then return false end
  for _, output in ipairs(cell.outputs) do
    if output.kind == 'text' and output.gpus and output.gpus > gpus and #output.lines == 0 then return true end
  end
  return false
end

-- Escapes control characters of the notebook's text, which could manipulate the terminal.
local function printable(text) return require('torch')._C.printable(text) end

-- ---- show ----------------------------------------------------------------------------------

local function write_block(lines, info)
  local fence = markdown.fence(lines)
  io.write(fence, info, '\n', table.concat(lines, '\n'), #lines > 0 and '\n' or '', fence, '\n')
end

-- Prints the notebook while its cells run, with the new outputs instead of the stored ones.
local function show(state, book, gpus)
  local next_line = 1
  for _, cell in ipairs(book.cells) do
    io.write(printable(table.concat(book.lines, '\n', next_line, cell.last)), '\n')
    io.flush()
    local ran = run_cell(state, cell.source)
    next_line = ((cell.stored or #cell.outputs == 0) and cell or cell.outputs[#cell.outputs]).last + 1
    if ran.failed then
      for _, line in ipairs(state:error_lines(ran.result.report)) do ran.output[#ran.output + 1] = line end
    end
    if #ran.output > 0 then write_block(ran.output, ran.failed and 'text error' or 'text') end
    io.flush()
    io.stderr:write(ran.stderr)
    local expected = markdown.output(cell, 'text', gpus)
    if ran.failed and not (expected and expected.error) then return false end
    if stops(cell, ran, gpus) then return true end
  end
  if next_line <= #book.lines then io.write(printable(table.concat(book.lines, '\n', next_line)), '\n') end
  return true
end

-- ---- check ---------------------------------------------------------------------------------

-- The differences between the stored and the new output of a cell, as lines; empty if they match.
local function problems(state, cell, ran, gpus)
  local found = {}
  local function add(lines) table.move(lines, 1, #lines, #found + 1, found) end
  local function add_difference(stored, got)
    for _, line in ipairs(compare.difference(stored, got)) do found[#found + 1] = printable(line) end
  end
  local expected = markdown.output(cell, 'text', gpus)
  if ran.failed then
    local report = ran.result.report
    if not (expected and expected.error) then
      add {'  the cell raised an error:'}
      for _, line in ipairs(state:error_lines(report)) do add {'  ' .. line} end
    else
      local text = table.concat(expected.lines, '\n')
      if not report.message:find(text, 1, true) then
        add {'  the error has a different message:'}
        add_difference(expected.lines, markdown.lines(report.message))
      end
    end
  elseif expected and expected.error then
    add {'  the cell raised no error; expected:'}
    add_difference(expected.lines, ran.output)
  elseif expected and not input.varies(cell.source) and not compare.lines(expected.lines, ran.output) then
    add_difference(expected.lines, ran.output)
  end
  local copies = markdown.output(cell, 'copies', gpus)
  if copies and not compare.lines(copies.lines, ran.notes) then
    add {'  its hidden copies differ:'}
    add_difference(copies.lines, ran.notes)
  end
  return found
end

-- Runs all cells and reports the ones with different output.
local function check(state, book, gpus, path)
  local passed, failed = 0, 0
  for number, cell in ipairs(book.cells) do
    local ran = run_cell(state, cell.source)
    local _, rest = split_notes(ran.stderr)
    io.stderr:write(rest)
    local found = problems(state, cell, ran, gpus)
    if #found == 0 then
      passed = passed + 1
    else
      failed = failed + 1
      print(('%s:%d: cell %d differs (- expected, + got)'):format(path, cell.first, number))
      print(table.concat(found, '\n'))
    end
    if stops(cell, ran, gpus) then
      print(('%s: stopped after cell %d: %s'):format(path, number, table.concat(ran.output, ' ')))
      break
    end
  end
  print(('%d passed, %d failed'):format(passed, failed))
  return failed == 0
end

-- ---- write ---------------------------------------------------------------------------------

local function error_text(ran) return (ran.result.report.message:gsub('^%(cell %d+%):%d+: ', '')) end

-- The output block to store for a cell, as lines.
local function new_block(ran, expected, gpus)
  local lines, info = ran.output, 'text'
  if expected and expected.gpus then info = info .. ' gpus=' .. gpus end
  if expected and expected.ranks then info = info .. ' ranks=' .. expected.ranks end
  if ran.failed then lines, info = markdown.lines(error_text(ran)), info .. ' error' end
  local fence = markdown.fence(lines)
  local block = {fence .. info}
  table.move(lines, 1, #lines, 2, block)
  block[#block + 1] = fence
  return block
end

-- The Markdown with the new outputs of the cells that ran; matching outputs, and blocks for other
-- numbers of GPUs, are unchanged. `runs` are {cell, ran, expected, stays}.
local function markdown_text(_, book, runs, gpus)
  local lines, next_line = {}, 1
  local function copy_until(last)
    table.move(book.lines, next_line, last, #lines + 1, lines)
    next_line = last + 1
  end
  for _, run in ipairs(runs) do
    local cell, expected = run.cell, run.expected
    if run.stays then
      copy_until((cell.outputs[#cell.outputs] or cell).last)
    else
      local block = new_block(run.ran, expected, gpus)
      copy_until(expected and expected.first - 1 or cell.last)
      table.move(block, 1, #block, #lines + 1, lines)
      if expected then next_line = expected.last + 1 end
    end
  end
  copy_until(#book.lines)
  return table.concat(lines, '\n') .. '\n'
end

local function jupyter_text(state, book, runs)
  for _, run in ipairs(runs) do
    local ran, stored = run.ran, run.cell.stored
    if not run.stays then
      local message = ran.failed and error_text(ran) or nil
      local traceback = ran.failed and state:error_lines(ran.result.report) or nil
      stored.outputs = ipynb.outputs(ran.result.number, ran.printed, ran.result.text, message, traceback)
    end
    stored.execution_count = ran.result.number
  end
  return ipynb.encode(book.document)
end

-- Stores the outputs in the file, which is replaced atomically.
local function write(state, book, gpus, path)
  local runs, complete = {}, true
  for _, cell in ipairs(book.cells) do
    local ran = run_cell(state, cell.source)
    io.stderr:write(ran.stderr)
    local expected = markdown.output(cell, 'text', gpus)
    local only_for_others = not expected and #cell.outputs > 0
    runs[#runs + 1] = {
      cell = cell, ran = ran, expected = expected,
      stays = #problems(state, cell, ran, gpus) == 0 and (expected or only_for_others or #ran.output == 0),
    }
    local unexpected = ran.failed and not (expected and expected.error)
    if unexpected or stops(cell, ran, gpus) then
      complete = not unexpected
      break
    end
  end
  local text = (book.document and jupyter_text or markdown_text)(state, book, runs, gpus)
  require('torch.files.outside').write_file(path, text)
  if not complete then
    io.stderr:write(('%s: cell %d raised an error that the notebook does not expect; the following cells were not run\n'):format(path, #runs))
    io.stderr:write(error_text(runs[#runs].ran), '\n')
  end
  return complete
end

local modes = {show = show, check = check, write = write}

-- Runs the notebook at `path`; mode is 'show', 'check' or 'write'. Returns whether it succeeded.
function notebook.main(path, mode)
  local file = assert(io.open(path))
  local text = assert(file:read 'a')
  file:close()
  local parse = path:find '%.ipynb$' and ipynb.parse or markdown.parse
  local ok, book = pcall(parse, text)
  if not ok then error(('%s: %s'):format(path, book), 0) end
  if ranks.begin() then return true end
  markdown.ranks = ranks.count()
  require('repl.debug.engine').set_front(false) -- no user types commands
  local well = modes[mode](session.new(), book, device_count(), path)
  ranks.finish()
  return well
end

return notebook
