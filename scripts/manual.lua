-- manual.lua - generates the manual page, and completions for bash, zsh and fish, from the texts of
-- --help: the program's, and those of its commands.
--
-- Usage: for c in '' build chat embed generate; do build/ltensor $c --help; done |
-- lua5.4 scripts/manual.lua VERSION DATE FOLDER [docs/guide/README.md]: writes ltensor.1,
-- ltensor.bash, _ltensor and ltensor.fish to the folder; the guide's table of settings becomes the
-- section ENVIRONMENT.

local version, date, folder, guide = table.unpack(arg)
if not folder then error 'usage: manual.lua VERSION DATE FOLDER [GUIDE]' end

-- ---- the texts of --help -------------------------------------------------------------------

-- The options {names, argument, text, depth} in order; the lines before and after them.
local function read_help(text)
  local options, intro, outro = {}, {}, {}
  for line in text:gmatch '[^\n]+' do
    local indent, rest = line:match '^( +)(.*)$'
    if not indent then
      local list = #options == 0 and intro or outro
      list[#list + 1] = line
    elseif rest:find '^%-' and #indent <= 4 then
      local head, words = rest:match '^(.-)%s%s+(.*)$'
      head = head or rest
      local option = {names = {}, text = words or '', depth = #indent // 2 - 1}
      for name in (head .. ' '):gmatch '(%-[%w-]*)[, ]' do
        if head:find(name, 1, true) == 1 or head:find(', ' .. name, 1, true) then option.names[#option.names + 1] = name end
      end
      option.argument = head:match '^[^ ]+,? ([^-].*)$'
      options[#options + 1] = option
    else
      local last = options[#options]
      last.text = last.text .. (last.text == '' and '' or ' ') .. rest
    end
  end
  return options, intro, outro
end

local whole = io.read 'a'
local own = whole:match '^(.-\n)usage: ltensor %l' or whole
local options, intro, outro = read_help(own)
if #options == 0 then error 'no options stand in the text of --help' end

-- Commands: {name, usage, description, options}.
local commands = {}
for part in (whole:sub(#own + 1):gsub('usage: ', '\0') .. '\0'):gmatch '%z(%Z+)' do
  local list, lines = read_help(part)
  commands[#commands + 1] = {lines[1]:match '^ltensor (%l+)', lines[1], table.concat(lines, ' ', 2), list}
end

local function write(name, lines)
  local file = assert(io.open(folder .. '/' .. name, 'w'))
  assert(file:write(table.concat(lines, '\n'), '\n'))
  assert(file:close())
end

-- ---- the manual page -----------------------------------------------------------------------

-- Escapes text for roff and breaks it into lines of fewer than 80 characters.
local function roff(text)
  text = text:gsub('\\', '\\e'):gsub('%-', '\\-'):gsub('`([^`]*)`', '\\fI%1\\fR')
  local lines = {}
  for word in text:gmatch '%S+' do
    local last = lines[#lines]
    if last and #last + #word < 79 then lines[#lines] = last .. ' ' .. word else lines[#lines + 1] = word:gsub("^([.'])", '\\&%1') end
  end
  return table.concat(lines, '\n')
end

local page = {
  ('.TH LTENSOR 1 "%s" "ltensor %s" "User Commands"'):format(date, version),
  '.SH NAME', 'ltensor \\- Lua with tensors, on CPUs and GPUs', '.SH SYNOPSIS', '.B ltensor',
  '[\\fIoptions\\fR] [\\fIscript\\fR [\\fIargs\\fR]]', '.SH DESCRIPTION',
}
for i = 2, #intro do page[#page + 1] = roff(intro[i]) end
local function list_options(list)
  for _, option in ipairs(list) do
    if option.depth > 0 then page[#page + 1] = '.RS' end
    local names = {}
    for i, name in ipairs(option.names) do names[i] = '\\fB' .. roff(name) .. '\\fR' end
    page[#page + 1] = '.TP'
    page[#page + 1] = table.concat(names, ', ') .. (option.argument and ' \\fI' .. roff(option.argument) .. '\\fR' or '')
    page[#page + 1] = roff(option.text)
    if option.depth > 0 then page[#page + 1] = '.RE' end
  end
end
page[#page + 1] = '.SH OPTIONS'
list_options(options)
if commands[1] then page[#page + 1] = '.SH COMMANDS' end
for _, command in ipairs(commands) do
  page[#page + 1] = '.SS ' .. roff(command[2])
  page[#page + 1] = roff(command[3])
  list_options(command[4])
end
page[#page + 1] = '.SH ENVIRONMENT'
for _, line in ipairs(outro) do page[#page + 1] = roff(line) end
local file = guide and assert(io.open(guide))
for line in file and file:lines() or function() end do
  local name, text = line:match '^| (`[%u_]+=?.*`[^|]*) | (.-) |$'
  if name then
    page[#page + 1] = '.TP'
    page[#page + 1] = '\\fB' .. name:gsub('`', ''):gsub('%-', '\\-') .. '\\fR'
    page[#page + 1] = roff(text)
  end
end
for _, line in ipairs {
  '.SH EXIT STATUS', '0 on success; 1 after an error or a difference found by \\-\\-check;', 'the status that the script passes to \\fIos.exit\\fR.',
  '.SH FILES', '.TP', '\\fI$XDG_CONFIG_HOME/ltensor/init.lua\\fR', 'runs before the first prompt',
  '.TP', '\\fI$XDG_STATE_HOME/ltensor/history\\fR', 'the cells of earlier sessions',
  '.SH SEE ALSO', '.BR lua5.4 (1);', 'the guide in \\fIshare/doc/ltensor\\fR; \\fI?\\fR at the prompt.',
} do page[#page + 1] = line end
write('ltensor.1', page)

-- ---- completion ----------------------------------------------------------------------------

-- Options of `--kernel install`: {name, argument or nil}.
local install = {}
for _, option in ipairs(options) do
  if option.names[1] == '--kernel' and option.argument:find '^install' then
    for name, value in option.argument:gmatch '(%-%-[%w-]+) ?(%u*)' do install[#install + 1] = {name, value ~= '' and value or nil} end
  end
end

-- Every option name of a list once: {name, argument, text}.
local function names_of(list)
  local named, seen = {}, {}
  for _, option in ipairs(list) do
    for _, name in ipairs(option.names) do
      if not seen[name] and name:find '%w' then
        seen[name] = true
        named[#named + 1] = {name, option.argument, option.text}
      end
    end
  end
  return named
end

local named = names_of(options)
for _, command in ipairs(commands) do command.named = names_of(command[4]) end

local function words(list)
  local names = {}
  for i, entry in ipairs(list) do names[i] = entry[1] end
  return table.concat(names, ' ')
end

-- Options with a value that a shell cannot complete.
local function with_values(list)
  local result = {}
  for _, entry in ipairs(list) do
    if entry[2] and entry[1] ~= '--cells' and entry[1] ~= '--kernel' then result[#result + 1] = entry end
  end
  return result
end

local bash = {
  '# Completion of ltensor in bash; made from the texts of --help.',
  '_ltensor_command() { # options, those with values',
  '    if [[ " $2 " == *" $previous "* ]]; then',
  '        return',
  '    elif [[ $current == -* ]]; then',
  '        mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")',
  '    else',
  '        mapfile -t COMPREPLY < <(compgen -f -X "!*.gguf" -- "$current"; compgen -d -- "$current")',
  '    fi',
  '}',
  '_ltensor() {',
  '    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} word kernel= command=',
  '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [ "$word" = --kernel ] && kernel=yes; done',
  '    [ "$COMP_CWORD" -gt 1 ] && command=${COMP_WORDS[1]}',
  '    COMPREPLY=()',
  '    case $command in',
}
for _, command in ipairs(commands) do
  bash[#bash + 1] = ('        %s) _ltensor_command "%s" "%s"; return ;;'):format(command[1], words(command.named), words(with_values(command.named)))
end
for _, line in ipairs {
  '    esac',
  '    if [ "$previous" = --kernel ]; then',
  '        mapfile -t COMPREPLY < <(compgen -W install -- "$current"; compgen -f -X "!*.json" -- "$current"; compgen -d -- "$current")',
  '    elif [ -n "$kernel" ]; then',
  '        case $previous in',
  '            --prefix) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;',
  '            --name) ;;',
  ('            *) mapfile -t COMPREPLY < <(compgen -W "%s" -- "$current") ;;'):format(words(install)),
  '        esac',
  '    elif [ "$previous" = --cells ]; then',
  '        mapfile -t COMPREPLY < <(compgen -f -X "!*.@(md|ipynb)" -- "$current"; compgen -d -- "$current")',
  ('    elif [[ " %s " == *" $previous "* ]]; then'):format(words(with_values(named))),
  '        return',
  '    elif [[ $current == -* ]]; then',
  ('        mapfile -t COMPREPLY < <(compgen -W "%s" -- "$current")'):format(words(named)),
  '    else',
  '        [ "$COMP_CWORD" = 1 ] && command="' .. words(commands) .. '"',
  '        mapfile -t COMPREPLY < <(compgen -W "$command" -- "$current"; compgen -f -- "$current")',
  '    fi',
  '}',
  'shopt -s extglob # for the pattern of notebooks',
  'complete -o filenames -F _ltensor ltensor',
} do bash[#bash + 1] = line end
write('ltensor.bash', bash)

-- Quotes text for the shell: single quotes, as required by zsh's _arguments and fish.
local function quoted(text) return (text:gsub("'", "'\\''")) end

-- The argument of zsh's _arguments for an option.
local function zsh_option(entry)
  local name, argument, text = table.unpack(entry, 1, 3)
  local action = ''
  if name == '--kernel' then
    action = ':connection file:_alternative "words\\:word\\:(install)" "files\\:file\\:_files -g \\"*.json\\""'
  elseif name == '--cells' then
    action = ':notebook:_files -g "*.(md|ipynb)"'
  elseif argument then
    action = (':%s: '):format(argument:match '^[%w_=]+')
  end
  return ("    '%s[%s]%s' \\"):format(name, quoted(text:gsub('[%[%]:]', '\\%0')), action)
end

local zsh = {'#compdef ltensor', '# Completion of ltensor in zsh; made from the texts of --help.'}
for i, command in ipairs(commands) do
  zsh[#zsh + 1] = ('%s [[ CURRENT -gt 2 && $words[2] == %s ]]; then'):format(i == 1 and 'if' or 'elif', command[1])
  zsh[#zsh + 1] = '  shift words; (( CURRENT-- ))'
  zsh[#zsh + 1] = '  _arguments -S \\'
  for _, entry in ipairs(command.named) do zsh[#zsh + 1] = zsh_option(entry) end
  zsh[#zsh + 1] = "    '1:model:_files -g \"*.gguf\"'"
end
if commands[1] then
  zsh[#zsh + 1] = '  return'
  zsh[#zsh + 1] = 'fi'
end
zsh[#zsh + 1] = '_arguments -S \\'
for _, entry in ipairs(named) do zsh[#zsh + 1] = zsh_option(entry) end
for _, entry in ipairs(install) do
  zsh[#zsh + 1] = ("    '%s[with --kernel install]%s' \\"):format(entry[1], entry[1] == '--prefix' and ':folder:_files -/' or entry[2] and ':' .. entry[2] .. ': ' or '')
end
zsh[#zsh + 1] = ("    '1:script:_alternative \"words\\:command\\:(%s)\" \"files\\:file\\:_files\"' '*:argument:_files'"):format(words(commands))
write('_ltensor', zsh)

local fish = {'# Completion of ltensor in fish; made from the texts of --help.'}
local function add_fish(entry, condition)
  local name, argument, text = table.unpack(entry, 1, 3)
  local kind = name:find '^%-%-' and '-l ' .. name:sub(3) or '-s ' .. name:sub(2)
  local value = ''
  if name == '--kernel' then
    value = " -r -a 'install'"
  elseif name == '--cells' then
    value = " -r -k -a '(__fish_complete_suffix .md .ipynb)'"
  elseif argument then
    value = ' -x'
  end
  fish[#fish + 1] = ("complete -c ltensor %s%s%s -d '%s'"):format(condition, kind, value, (text:gsub("['\\]", '\\%0')))
end
local no_command = commands[1] and ("-n 'not __fish_seen_subcommand_from %s' "):format(words(commands)) or ''
for _, entry in ipairs(named) do add_fish(entry, no_command) end
for _, command in ipairs(commands) do
  fish[#fish + 1] = ("complete -c ltensor -n __fish_is_first_arg -a %s -d '%s'"):format(command[1], (command[3]:gsub("['\\]", '\\%0')))
  for _, entry in ipairs(command.named) do add_fish(entry, ("-n '__fish_seen_subcommand_from %s' "):format(command[1])) end
end
for _, entry in ipairs(install) do
  fish[#fish + 1] = ("complete -c ltensor -n '__fish_seen_argument -l kernel' -l %s%s"):format(entry[1]:sub(3),
    entry[1] == '--prefix' and " -x -a '(__fish_complete_directories)'" or entry[2] and ' -x' or '')
end
write('ltensor.fish', fish)
