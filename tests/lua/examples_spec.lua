-- examples_spec.lua - every op that people see has an example beside its declaration, and the example shows what
-- stands below it when it is typed at the prompt.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local root = here .. '../../'
local reader = dofile(root .. 'scripts/gen/declarations.lua')
local examples = dofile(root .. 'scripts/gen/examples.lua')
local run_example = require 'support.run_example'

local groups, by_group = {}, {}
for _, folder in ipairs { 'src/ops', 'lib/ops' } do
  local model = folder == 'src/ops' and reader.load(root .. folder) or reader.load_scripted(root .. folder)
  for _, op in ipairs(model.ops) do
    if not by_group[op.group] then
      by_group[op.group] = {}
      groups[#groups + 1] = op.group
    end
    table.insert(by_group[op.group], op)
  end
end

local function public(op)
  return op.name:sub(1, 1) ~= '_' and (op.variants['function'] or op.variants.method or op.variants.nn or op.variants.inplace) ~= nil
end

describe('the examples of', function()
  for _, group in ipairs(groups) do
    it(group .. ' are there, and show what they say', function()
      local missing, wrong, seen = {}, {}, {}
      for _, op in ipairs(by_group[group]) do
        if public(op) and not op.example and not seen[op.name] then missing[#missing + 1] = op.name end
        if op.example and not seen[op.name] then
          local problem = run_example(examples.cells(op.example))
          if problem then wrong[#wrong + 1] = op.name .. ': ' .. problem end
        end
        seen[op.name] = true
      end
      assert(#missing == 0, 'without an example: ' .. table.concat(missing, ' '))
      assert(#wrong == 0, table.concat(wrong, '\n'))
    end)
  end
end)

-- ---- classes ----------------------------------------------------------------------------------------------------------

local torch = require 'torch'

local function is_class(value)
  local metatable = debug.getmetatable(value)
  return type(value) == 'table' and type(metatable) == 'table' and rawget(metatable, '__name') == 'class'
end

describe('the examples of the classes of', function()
  for name, module in pairs { ['nn'] = torch.nn, ['optim'] = torch.optim, ['optim/lr_scheduler'] = torch.optim.lr_scheduler,
    ['distributions'] = torch.distributions } do
    it(name .. ' are there, and show what they say', function()
      local missing, wrong, files = {}, {}, {}
      for class, path in pairs(module.__names) do
        if is_class(module[class]) then
          path = ('%slib/%s/%s.lua'):format(root, name, (path:gsub('%.', '/')))
          files[path] = files[path] or examples.of_file(path)
          local example = files[path][class]
          local problem = example and run_example(examples.cells(example))
          if not example then missing[#missing + 1] = class end
          if problem then wrong[#wrong + 1] = class .. ': ' .. problem end
        end
      end
      assert(#missing == 0, 'without an example: ' .. table.concat(missing, ' '))
      assert(#wrong == 0, table.concat(wrong, '\n'))
    end)
  end
end)

describe('an example', function()
  it('an example is parsed with its output', function()
    local read = examples.read('sum\n    x = 1\n    --> 1\n\n    y\n    --> a\n    -->  b\nmean\n    z\n', 'here')
    assert.same({ { source = 'x = 1', output = '1' }, { source = 'y', output = 'a\n b' } }, examples.cells(read.sum))
    assert.same({ { source = 'z' } }, examples.cells(read.mean))
  end)

  it('that is misspelled is refused', function()
    assert.error_matches(function() examples.read('  x', 'here') end, 'here: .*neither a name nor a line')
    assert.error_matches(function() examples.read('a\n    1\na\n    2', 'here') end, 'two examples of a')
  end)

  it('that shows something else is found', function()
    assert.matches('shows\n2', run_example { { source = '1 + 1', output = '3' } })
    assert.matches('nothing of what it shows is written', run_example { { source = '1 + 1' } })
    assert.matches("attempt to", run_example { { source = 'nil + 1', output = '2' } })
    assert.is_nil(run_example { { source = 'x = 1' }, { source = 'x', output = '1' } })
  end)
end)
