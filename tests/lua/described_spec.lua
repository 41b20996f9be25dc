-- described_spec.lua - the reference has no public name without a description and no argument without a sentence
-- (scripts/site/inventory.lua), and no sentence that describes nothing.

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local site = here .. '../../scripts/site/'
local described = dofile(here .. '../../scripts/gen/described.lua')

describe('the reference #cpu', function()
  local inventory = dofile(site .. 'inventory.lua')
  local entries = inventory.collect(dofile(site .. 'library.lua'))

  local function refuse(list, message) assert(#list == 0, ('%d %s:\n  %s'):format(#list, message, table.concat(list, '\n  '))) end

  it('describes each public name', function()
    local bare = {}
    for _, e in ipairs(entries) do
      if not e.doc or not e.doc:find '%w' then bare[#bare + 1] = ('%s.%s (%s)'):format(e.module, e.name, e.file or 'lib/meta') end
    end
    refuse(bare, 'names without a description')
  end)

  it('has a sentence for each argument', function()
    local undescribed = {}
    for _, e in ipairs(entries) do
      for _, a in ipairs(e.arguments) do
        if not a.text or not a.text:find '%w' then undescribed[#undescribed + 1] = ('%s of %s.%s (%s)'):format(a.name, e.module, e.name, e.file or e.group or 'lib/meta') end
      end
    end
    refuse(undescribed, 'arguments without a sentence')
  end)

  it('has no sentence that describes nothing', function() refuse(inventory.unused(), 'sentences of names that do not exist') end)

  it('lists all names that it listed before', function()
    local arguments = 0
    for _, e in ipairs(entries) do arguments = arguments + #e.arguments end
    assert(#entries >= 3400, #entries .. ' names')
    assert(arguments >= 5000, arguments .. ' arguments')
  end)
end)

describe('a text of arguments #cpu', function()
  it('gives a sentence by function, type and name, the most specific first', function()
    local texts = described.read('dim: One.\ndim (Dims): Several,\n  or all.\ncross.dim: Of size 3.\ncross(): a x b.\n', 'here')
    assert.equal('One.', described.find(texts, {}, 'dim', 'Dim?'))
    assert.equal('Several, or all.', described.find(texts, { 'sum' }, 'dim', 'Dims?'))
    assert.equal('Of size 3.', described.find(texts, { 'cross' }, 'dim', 'Dims'))
    assert.equal('a x b.', described.get(texts, 'cross()'))
    assert.is_nil(described.find(texts, { 'sum' }, 'keepdim'))
  end)

  it('that is malformed is an error', function()
    assert.error_matches(function() described.read('dim One.', 'here') end, "here: 'dim One.' is no line of the form")
    assert.error_matches(function() described.read('dim: one.', 'here') end, 'here: the description of dim is no sentence')
    assert.error_matches(function() described.read('dim: One.\ndim: Two.', 'here') end, 'here: dim is described twice')
  end)
end)
