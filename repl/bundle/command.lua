-- command.lua - the program's command `ltensor build`: writes a model as C source, or a script with its
-- modules and models as a program. main(name, arguments) runs it. May use repl.bundle.app, repl.lm.options
-- and repl.system; torch through require.

local app = require 'repl.bundle.app'
local options = require 'repl.lm.options'
local system = require 'repl.system'
local torch = require 'torch'

local build = {}

local declared = {
  {'--output', 'FILE', 'the file to write, as -o'},
  {'--weights', 'FILE', 'C source: write the weights to this file, which the caller passes as a pointer'},
  {'--name', 'NAME', 'C source: prefix of the names (that of the output)'},
  {'--size', 'NAME=N', 'C source: the number of a size that varies; may be repeated', 'texts'},
  {'--module', 'NAME', 'program: include a module that the script requires by a computed name; may be repeated', 'texts'},
  {'--help', nil, 'print this text'},
}

local usage = [[
usage: ltensor build MODEL -o FILE.c [options], ltensor build SCRIPT.lua [MODEL...] -o FILE [options]
Writes the program of a .pt2 or .onnx file as C99 source for inference, which needs only libm: the
function NAME_run computes the outputs, and FILE.h describes its arguments. For a script in Lua, writes
an executable with the script, the modules that it requires, and files that torch.load,
torch.onnx.load and torch.export.load open by these paths.
]]

-- ---- arguments ----------------------------------------------------------------------------------

-- The sizes of the options --size NAME=N by name.
local function sizes_of(list)
  local sizes = {}
  for _, text in ipairs(list or {}) do
    local name, n = text:match '^(.+)=(%d+)$'
    if not name then error(("'--size %s': needs the form NAME=N"):format(text), 0) end
    sizes[name] = math.tointeger(n)
  end
  return sizes
end

local function load(path)
  if path:find '%.onnx$' then return torch.onnx.load(path) end
  return torch.export.load(path)
end

local function prefix_of(path) return (path:match '([^/]*)$':gsub('%.c$', ''):gsub('[^%w_]', '_')) end

-- ---- files --------------------------------------------------------------------------------------

-- Opens a file, which `write` completes.
local function write_file(path, write)
  local file <close> = assert(io.open(path, 'wb'))
  write(file)
  assert(file:flush())
end

local function build_source(values, model)
  local path = values.output
  if not path:find '%.c$' then error(("'%s': the output needs the suffix .c"):format(path), 0) end
  local name = values.name or prefix_of(path)
  if not name:find '^[%a_][%w_]*$' then error(("'%s' is no name in C; choose one by --name"):format(name), 0) end
  local header = path:gsub('%.c$', '.h')
  local generate = require('torch.c_source.generate').generate
  local source, declarations, write_weights = generate(load(model), {name = name, header = header:match '[^/]*$', weights = values.weights ~= nil, sizes = sizes_of(values.size)})
  write_file(path, function(file) assert(file:write(source)) end)
  write_file(header, function(file) assert(file:write(declarations)) end)
  if values.weights then write_file(values.weights, write_weights) end
end

local function build_program(values, script, models)
  local entries, outside = app.entries(script, values.module or {}, models)
  app.write(values.output, entries)
  assert(system.make_executable(values.output))
  for _, name in ipairs(outside) do io.stderr:write(("ltensor build: module '%s' is a library in C, which stays outside of the program\n"):format(name)) end
end

local function run(values, files)
  if not files[1] then error('MODEL or SCRIPT.lua is missing', 0) end
  if not values.output then error('the output is missing: -o FILE', 0) end
  if files[1]:find '%.lua$' then return build_program(values, files[1], table.move(files, 2, #files, 1, {})) end
  if files[2] then error(("'%s': not expected after MODEL"):format(files[2]), 0) end
  build_source(values, files[1])
end

-- ---- the command --------------------------------------------------------------------------------

--- Runs the command with its arguments. Returns whether it succeeded; writes errors to stderr.
function build.main(_, arguments)
  local words = {}
  for i, word in ipairs(arguments) do words[i] = word == '-o' and '--output' or word end
  local ok, message = pcall(function()
    local values, others = options.read(declared, words)
    if values.help then return assert(io.stdout:write(usage, options.describe(declared))) end
    return run(values, others)
  end)
  if ok then return true end
  io.stdout:flush()
  io.stderr:write('ltensor build: ', tostring(message), '\n')
  return false
end

return build
