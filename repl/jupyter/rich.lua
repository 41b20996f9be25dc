-- Representations of values by MIME type; the front end shows the richest one that it supports.
--
-- text/plain always exists, with the prompt's output. Tensors, tables and modules also have HTML
-- (repl.jupyter.html). An object with a method mime_bundle() defines its own representations, such
-- as the figures of torch.utils.plot. Failing representations are left out. May use repl.echo,
-- repl.jupyter.html, repl.notebook.json, repl.notebook.plain, torch.support.base64.

local base64 = require 'torch.support.base64'
local echo = require 'repl.echo'
local html = require 'repl.jupyter.html'
local json = require 'repl.notebook.json'

local rich = {}

local function bundle_of(value) return type(value) == 'userdata' and value.mime_bundle or type(value) == 'table' and rawget(value, 'mime_bundle') end

local function own_bundle(value)
  local method = bundle_of(value)
  return type(method) == 'function' and method(value) or {}
end

-- Adds the object's own representations. Text stays text; other data are encoded in base64.
local function add_own(session, data, value)
  local ok, bundle = session:protect(own_bundle, value)
  if not ok or type(bundle) ~= 'table' then return end
  local kinds = {}
  for kind, content in pairs(bundle) do
    if type(kind) == 'string' and kind:find '^[%w.+-]+/[%w.+-]+$' and type(content) == 'string' then kinds[#kinds + 1] = kind end
  end
  table.sort(kinds)
  for _, kind in ipairs(kinds) do
    local is_text = kind:find '^text/' or kind:find '%+xml$' or kind:find 'json$'
    data[kind] = is_text and bundle[kind] or base64(bundle[kind])
  end
end

-- {data, metadata} of values (packed); text: the prompt's text for them, if known.
function rich.content(session, values, text)
  if not text then
    local ok
    ok, text = session:protect(echo.values, values)
    if not ok then text = text.message end
  end
  local data = json.object {{'text/plain', text or 'nil'}}
  if values and values.n == 1 then
    add_own(session, data, values[1])
    if not data['text/html'] then
      local ok, shown = session:protect(html.value, values[1], text)
      if ok and shown then data['text/html'] = shown end
    end
  end
  return json.object {{'data', data}, {'metadata', json.object()}}
end

return rich
