-- source_name.lua - the name of a file in messages: its path, or that it is in memory. A string with a
-- zero byte, which no path has, is the content of a file (torch._C.open_file).

return function(path) return path:find('\0', 1, true) and 'the bytes in memory' or path end
