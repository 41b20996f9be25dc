-- table.lua - the table of docs/guide/hosts.md from a file of MEASURE: medians for each host.
-- Usage: lua5.4 tests/hosts/table.lua FILE

local LUAS = {
  apache = '5.3', haproxy = '5.3', nmap = '5.3', pandoc = '5.3', postgresql = '5.3', neovim = 'LuaJIT', nginx = 'LuaJIT',
}
local hosts, names = {}, {}
for line in io.lines(arg[1]) do
  local host, seconds, before, after = line:match '^(%S+) (%S+) (%d+) (%d+)$'
  if not hosts[host] then
    hosts[host] = { time = {}, before = {}, added = {} }
    names[#names + 1] = host
  end
  local entry = hosts[host]
  table.insert(entry.time, seconds * 1000)
  table.insert(entry.before, before / 1024)
  table.insert(entry.added, (after - before) / 1024)
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

table.sort(names)
print '| host | Lua | processor time, ms | memory before, MB | added, MB |'
print '|---|---|---|---|---|'
for _, name in ipairs(names) do
  local entry = hosts[name]
  print(('| %s | %s | %.0f | %.0f | %.0f |'):format(name, LUAS[name] or '5.4', median(entry.time), median(entry.before), median(entry.added)))
end
