-- Requests of front ends other than running cells: kernel information, completion, help,
-- completeness of a cell, history, comms, shutdown.
--
-- Each function receives the kernel and the content of the request and returns the content of the
-- reply, or nil for none. Positions in the code count Unicode characters from 0. May use
-- repl.input, repl.edit.complete, repl.edit.indent, repl.help, repl.notebook.json.

local input = require 'repl.input'
local json = require 'repl.notebook.json'
local later = require 'repl.later'
local complete, help, indent = later 'repl.edit.complete', later 'repl.help', later 'repl.edit.indent'
local torch = require 'torch'

local object = json.object

local PROTOCOL = '5.4'
local WORD_BREAKS = ' \t\n"\\\'`@$><=;|&{}()%[%].:,+%-*/%%~#^!?' -- the ones of repl/edit/readline.c

local requests = {}

function requests.kernel_info_request()
  return object {
    {'status', 'ok'}, {'protocol_version', PROTOCOL}, {'implementation', 'ltensor'}, {'implementation_version', torch.__version__},
    {'language_info', object {
      {'name', 'lua'}, {'version', (_VERSION:match '[%d.]+$')}, {'mimetype', 'text/x-lua'}, {'file_extension', '.lua'},
      {'pygments_lexer', 'lua'}, {'codemirror_mode', 'lua'},
    }},
    {'banner', ('ltensor %s, %s   ?: help'):format(torch.__version__, _VERSION)},
    {'help_links', {object {{'text', 'Lua 5.4'}, {'url', 'https://www.lua.org/manual/5.4/'}}}},
    {'debugger', true}, {'supported_features', {'debugger'}},
  }
end

-- The code of the request and the byte offset of its cursor, by default the end.
local function place(content)
  local code = type(content.code) == 'string' and content.code or ''
  local position = math.tointeger(content.cursor_pos)
  if not position or position < 0 or not utf8.len(code) then return code, #code end
  return code, (utf8.offset(code, position + 1) or #code + 1) - 1
end

local function characters(text) return utf8.len(text) or #text end

function requests.complete_request(kernel, content)
  local code, cursor = place(content)
  local before = code:sub(1, cursor)
  local word = before:match('[^' .. WORD_BREAKS .. ']*$')
  local matches, kinds = complete.words(kernel.session, before, word)
  local stop = characters(before)
  local start, types = stop - characters(word), {}
  for index, match in ipairs(matches) do
    types[index] = object {{'start', start}, {'end', stop}, {'text', match}, {'type', kinds[match] or ''}}
  end
  return object {{'status', 'ok'}, {'matches', matches}, {'cursor_start', start}, {'cursor_end', stop},
    {'metadata', object {{'_jupyter_types_experimental', types}}}}
end

-- The name at the cursor, or the name of the function called with it as an argument.
local function name_at(code, cursor)
  local head = code:sub(1, cursor):match '[%w_.:]*$'
  local name = (head .. code:sub(cursor + 1):match '^[%w_]*'):match '^[.:]*(.-)[.:]*$'
  if name ~= '' and not name:find '^%d' then return name end
  local depth = 0
  for index = cursor, 1, -1 do
    local char = code:sub(index, index)
    if char == ')' or char == '}' then
      depth = depth + 1
    elseif (char == '(' or char == '{') and depth > 0 then
      depth = depth - 1
    elseif char == '(' or char == '{' then
      name = code:sub(1, index - 1):match '([%a_][%w_.:]*)%s*$'
      if name then return name end
    end
  end
end

function requests.inspect_request(kernel, content)
  local name = name_at(place(content))
  local text = name and help.text(kernel.session, name, content.detail_level == 1)
  local data = object()
  if text then data['text/plain'] = text end
  return object {{'status', 'ok'}, {'found', text ~= nil and text ~= false}, {'data', data}, {'metadata', object()}}
end

function requests.is_complete_request(kernel, content)
  local code = type(content.code) == 'string' and content.code or ''
  if input.is_unfinished(kernel.session, code) then
    return object {{'status', 'incomplete'}, {'indent', indent.for_next(code) or ''}}
  end
  local _, lua = input.parts(code)
  local status = lua and kernel.session:status(lua) or 'complete'
  return object {{'status', status == 'incomplete' and 'invalid' or status}} -- a block of Python
end

function requests.history_request(kernel, content)
  return object {{'status', 'ok'}, {'history', kernel.history:entries(kernel.session, content)}}
end

-- The kernel has no comms for widgets; a comm that a front end opens is closed immediately.
function requests.comm_info_request() return object {{'status', 'ok'}, {'comms', object()}} end

function requests.comm_open(kernel, content, message)
  if type(content.comm_id) ~= 'string' then return end
  kernel:publish('comm_close', message.header, object {{'comm_id', content.comm_id}, {'data', object()}})
end

function requests.comm_msg() end

function requests.comm_close() end

function requests.shutdown_request(kernel, content)
  kernel.ended = true
  return object {{'status', 'ok'}, {'restart', content.restart == true}}
end

-- The plugin itself replies on the control channel; this handles requests on other channels.
function requests.interrupt_request() return object {{'status', 'ok'}} end

return requests
