-- Memory that the process has of the system, in bytes, without what it has of files: now, and at most until now.

local M = {}

local function status()
  local fields = {}
  for line in io.lines '/proc/self/status' do
    local name, kilobytes = line:match '^(%w+):%s+(%d+) kB'
    if name then fields[name] = tonumber(kilobytes) * 1024 end
  end
  return fields
end

function M.now() return status().RssAnon end

function M.most()
  local s = status()
  return s.VmHWM - s.RssFile - s.RssShmem
end

return M
