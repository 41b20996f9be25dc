-- `ltensor --kernel install`: writes the kernel specification for Jupyter,
-- share/jupyter/kernels/<name>/kernel.json.
--
--   (nothing)        for all users, in /usr/local
--   --user           for this user: $JUPYTER_DATA_DIR, else $XDG_DATA_HOME/jupyter, else
--                    ~/.local/share/jupyter
--   --prefix DIR     in DIR
--   --sys-prefix     in the active Python environment: $VIRTUAL_ENV or $CONDA_PREFIX
--   --name NAME      the folder's name (ltensor), to install several kernels
--
-- The kernel is started with the options before --kernel, such as --sim-gpus 2. May use
-- repl.system, repl.notebook.json.

local json = require 'repl.notebook.json'
local system = require 'repl.system'

local object = json.object

local install = {}

local LOGO = [[<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect width="64" height="64" rx="12" fill="#000080"/>
<g fill="none" stroke="#fff" stroke-width="3"><path d="M18 12h-6v40h6M46 12h6v40h-6"/></g>
<g fill="#fff"><circle cx="24" cy="22" r="4"/><circle cx="40" cy="22" r="4"/><circle cx="24" cy="42" r="4"/></g>
<circle cx="40" cy="42" r="5" fill="#f5a623"/>
</svg>
]]

local function fail(format, ...) error('--kernel install: ' .. format:format(...), 0) end

-- The value of the variable, or nil if it is empty.
local function environment(name)
  local value = os.getenv(name)
  return value ~= '' and value or nil
end

local function user_folder()
  local folder = environment 'JUPYTER_DATA_DIR'
  if folder then return folder end
  local data = environment 'XDG_DATA_HOME' or (environment 'HOME' and environment 'HOME' .. '/.local/share')
  if not data then fail '--user: HOME is not set' end
  return data .. '/jupyter'
end

-- The target folder and the name of the kernel, from the arguments.
local function read(arguments)
  local folder, name, chosen = '/usr/local/share/jupyter', 'ltensor', nil
  local index = 1
  local function value_of(argument)
    index = index + 1
    local value = arguments[index]
    if not value or value == '' then fail('%s needs a value', argument) end
    return value
  end
  local function choose(argument, where)
    if chosen then fail('%s and %s exclude each other', chosen, argument) end
    chosen, folder = argument, where
  end
  while arguments[index] do
    local argument = arguments[index]
    if argument == '--user' then
      choose(argument, user_folder())
    elseif argument == '--prefix' then
      choose(argument, value_of(argument) .. '/share/jupyter')
    elseif argument == '--sys-prefix' then
      local prefix = environment 'VIRTUAL_ENV' or environment 'CONDA_PREFIX'
      if not prefix then fail '--sys-prefix: no Python environment is active (VIRTUAL_ENV and CONDA_PREFIX are not set)' end
      choose(argument, prefix .. '/share/jupyter')
    elseif argument == '--name' then
      name = value_of(argument)
      if not name:find '^[%w._-]+$' then fail("--name: '%s' has other characters than letters, digits, '.', '_' and '-'", name) end
    else
      fail("'%s' is none of --user, --prefix DIR, --sys-prefix, --name NAME", argument)
    end
    index = index + 1
  end
  return folder .. '/kernels/' .. name, name
end

local function write(path, text)
  local ok, problem = pcall(require('torch.files.outside').write_file, path, text)
  if not ok then fail('%s', problem) end
end

-- Writes the kernel specification; own: the program's path and the options with which the kernel is
-- started.
function install.main(own, arguments)
  local folder, name = read(arguments)
  local command = table.move(own, 1, #own, 1, {})
  table.move({'--kernel', '{connection_file}'}, 1, 2, #command + 1, command)
  local options = table.concat(own, ' ', 2)
  system.make_directories(folder, true)
  write(folder .. '/logo-svg.svg', LOGO)
  write(folder .. '/kernel.json', json.encode(object {
    {'argv', command},
    {'display_name', options == '' and (name == 'ltensor' and 'Lua (ltensor)' or name) or ('Lua (ltensor %s)'):format(options)},
    {'language', 'lua'},
    {'interrupt_mode', 'signal'},
    {'metadata', object {{'debugger', true}}},
  }))
  print('Jupyter finds the kernel in ' .. folder)
end

return install
