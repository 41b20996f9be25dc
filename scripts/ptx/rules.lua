-- rules.lua - limits for the machine code of kernels. Each row is a kernel measured by report.lua:
-- { file, name, arch, stack, spills, load, store (widest access in bytes), hot = an entry of
-- hot.lua or nil }.
local rules = {}

rules.stack, rules.spills = 256, 32

-- Violations, as a list of messages.
function rules.faults(rows)
  local faults = {}
  local function fault(row, format, ...)
    faults[#faults + 1] = ('sm_%s %s.cu: %s: %s'):format(row.arch, row.file, row.name, format:format(...))
  end
  for _, row in ipairs(rows) do
    if row.stack >= rules.stack then
      fault(row, 'a stack frame of %d bytes (less than %d are allowed): something is indexed by a variable or has its address taken',
        row.stack, rules.stack)
    end
    if (row.spills or 0) > rules.spills then
      fault(row, '%d bytes of registers are spilled (at most %d are allowed)', row.spills, rules.spills)
    end
    local hot = row.hot
    if hot and hot.wide then
      if (hot.loads or 0) > 0 and row.load < 16 then
        fault(row, 'its widest load has %d bytes; this kernel is in the list of those that load 16', row.load)
      end
      if (hot.stores or 0) > 0 and row.store < (hot.store_width or 16) then
        fault(row, 'its widest store has %d bytes; this kernel is in the list of those that store %d', row.store, hot.store_width or 16)
      end
    end
  end
  return faults
end

-- Entries of the list without a kernel: after renaming a kernel, its entry would check nothing.
function rules.missing(rows, hot)
  local seen, missing = {}, {}
  for _, row in ipairs(rows) do
    for entry in pairs(row.estimates or {}) do seen[entry] = true end
  end
  for _, entry in ipairs(hot) do
    if not seen[entry] then missing[#missing + 1] = ('%s.cu has no kernel %s'):format(entry.file, entry.name) end
  end
  return missing
end

return rules
