-- files.lua - draws reads of damaged files of every format. See child.lua.
--
-- A line names what it reads by `mutant(original, seed)`, which writes the file and gives its path, so that the line alone makes the same
-- file again. Damage is bits, numbers, pieces left out, doubled, swapped with another file's; half of it keeps the checksums of zip, gzip
-- and png right, so that what stands behind them is reached.

local torch = require 'torch'

local M = { names = {} }

local folder = arg[0]:match '^(.*)/' or '.'
local stored = folder .. '/../files/'

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read 'a'
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

-- ---- originals: those of tests/files and some that are made here ------------------------------------------------------

local originals, by_suffix = {}, {}
local header_sizes = {} -- of GGUF files, in bytes

local function keep(name, content)
  local suffix = name:match '%.(%w+)$'
  originals[name] = content
  by_suffix[suffix] = by_suffix[suffix] or {}
  table.insert(by_suffix[suffix], name)
end

local function bytes_saved(name, value)
  torch.save(value, name)
  keep(name, read(name))
end

local NOTEBOOK = [[
# Title

```lua
x = 1
```
```output
1
```

```lua {gpus=2}
print(x)
```
]]
local JUPYTER = [[{"cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [{"name": "stdout", "output_type": "stream", "text": ["1\n", "2"]}], "source": ["x = 1\n", "x"]},
 {"cell_type": "markdown", "metadata": {}, "source": "# \u00e9\ud83d\ude42"}], "metadata": {"kernelspec": {"language": "lua"}, "numbers": [-1.5e3, 9007199254740993, 1e999, "a\\u0000b"]}, "nbformat": 4, "nbformat_minor": 5}]]

-- A program of torch.export: a linear layer, a part of it, a sum.
local function program()
  local name = 'original.pt2'
  local function tensor(of) return ('{"as_tensor": {"name": "%s"}}'):format(of) end
  local function argument(of, value) return ('{"name": "%s", "arg": %s}'):format(of, value) end
  local function node(target, inputs, output)
    return ('{"target": "torch.ops.aten.%s", "name": "%s", "inputs": [%s], "outputs": [%s]}'):format(target, output, table.concat(inputs, ', '), tensor(output))
  end
  local nodes = { node('linear.default', { argument('input', tensor 'x'), argument('weight', tensor 'w') }, 'y'),
    node('slice.Tensor', { argument('self', tensor 'y'), argument('dim', '{"as_int": 1}'), argument('start', '{"as_int": 1}'), argument('end', '{"as_int": 3}') }, 'z'),
    node('reshape.default', { argument('self', tensor 'z'), argument('shape', '{"as_ints": [2, -1]}') }, 'v'),
    node('sum.dim_IntList', { argument('self', tensor 'v'), argument('dim', '{"as_ints": [0]}'), argument('keepdim', '{"as_bool": true}') }, 's') }
  local signature = ('{"input_specs": [{"parameter": {"arg": {"name": "w"}, "parameter_name": "head.weight"}}, {"user_input": {"arg": %s}}], "output_specs": [{"user_output": {"arg": %s}}]}'):format(
    tensor 'x', tensor 's')
  local writer <close> = require('torch.files.zip').create(name)
  writer:add('p/models/model.json', { ('{"graph_module": {"graph": {"nodes": [%s]}, "signature": %s}}'):format(table.concat(nodes, ', '), signature) }, 64)
  writer:add('p/data/weights/model_weights_config.json', { [[{"config": {"head.weight": {"path_name": "weight_0", "use_pickle": false, "tensor_meta": {"dtype": 7,
    "sizes": [{"as_int": 4}, {"as_int": 2}], "strides": [{"as_int": 2}, {"as_int": 1}], "storage_offset": {"as_int": 0}}}}}]] }, 64)
  writer:add('p/data/weights/weight_0', { torch._C.saved_form(torch.ones(4, 2)) }, 64)
  writer:finish()
  return name
end

-- Folders of language models: by name a list of { file, text }, of which one is damaged, and `save`, which writes the weights before
-- the first use.
local folders = {}

local function model_folder(name, families, family, more)
  folders[name] = { { 'config.json', family.config }, { 'config.json', family.config }, { 'vocab.txt', '[PAD]\n[UNK]\n[CLS]\n[SEP]\n' .. ('abcdefghijklmnopqrst'):gsub('.', '%0\n') },
    { 'tokenizer_config.json', '{"bos_token": "a", "unk_token": {"content": "[UNK]"}, "chat_template": [{"name": "default", "template": "{{ messages[0].content }}"}]}' } }
  table.move(more, 1, #more, #folders[name] + 1, folders[name])
  folders[name].save = function()
    local state = {}
    for _, entry in ipairs((families.tensors(family))) do state[entry[1]] = entry[2] end
    os.execute(('mkdir -p %s/1_Pooling'):format(name))
    torch.save(state, name .. '/model.safetensors')
  end
  keep(name, family.config)
end

local function model_folders(families)
  local decoder = { { 'generation_config.json', '{"eos_token_id": [3, 4], "bos_token_id": 2}' } }
  local encoder = { { 'sentence_bert_config.json', '{"max_seq_length": 8, "do_lower_case": false}' },
    { 'modules.json', '[{"path": "", "type": "models.Transformer"}, {"path": "1_Pooling", "type": "models.Pooling"}, {"path": "2", "type": "models.Normalize"}]' },
    { '1_Pooling/config.json', '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false, "pooling_mode_max_tokens": false}' } }
  for i, family in ipairs(families.families) do model_folder(('decoder%d.folder'):format(i), families, family, decoder) end
  for i, family in ipairs(families.families.encoders) do model_folder(('encoder%d.folder'):format(i), families, family, encoder) end
end

-- GGUF files: a tiny language model, an encoder, and tensors of every type that is written; tokenizers of each kind.
local function language_models()
  local tiny = dofile(folder .. '/../lua/support/tiny_llama.lua')
  write('model.gguf', (tiny.text(tiny.tokenizer(), 'llama', tiny.q8_0)))
  local families = dofile(folder .. '/../lua/support/family_tensors.lua')
  model_folders(families)
  write('encoder.gguf', families.encoder_gguf())
  local tensors = { x = torch.randn(3, 64), half = torch.ones(4):half(), whole = torch.arange(5), scalar = torch.tensor(1.5) }
  for _, scheme in ipairs { 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'q8_0', 'q4_k' } do tensors[scheme] = torch.quantized.Tensor.quantize(torch.randn(2, 256), scheme) end
  torch.lm.gguf.save('tensors.gguf', { metadata = { n = 1, words = { 'a', 'bc' }, nested = { { 1 }, { 2, 3 } }, x = 0.5 }, tensors = tensors })
  for _, name in ipairs { 'model.gguf', 'encoder.gguf', 'tensors.gguf' } do
    header_sizes[name] = torch.lm.gguf(name).data
    keep(name, read(name))
    os.remove(name)
  end
  for _, name in ipairs { 'bert', 'charsmap', 'clip', 'gpt2', 'llama2', 'llama3', 'roberta', 'unigram' } do
    keep(name .. '.tokenizer', read(stored .. 'tokenizers/' .. name .. '.json'))
  end
end

local function collect()
  torch.manual_seed(1) -- a line alone gives the same files
  for name in io.popen('ls ' .. "'" .. stored:gsub("'", "'\\''") .. "'"):lines() do
    if name:find '%.pt$' or name:find '%.np[yz]$' or name:find '%.png$' or name:find '%.jpe?g$' then keep(name, read(stored .. name)) end
  end
  -- Of the archives that lie those that Python reads nevertheless: most are one byte away from being sound.
  for i, archive in ipairs(dofile(stored .. 'archives.lua')) do
    if not archive[3] then keep(('archive %d.npz'):format(i), archive[2]) end
  end
  bytes_saved('tree.safetensors', { a = torch.ones(2, 3), b = { 1, 'x', { c = torch.arange(4), d = torch.randn(2):to(torch.bfloat16) } } })
  bytes_saved('one.npz', { x = torch.randn(3, 2), y = torch.arange(5) })
  keep('plain.safetensors', ('<I8'):pack(62) .. '{"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"y":1}' .. ('<ffff'):pack(1, 2, 3, 4))
  torch.save({ a = torch.ones(20), b = torch.arange(9), c = { torch.zeros(3), 'x' } }, 'shards.safetensors', { max_shard_size = 80 })
  keep('shards.safetensors.index.json', read 'shards.safetensors.index.json') -- its files stay as they are
  keep('numbers.csv', 'a,b,name\n1,2.5,"x, ""y"""\n-3,nan,z\n4,1e300,\n')
  keep('words.csv', 'name;value\r\n"line\nbreak";1\r\nNA;2\r\n')
  keep('words.txt', 'The time machine, by H. G. Wells\n\nZe\u{301}ro \u{e9}t\u{e9}\n')
  keep('book.md', NOTEBOOK)
  keep('book.ipynb', JUPYTER)
  keep('cells.history', '#1700000000\nx = 1\n#1700000001\nfor i = 1, 3 do\n  print(i)\nend\n')
  keep('images.idx', ('>I1I1I1I1I4I4I4'):pack(0, 0, 8, 3, 2, 3, 3) .. ('\1\2\3'):rep(6))
  keep('labels.idx', ('>I1I1I1I1I4'):pack(0, 0, 13, 1, 3) .. ('>fff'):pack(1, 2, 3))
  for i, model in ipairs(dofile(folder .. '/models.lua')) do keep(('model %d.onnx'):format(i), model) end
  local path = program()
  keep('program.pt2', read(path))
  os.remove(path)
  language_models()
  keep('images.gz', '') -- made from images.idx when it is asked for
end

-- ---- damage -----------------------------------------------------------------------------------------------------------

local random
local function pick(list) return list[random(#list)] end

local NUMBERS = { 0, 1, 2, 3, 4, 8, 16, 64, 127, 128, 255, 256, 65535, 65536, 2147483647, -2147483648, -1, -2, 4294967295, 4294967296, math.maxinteger, math.mininteger, 1 << 62, 1 << 40 }
local DIGITS = { '0', '-1', '1', '2', '255', '65536', '2147483648', '4294967296', '9223372036854775807', '9223372036854775808', '18446744073709551616', '1e308', '1e999', 'nan', ('9'):rep(400), '0.5', '00', '' }

local damage = {
  function(s) -- a bit
    local at = random(#s)
    return s:sub(1, at - 1) .. string.char(s:byte(at) ~ (1 << random(0, 7))) .. s:sub(at + 1)
  end,
  function(s) -- a byte
    local at = random(#s)
    return s:sub(1, at - 1) .. string.char(pick { 0, 1, 127, 128, 255, 10, 34, 44, 92, 123, 125, random(0, 255) }) .. s:sub(at + 1)
  end,
  function(s) -- a number in binary
    local size = pick { 1, 2, 4, 8 }
    local at = random(#s)
    local number = size == 8 and pick(NUMBERS) or pick(NUMBERS) & ((1 << (8 * size)) - 1)
    local form = (pick { '<', '>' }) .. (size == 8 and 'i' or 'I') .. size
    return s:sub(1, at - 1) .. form:pack(number) .. s:sub(at + size)
  end,
  function(s) -- a number in text
    local at = s:find('%d+', random(#s)) or s:find '%d+'
    if not at then return s end
    local _, to = s:find('^%d+', at)
    return s:sub(1, at - 1) .. pick(DIGITS) .. s:sub(to + 1)
  end,
  function(s) -- a piece goes
    local at, n = random(#s), random(pick { 1, 4, 16, 64, 1024 })
    return s:sub(1, at - 1) .. s:sub(at + n)
  end,
  function(s) -- a piece comes twice
    local at, n = random(#s), random(pick { 1, 4, 16, 64, 1024 })
    return s:sub(1, at + n) .. s:sub(at)
  end,
  function(s) return s:sub(1, random(#s)) end, -- cut short
  function(s) return s .. ('\0'):rep(random(1, 300)) end,
  function(s) -- what is nested deeply
    local at = random(#s)
    return s:sub(1, at) .. pick { '[', '{"a":', '(', ']l', '}', '"', '```lua\n', '\xff\xd8', '\\u' }:rep(pick { 2, 100, 100000 }) .. s:sub(at + 1)
  end,
  function(s, suffix) -- another file's piece
    local other = originals[pick(by_suffix[suffix])]
    if #other == 0 then return s end
    local at, from = random(#s), random(#other)
    return s:sub(1, at) .. other:sub(from, from + random(200)) .. s:sub(at + random(0, 200))
  end,
}

local function damaged(s, suffix, times)
  for _ = 1, times do
    if #s > 0 then s = pick(damage)(s, suffix) end
  end
  return s
end

-- A stored entry of a zip archive is damaged, its length kept, and its checksum set right.
local function inside_zip(s)
  local entries = {}
  local at = s:find('PK\1\2', 1, true)
  while at and #s >= at + 45 do
    local crc, packed, _, name, extra, comment = ('<I4I4I4I2I2I2'):unpack(s, at + 16)
    local offset = ('<I4'):unpack(s, at + 42)
    entries[#entries + 1] = { at = at, packed = packed, offset = offset, crc = crc, method = ('<I2'):unpack(s, at + 10) }
    at = at + 46 + name + extra + comment
    if s:sub(at, at + 3) ~= 'PK\1\2' then at = nil end
  end
  if #entries == 0 then return s end
  local entry = pick(entries)
  if entry.method ~= 0 or entry.packed == 0 or entry.offset + 30 > #s then return s end
  local name, extra = ('<I2I2'):unpack(s, entry.offset + 27)
  local from = entry.offset + 30 + name + extra
  local data = s:sub(from + 1, from + entry.packed)
  local new = damaged(data, 'pt', random(3))
  new = (new .. ('\0'):rep(#data)):sub(1, #data)
  local crc = ('<I4'):pack(torch._C.crc32(new) & 0xffffffff)
  s = s:sub(1, from) .. new .. s:sub(from + #data + 1)
  s = s:sub(1, entry.offset + 14) .. crc .. s:sub(entry.offset + 19)
  return s:sub(1, entry.at + 15) .. crc .. s:sub(entry.at + 20)
end

-- A chunk of a png is damaged and its checksum set right.
local function inside_png(s)
  local chunks, at = {}, 9
  while at + 11 <= #s do
    local n = ('>I4'):unpack(s, at)
    if at + 11 + n > #s then break end
    chunks[#chunks + 1] = { at = at, n = n }
    at = at + 12 + n
  end
  if #chunks == 0 then return s end
  local chunk = pick(chunks)
  local body = s:sub(chunk.at + 4, chunk.at + 7 + chunk.n)
  body = damaged(body, 'png', random(2))
  if #body < 4 then return s end
  return s:sub(1, chunk.at - 1) .. ('>I4'):pack(#body - 4) .. body .. ('>I4'):pack(torch._C.crc32(body) & 0xffffffff) .. s:sub(chunk.at + 12 + chunk.n)
end

-- The header of a GGUF file, its first `size` bytes, is damaged in place, so that its tensors stay within the file.
local function inside_header(s, size)
  for _ = 1, random(3) do s = damage[random(3)](s:sub(1, size)):sub(1, size) .. s:sub(size + 1) end
  return s
end

-- A value of a JSON text is replaced by another one; the text stays JSON in most cases.
local function inside_json(s)
  local vocabulary = s:find('"vocab"', 1, true) or #s -- the longest part: most damage is before it
  local at = random(random(4) == 1 and #s or vocabulary)
  local from, to = s:find('[:,[]%s*"[^"\\]*"', at)
  local number_from, number_to = s:find('[:,[]%s*[%w.+-]+', at)
  if not from or number_from and number_from < from then from, to = number_from, number_to end
  if not from then return s end
  local value = pick { '-1', '0', '1', '2147483648', '9223372036854775807', '1e308', '0.5', 'null', 'true', 'false', '""', '"a"', '"\u{120}"', '"(?:"', '[]', '{}', '[[1]]',
    '{"type": "Sequence"}', '"' .. ('(a*)*'):rep(20) .. '"', '"' .. ('x'):rep(5000) .. '"', s:sub(from + 1, to) .. ', ' .. s:sub(from + 1, to) }
  local other = s:match('[:,[]%s*("[^"\\]*")', random(#s))
  return s:sub(1, from) .. (random(2) == 1 and other or value) .. s:sub(to + 1)
end

local function gzipped(s)
  return '\x1f\x8b\8\0\0\0\0\0\0\3' .. torch._C.deflate(s) .. ('<I4I4'):pack(torch._C.crc32(s) & 0xffffffff, #s & 0xffffffff)
end

-- Writes the files of a model's folder, one of them damaged.
local function damage_folder(name)
  local files = folders[name]
  if files.save then files.save() end
  files.save = nil
  for _, file in ipairs(files) do write(name .. '/' .. file[1], file[2]) end
  local path, text = table.unpack(pick(files))
  if random(4) == 1 then
    text = damaged(text, 'folder', random(2))
  else
    for _ = 1, random(2) do text = inside_json(text) end
  end
  write(name .. '/' .. path, text)
  return name
end

--- Writes the damaged file; its path.
function M.names.mutant(name, seed)
  if not next(originals) then collect() end
  local state = seed * 2 + 1
  random = function(low, high) -- its own, so that a line alone gives the same file
    if not high then low, high = 1, low end
    state = state * 6364136223846793005 + 1442695040888963407
    return low + math.abs((state >> 33) % (high - low + 1))
  end
  for _ = 1, 4 do random(2) end
  local suffix = name:match '%.(%w+)$'
  if suffix == 'folder' then return damage_folder(name) end
  local text = originals[name]
  local depth = random(2)
  if name == 'images.gz' then
    text = gzipped(depth == 1 and damaged(originals['images.idx'], 'idx', random(3)) or originals['images.idx'])
    if depth == 2 then text = damaged(text, 'gz', random(3)) end
  elseif depth == 1 and (suffix == 'pt' or suffix == 'pt2' or suffix == 'npz') then
    text = inside_zip(text)
    if random(4) == 1 then text = inside_zip(text) end
  elseif depth == 1 and suffix == 'png' then
    text = inside_png(text)
  elseif depth == 1 and suffix == 'onnx' then -- in place, since the lengths of all messages around it count
    for _ = 1, random(3) do text = damage[random(3)](text):sub(1, #text) end
  elseif depth == 1 and suffix == 'gguf' then
    text = inside_header(text, header_sizes[name])
  elseif depth == 1 and suffix == 'tokenizer' then
    for _ = 1, random(3) do text = inside_json(text) end
  else
    text = damaged(text, suffix, random(4))
  end
  local path = suffix == 'json' and 'mutant.safetensors.index.json' or 'mutant.' .. suffix
  write(path, text)
  return path
end

-- What reads each format, as a format of Lua text; %s is the path.
local readers = {
  pt = { 'return torch.load(%s)', "return torch.load(%s, {map_location = 'cpu'})", 'return torch.load(%s, {map_location = function(t) return t end})',
    'return touched(torch.load(%s, {mmap = true}))' },
  npy = { 'return torch.load(%s)' }, npz = { 'return torch.load(%s)' },
  safetensors = { 'return torch.load(%s)', 'return touched(torch.load(%s, {mmap = true}))' }, json = { 'return torch.load(%s)', 'return touched(torch.load(%s, {mmap = true}))' },
  onnx = { 'return ran(torch.onnx.load(%s))' }, pt2 = { 'return computed(torch.export.load(%s))' },
  png = { 'return data.read_image(%s)', "return data.read_image(%s, 'RGB')", "return data.read_image(%s, 'gray')" },
  jpg = { 'return data.read_image(%s)', "return data.read_image(%s, 'RGB')" },
  csv = { 'return data.csv.read(%s)', "return data.csv.read(%s, {separator = ';'})", "return data.csv.read(%s, {separator = 'blanks', comment = '#', skip = 1})",
    'return data.csv.read(%s, {header = false})' },
  txt = { 'return data.text.read_lines(%s)', 'return data.text.tokenize(data.text.read_lines(%s))' },
  gguf = { 'return every_tensor(%s)', 'return generated(%s)', 'return tokens(torch.lm.gguf(%s).metadata)' }, tokenizer = { 'return tokens(%s)' },
  folder = { 'return generated(%s)' },
  idx = { 'return data.idx.read(%s)' }, gz = { 'return data.idx.read(%s)', 'return data.csv.read(%s)' },
  md = { 'return notebook(%s)' }, ipynb = { 'return notebook(%s)' }, history = { 'return history(%s)' },
}
-- Those that are drawn, the names of others left out where FUZZ_FORMATS has some.
local SUFFIXES = { 'pt', 'pt', 'pt', 'pt2', 'pt2', 'npy', 'npy', 'npz', 'safetensors', 'safetensors', 'json', 'gguf', 'gguf', 'tokenizer', 'tokenizer', 'folder', 'onnx', 'onnx', 'onnx', 'png', 'png', 'jpg', 'jpg', 'csv', 'txt', 'idx', 'gz', 'md', 'ipynb', 'history' }

if os.getenv 'FUZZ_FORMATS' then
  SUFFIXES = {}
  for suffix in os.getenv('FUZZ_FORMATS'):gmatch '%S+' do SUFFIXES[#SUFFIXES + 1] = readers[suffix] and suffix or error('no format ' .. suffix) end
end

M.names.data = {}
for _, part in ipairs { 'csv', 'idx', 'image', 'text' } do
  local ok, module = pcall(require, 'torch.utils.data.' .. part)
  if ok then M.names.data[part] = module end
end
M.names.data.read_image = require('torch.utils.data.image').read_image

-- Returns the loaded value after every element of it was read. A table may contain itself.
function M.names.touched(value, seen)
  seen = seen or {}
  if torch.is_tensor(value) then value:double():sum()
  elseif type(value) == 'table' and not seen[value] then
    seen[value] = true
    for _, entry in pairs(value) do M.names.touched(entry, seen) end
  end
  return value
end

-- The tensors of a GGUF file, and the file again.
function M.names.every_tensor(path)
  local file = torch.lm.gguf(path)
  local tensors = file:tensors()
  for name, tensor in pairs(tensors) do
    if tensor:numel() < 100000 then file:tensor(name):sum() end
  end
  torch.lm.gguf.save('again.gguf', { metadata = file.metadata, types = file.types, tensors = tensors })
end

-- A text that a language model of the file makes, or the embedding of an encoder.
function M.names.generated(path)
  local model = torch.lm.load(path)
  if model.embedding then return model:embed { 'a b', 'c' } end
  if model.chat_template then model:apply_chat_template { { role = 'user', content = 'a b' } } end
  return model:complete('abcab', { max_tokens = 3 })
end

local TEXT = 'Hello  world!\n\u{e9}\u{4f60}\u{1f642} <|endoftext|> it\'s 123 [MASK]\u{301}'

-- The ids of a text, and their text.
function M.names.tokens(source)
  local tokenizer = torch.lm.tokenizer(source)
  local ids = tokenizer:encode(TEXT)
  local stream = tokenizer:stream()
  for _, id in ipairs(ids) do stream(id) end
  return tokenizer:decode(ids), tokenizer:token_to_id 'a', tokenizer:id_to_token(0)
end

-- A notebook as --cells reads it, and the next one that is written of it, without running a cell.
function M.names.notebook(path)
  local text = read(path)
  local ipynb, markdown = require 'repl.notebook.ipynb', require 'repl.notebook.markdown'
  if path:find '%.ipynb$' then
    local book = ipynb.parse(text)
    local json = require 'repl.notebook.json'
    return json.decode(json.encode(json.decode(text))), book
  end
  return markdown.parse(text)
end

function M.names.history(path)
  local history = require 'repl.edit.history'
  local cells = history.load(path)
  history.append(path, 'x = 1')
  return cells
end

-- A model's outputs for inputs of ones, of the sizes that it asks for (2 where it does not say), when they are few.
function M.names.ran(model)
  local inputs = {}
  for i, input in ipairs(model.inputs) do
    local form = input.type and input.type.tensor_type
    local sizes, numel = {}, 1
    for d, size in ipairs(form and form.shape and form.shape.dim or {}) do
      sizes[d] = math.max(math.min(size.dim_value or 2, 16), 0)
      numel = numel * sizes[d]
    end
    if numel > 10000 then return tostring(model) end
    inputs[i] = torch.ones(sizes, { dtype = require('torch.onnx.tensors').dtypes[form and form.elem_type] })
  end
  return tostring(model), model(table.unpack(inputs, 1, #model.inputs))
end

-- The results of a program, for ones.
function M.names.computed(model)
  return tostring(model), model(torch.ones(3, 2))
end

function M.open()
  collect()
  return function()
    local suffix = SUFFIXES[math.random(#SUFFIXES)]
    local names = by_suffix[suffix]
    local forms = readers[suffix]
    return forms[math.random(#forms)]:format(("mutant('%s', %d)"):format(names[math.random(#names)], math.random(1 << 31)))
  end
end

return M
