-- fail.lua - errors of templates, with the line of the template.

local raise = require 'torch.support.fail'
local shown = require 'torch.support.printable_format'

return function(line, format, ...) raise('%s', shown('template, line %d: ' .. format, line, ...)) end
