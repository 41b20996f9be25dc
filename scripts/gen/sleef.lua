-- sleef.lua - generates the arguments of objcopy --redefine-syms that map each vector function of
-- vector_math.h to a function of libsleef.
--
-- gcc calls them by the names of the x86 vector ABI (_ZGVbN4v_expf), which the C library's libmvec
-- also defines: a program that uses both would get one of the two. libsleef's own names
-- (Sleef_expf4_u10sse2) are unique.
--
-- Usage: lua5.4 scripts/gen/sleef.lua OUT_DIR

package.path = (arg[0]:match('^(.*)/') or '.') .. '/?.lua;' .. package.path
local declarations = require 'declarations'

local source = 'src/core/cpu/vector/vector_math.h'
-- Bits of a vector by the letter of its instruction set, and libsleef's name of that set.
local sets = { { 'b', 128, 'sse2' }, { 'd', 256, 'avx2' }, { 'e', 512, 'avx512f' } }
local kinds = { { 'f', 'f', 32 }, { '', 'd', 64 } } -- suffix in C, in libsleef, bits
-- The bound of the error where it is not 1.0 ULP; exact functions have none.
local bounds = { erfc = '_u15', hypot = '_u05', floor = '_', ceil = '_', trunc = '_', rint = '_', fmod = '_' }

local file <close> = assert(io.open(source))
local out = {}
for form, name in file:read 'a':gmatch '\nVECTOR_(%u+)%((%w+)%)' do
  for _, set in ipairs(sets) do
    for _, kind in ipairs(kinds) do
      local width = set[2] // kind[3]
      out[#out + 1] = ('_ZGV%sN%d%s_%s%s Sleef_%s%s%d%s%s\n'):format(set[1], width, form == 'BINARY' and 'vv' or 'v', name, kind[1],
        name, kind[2], width, bounds[name] or '_u10', set[3])
    end
  end
end
if #out == 0 then error('no functions in ' .. source, 0) end
declarations.write(assert(arg[1], 'usage: sleef.lua OUT_DIR') .. '/sleef_names', table.concat(out))
