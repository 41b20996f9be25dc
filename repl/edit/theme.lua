-- Colour themes: the ANSI sequence of each class of text. Classes of one letter belong to the
-- edited line (repl/edit/highlight.lua), the others to output. Depends on nothing.

local theme = {default = 'neutral'}

-- Numbers for ESC[...m.
local themes = {
  neutral = {p = '32', k = '35', s = '33', n = '36', c = '2', x = '36', b = '1;4', g = '2',
    message = '31', hint = '33', frame = '2', caret = '31', time = '2', label = '2', out = '31'},
  dark = {p = '92', k = '95', s = '93', n = '96', c = '90', x = '96', b = '1;4', g = '90',
    message = '91', hint = '93', frame = '90', caret = '91', time = '90', label = '90', out = '91'},
  light = {p = '34', k = '35', s = '32', n = '34', c = '90', x = '34', b = '1;4', g = '90',
    message = '31', hint = '35', frame = '90', caret = '31', time = '90', label = '90', out = '31'},
  none = {},
}

-- IPython's names.
theme.aliases = {nocolor = 'none', linux = 'dark', lightbg = 'light'}

function theme.names() return 'dark|light|neutral|none' end

-- The sequences of a theme by class; a class without one is not coloured.
function theme.of(name)
  local sequences = {}
  for class, numbers in pairs(themes[name or theme.default]) do sequences[class] = '\27[' .. numbers .. 'm' end
  return sequences
end

return theme
