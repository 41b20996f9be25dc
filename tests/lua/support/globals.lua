-- A helper of busted (--helper): a global that the library sets is an error, of a name that was meant to be local.

local message = "the library sets the global '%s'"

setmetatable(_G, {
  __newindex = function(globals, name, value)
    if debug.getinfo(2, 'S').short_src:find '^%[ltensor' then error(message:format(name), 2) end
    rawset(globals, name, value)
  end,
})
