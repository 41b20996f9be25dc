-- core.lua - stands for the C module of lua-term, which busted loads: Debian's package cannot be
-- installed for two architectures.
return {
  isatty = function() return false end,
}
