local network = require 'network'

local function note(text)
  local file <close> = assert(io.open('/srv/ltensor/notes', 'a'))
  file:write(text)
end

function init()
  note(network.answer 'train')
end

-- Called for each new, old and deleted lease.
function lease(operation, information)
  note(operation .. ' ' .. information.ip_address .. ' ' .. network.answer 'predict')
end

function shutdown()
  note 'shutdown\n'
end
