-- Writes what make bench-cuda has measured: report_cuda.lua FOLDER DESTINATION
--
-- FOLDER holds about (name TAB value), ltensor and maybe torch (name TAB unit TAB value, several rounds), and a
-- text per exercise. DESTINATION gets <date>-<device>.md and .json; the Markdown is also printed.

local json = require 'dkjson'

local folder, destination = assert(arg[1], 'FOLDER is missing'), assert(arg[2], 'DESTINATION is missing')

local function median(values)
  table.sort(values)
  local n = #values
  return n % 2 == 1 and values[(n + 1) // 2] or (values[n // 2] + values[n // 2 + 1]) / 2
end

local function text_of(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read 'a'
  file:close()
  return text
end

local function read_rows(path)
  local text = text_of(path)
  if not text then return nil end
  local rows, order = {}, {}
  for name, unit, value in text:gmatch '([^\n\t]+)\t([^\n\t]+)\t([^\n]+)' do
    if not rows[name] then
      rows[name] = {unit = unit, values = {}}
      order[#order + 1] = name
    end
    table.insert(rows[name].values, (assert(tonumber(value), path .. ': ' .. value)))
  end
  for _, row in pairs(rows) do row.median = median(row.values) end
  return rows, order
end

local about = {}
for name, value in assert(text_of(folder .. '/about')):gmatch '([^\n\t]+)\t([^\n]+)' do about[name] = value end
local ours, order = read_rows(folder .. '/ltensor')
local theirs = read_rows(folder .. '/torch')
local COPY = 'copy, 1 GiB'

-- The goal of a row: what is compared, how it reads, and whether it holds; nil for the others.
local function goal(name, mine, other)
  if name:find '^launch: ' then
    return "at most half of PyTorch's", other and mine <= 0.5 * other
  elseif name:find '^mm float32, %d' or name:find '^mm b?float16' then
    return "97% of PyTorch's or more", other and mine >= 0.97 * other
  elseif name == 'add, 1 GiB' then
    return "90% of the device's copy or more", mine >= 0.9 * ours[COPY].median
  end
end

local function verdict(holds)
  if holds == nil then return 'not measured' end
  return holds and 'yes' or 'no'
end

local rows = {}
for i, name in ipairs(order) do
  local mine, other = ours[name].median, theirs and theirs[name] and theirs[name].median
  local words, holds = goal(name, mine, other)
  rows[i] = {
    name = name, unit = ours[name].unit, ltensor = mine, pytorch = other or nil,
    ratio = other and mine / other or nil, rounds = ours[name].values, pytorch_rounds = other and theirs[name].values,
    share_of_copy = ours[name].unit == 'GB/s' and name:find '1 GiB' and ours[COPY] and mine / ours[COPY].median or nil,
    goal = words, holds = words and verdict(holds) or nil,
  }
end

local EXERCISES = {'big_and_small', 'parameters', 'logging', 'two_gpus'}
local exercises = {}
for _, name in ipairs(EXERCISES) do exercises[name] = text_of(('%s/%s.txt'):format(folder, name)) end

local function number(value)
  if not value then return '' end
  return (value < 1000 and '%.3g' or '%.0f'):format(value)
end

local lines = {
  ('# %s, %s'):format(about.device, about.date), '',
  ('ltensor %s, commit %s%s, on %s (%.0f GiB); %s. Medians of %s rounds.'):format(about.ltensor, about.commit,
    about.modified and ' with changes' or '', about.device, about.memory / 2 ^ 30,
    about.pytorch and 'PyTorch ' .. about.pytorch .. ' in the same run' or 'no Python with torch and CUDA was there',
    about.rounds), '',
  'Rates count the bytes read and written; "of copy" is the share of the device\'s own copy of 1 GiB. A launch is',
  'what an op costs the host while the device has work; a ratio is ltensor\'s figure over PyTorch\'s.', '',
  '| | unit | ltensor | PyTorch | ratio | of copy | goal | holds |', '|---|---|---:|---:|---:|---:|---|---|',
}
for _, row in ipairs(rows) do
  lines[#lines + 1] = ('| %s | %s | %s | %s | %s | %s | %s | %s |'):format(row.name, row.unit, number(row.ltensor),
    number(row.pytorch), row.ratio and ('%.2f'):format(row.ratio) or '',
    row.share_of_copy and ('%.0f%%'):format(row.share_of_copy * 100) or '', row.goal or '', row.holds or '')
end
for _, name in ipairs(EXERCISES) do
  if exercises[name] then
    lines[#lines + 1] = ('\n## scripts/%s.lua\n\n```text\n%s\n```'):format(name, (exercises[name]:gsub('%s+$', '')))
  end
end
local markdown = table.concat(lines, '\n') .. '\n'

local function write(suffix, text)
  local name = about.device:lower():gsub('[^%w]+', '-'):gsub('-$', '')
  local path = ('%s/%s-%s.%s'):format(destination, about.date, name, suffix)
  local file = assert(io.open(path, 'w'))
  assert(file:write(text))
  assert(file:close())
  io.stderr:write(path, '\n')
end
write('md', markdown)
write('json', json.encode({
  date = about.date, device = about.device, memory_bytes = tonumber(about.memory), commit = about.commit,
  modified = about.modified == 'yes', ltensor = about.ltensor, pytorch = about.pytorch,
  rounds = tonumber(about.rounds), rows = rows, exercises = exercises,
}, {indent = true, keyorder = {'date', 'device', 'commit', 'name', 'unit', 'ltensor', 'pytorch', 'ratio'}}) .. '\n')
io.write(markdown)
