-- execute_request: runs a cell and sends its output.
--
-- Output streams are published immediately (repl/jupyter/plugin/sockets.c). This module handles the
-- value, the error and the rest of the reply. A cell with silent, or without store_history, gets no
-- number and stores no value. May use repl.input, repl.cell, the interface of repl.session,
-- repl.jupyter.rich, repl.notebook.json.

local cell = require 'repl.cell'
local input = require 'repl.input'
local json = require 'repl.notebook.json'
local later = require 'repl.later'
local rich = later 'repl.jupyter.rich'

local object = json.object

local colours = {message = '\27[31m', hint = '\27[33m', frame = '\27[2m', caret = '\27[31m'}

local function paint(kind, text) return colours[kind] .. text .. '\27[0m' end

-- ename, evalue and traceback of a report, as pairs.
local function error_fields(state, report)
  local name = report.interrupted and 'Interrupted' or 'Error'
  local message = report.interrupted and 'interrupted' or report.message:gsub('^%(cell %d+%):%d+: ', '')
  return {'ename', name}, {'evalue', message}, {'traceback', state:error_lines(report, paint)}
end

-- The values of the expressions by name; an error replaces its value.
local function evaluate(state, expressions)
  local values = object()
  for name, code in pairs(type(expressions) == 'table' and expressions or {}) do
    local compiled, message = cell.compile(tostring(code), '=(user expression)', state.scope)
    local outcome
    if not compiled then
      outcome = {false, require('repl.errors').from_message(message)}
    elseif not compiled.has_value then
      outcome = {false, require('repl.errors').from_message 'no expression'}
    else
      outcome = table.pack(state:protect(compiled.run))
    end
    if outcome[1] then
      local content = rich.content(state, table.pack(table.unpack(outcome, 3, outcome.n)))
      values[name] = object {{'status', 'ok'}, {'data', content.data}, {'metadata', content.metadata}}
    else
      values[name] = object {{'status', 'error'}, error_fields(state, outcome[2])}
    end
  end
  return values
end

local execute = {}

function execute.execute_request(kernel, content, message)
  local state, code = kernel.session, tostring(content.code or '')
  local silent = content.silent == true
  local stored = not silent and content.store_history ~= false and code:find '%S' ~= nil
  local number, payload = state.count + (code:find '%S' and 1 or 0), {}
  kernel.parent = message.header
  kernel.wire.begin_request(message.identities, message.header, content.allow_stdin ~= false)
  if not silent then
    kernel:publish('execute_input', message.header, object {{'code', code}, {'execution_count', number}})
  end
  if stored then kernel.history:remember(code) end
  state.page = function(text)
    payload[#payload + 1] = object {{'source', 'page'}, {'data', object {{'text/plain', text}}}, {'start', 0}}
  end
  state.next_text = nil
  state.unrecorded = not stored
  kernel.executing = true
  local result = code:find '%S' and input.run(state, code) or {}
  kernel.executing = false
  state.unrecorded = false
  kernel.wire.settle()
  if state.next_text then -- %load and %recall
    payload[#payload + 1] = object {{'source', 'set_next_input'}, {'text', state.next_text}, {'replace', false}}
    state.next_text = nil
  end
  if kernel.ended then
    payload[#payload + 1] = object {{'source', 'ask_exit'}, {'keepkernel', false}}
    result = {}
  end

  if result.report then
    local name, value, traceback = error_fields(state, result.report)
    if not silent then kernel:publish('error', message.header, object {name, value, traceback}) end
    if content.stop_on_error ~= false then kernel.aborting = true end
    return object {{'status', 'error'}, {'execution_count', number}, name, value, traceback,
      {'user_expressions', object()}, {'payload', payload}}
  end
  if result.hint and not silent then print(result.hint) end
  if result.text and not silent then
    local shown = rich.content(state, result.values, result.text)
    kernel:publish('execute_result', message.header, object {
      {'execution_count', number}, {'data', shown.data}, {'metadata', shown.metadata}})
  end
  return object {{'status', 'ok'}, {'execution_count', number}, {'user_expressions', evaluate(state, content.user_expressions)},
    {'payload', payload}}
end

return execute
