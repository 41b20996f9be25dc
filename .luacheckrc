-- What luacheck (make lint) knows of this tree. A program of your own begins its .luacheckrc with the first two lines.
stds.ltensor = { read_globals = { 'torch', 'nn', 'try_gpu', 'try_all_gpus', 'breakpoint' } }
std = 'lua54+ltensor'

max_line_length = false
ignore = {
  '212', -- an argument that is not used: methods and callbacks have those of their kind
  '43', -- a local that has the name of one further out
  '512', -- for x in loader do ... break end: the first batch
  '581', -- not (a < b) is not a >= b where one is nan
}
exclude_files = { 'build*', 'dist', 'lib/meta', 'tests/reference/*.lua' } -- what is made, annotations, PyTorch's results

-- The names of the programs that run these scripts.
files['docs/examples/hosts'] = {
  std = 'lua54',
  globals = {'lighty', 'init', 'lease', 'shutdown', 'answer', 'auth_password_verify', 'auth_userdb_lookup', 'Str', 'term'},
  read_globals = {'core', 'apache2', 'dovecot', 'gp', 'mle', 'module', 'mutt', 'pandoc'},
}
files['docs/examples/hosts/network_ffi.lua'] = { std = 'luajit' }
files['docs/examples/hosts/neovim'] = { std = 'luajit', globals = { 'vim' } }
files['docs/examples/hosts/prosody/prosody.cfg.lua'] = {ignore = {'111', '113'}} -- settings
files['src/ffi'] = { std = 'luajit' }
files['tests/ffi'] = { std = 'luajit' }
files['tests'] = {
  std = 'lua54+ltensor+busted',
  ignore = {
    '231', '241', '311', -- a variable is set so that it holds a tensor, or holds it no more
    '551', -- empty bodies: what a script may write
    '613', -- blanks at the ends of lines in strings: what a program has printed
  },
}
files['tests/lua/words_spec.lua'] = { globals = { 'print' } }
