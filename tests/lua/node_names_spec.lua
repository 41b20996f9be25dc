-- node_names_spec.lua - the names of the nodes that calls record (x.grad_fn, the printed grad_fn=) are PyTorch's.

local torch = require 'torch'
local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local reference = dofile(here .. 'support/reference.lua')
local rows = dofile(here .. '../reference/node_names.lua')

-- Known differences, 'op PyTorch\'s <- ours'. Each must still be one.
local known = {}
local function because(_, lines)
  for line in lines:gmatch '[^\n]+' do known[(line:gsub('^%s+', ''))] = true end
end

because('an operator with exchanged operands is the operation itself there', [[
  - RsubBackward0 <- SubBackward0
  / MulBackward0 <- DivBackward0]])
because('one operation here, an image without a dimension there', [[
  adaptive_avg_pool1d SqueezeBackward1 <- AdaptiveAvgPool1DBackward0
  adaptive_max_pool1d SqueezeBackward1 <- AdaptiveMaxPool1DBackward0
  avg_pool1d SqueezeBackward1 <- AvgPool1DBackward0
  interpolate SqueezeBackward1 <- AdaptiveAvgPool1DBackward0
  max_pool1d SqueezeBackward1 <- MaxPool1DWithIndicesBackward0
  max_unpool1d SqueezeBackward1 <- MaxUnpool1DBackward0]])
because('one operation for all modes, dimensions and shapes here', [[
  cdist ViewBackward0 <- CdistBackward0
  cross_entropy NllLoss2DBackward0 <- NllLossBackward0
  nll_loss NllLoss2DBackward0 <- NllLossBackward0
  ndtr MulBackward1 <- SpecialNdtrBackward0
  normal NormalBackward1 <- NormalBackward0
  normal NormalBackward3 <- NormalBackward0
  pad ReflectionPad1DBackward0 <- PadByLookupBackward0
  pad ReflectionPad2DBackward0 <- PadByLookupBackward0
  pad ReflectionPad3DBackward0 <- PadByLookupBackward0
  pad ReplicationPad1DBackward0 <- PadByLookupBackward0
  pad ReplicationPad2DBackward0 <- IndexSelectBackward0
  pad ReplicationPad2DBackward0 <- PadByLookupBackward0
  pad ReplicationPad3DBackward0 <- PadByLookupBackward0
  pad torch::autograd::CopySlices <- PadByLookupBackward0
  rms_norm MulBackward0 <- FusedRmsNormBackward0
  smooth_l1_loss MeanBackward0 <- SmoothL1LossBackward0
  sort SortBackward1 <- SortBackward0]])
because('made of other operations, of which the last is another one', [[
  atleast_2d UnsqueezeBackward0 <- ViewBackward0
  atleast_3d UnsqueezeBackward0 <- ViewBackward0
  cartesian_prod StackBackward0 <- ViewBackward0
  cholesky CholeskyBackward0 <- LinalgCholeskyExBackward0
  combinations StackBackward0 <- ViewBackward0
  cond SqueezeBackward1 <- DivBackward0
  cross_entropy DivBackward1 <- DivBackward0
  cumulative_trapezoid CumsumBackward0 <- DivBackward0
  cumulative_trapezoid DivBackward1 <- DivBackward0
  diag DiagonalBackward0_copy <- CloneBackward0
  diff torch::autograd::CopyBackwards <- CloneBackward0
  einsum MulBackward0 <- ViewBackward0
  einsum SumBackward1 <- ViewBackward0
  embedding_bag EmbeddingBagBackward0 <- IndexAddBackward0
  kron UnsafeViewBackward0 <- ViewBackward0
  linear SqueezeBackward4 <- SqueezeBackward1
  lstsq LinalgLstsqBackward0 <- MulBackward0
  matmul CloneBackward0 <- UnsafeViewBackward0
  matmul SqueezeBackward4 <- SqueezeBackward1
  matmul TransposeBackward0 <- UnsafeViewBackward0
  matrix_norm AmaxBackward0 <- ViewBackward0
  matrix_norm AminBackward0 <- ViewBackward0
  matrix_norm LinalgVectorNormBackward0 <- ViewBackward0
  matrix_norm PermuteBackward0 <- ViewBackward0
  matrix_power torch::autograd::CopyBackwards <- CopyBackwards
  nanquantile SqueezeBackward4 <- ViewBackward0
  norm PermuteBackward0 <- ViewBackward0
  pairwise_distance NormBackward1 <- LinalgVectorNormBackward0
  prod WhereBackward0 <- CloneBackward0
  quantile SqueezeBackward4 <- ViewBackward0
  repeat_interleave ViewBackward0 <- UnsafeViewBackward0
  rrelu RreluWithNoiseBackward0 <- MulBackward0
  svd LinalgSvdBackward0 <- SliceBackward0
  svd TransposeBackward0 <- SliceBackward0
  tensorinv ReshapeAliasBackward0 <- ViewBackward0
  trapezoid DivBackward1 <- DivBackward0
  trapezoid MulBackward1 <- DivBackward0
  trapz DivBackward1 <- DivBackward0
  trapz MulBackward1 <- DivBackward0
  vecdot VdotBackward0 <- SumBackward1]])

-- The results of a call, as a list.
local function results_of(case)
  local call, args = reference.call_of(case, case.via or 'f')
  local out = table.pack(call(table.unpack(args, 1, args.n)))
  if type(out[1]) == 'table' then return out[1] end
  if type(out[2]) == 'table' then return table.move(out[2], 1, #out[2], 2, { out[1] }) end
  return out
end

-- Calls whose tensors the sample writes in place, and one without a public name.
local apart = { zero_ = true, _segment_reduce = true }

describe('nodes of the graph #cpu', function()
  it('have the names that PyTorch gives to its own, but for known differences', function()
    local found, wrong, same = {}, {}, 0
    for _, row in ipairs(rows) do
      local out = not apart[row.case.op] and results_of(row.case)
      for i, theirs in ipairs(out and row.nodes or {}) do
        local ours = torch.is_tensor(out[i]) and out[i].grad_fn and out[i].grad_fn:name() or false
        local difference = ('%s %s <- %s'):format(row.case.op, theirs, ours)
        if ours == theirs then
          same = same + 1
        elseif known[difference] then
          found[difference] = true
        else
          wrong[#wrong + 1] = difference
        end
      end
    end
    for difference in pairs(known) do
      if not found[difference] then wrong[#wrong + 1] = 'no longer different: ' .. difference end
    end
    table.sort(wrong)
    assert.equal('', table.concat(wrong, '\n'))
    assert.is_true(same > 600, ('%d names'):format(same))
  end)

  it('of an op made of others are named only where the op made them', function()
    local x = torch.ones(4, { requires_grad = true }) * 2
    assert.equal('MulBackward0', x.grad_fn:name())
    local parts = x:split(4)
    assert.equal('SplitBackward0', parts[1].grad_fn:name())
    assert.equal('MulBackward0', x.grad_fn:name())
    assert.equal('MulBackward0', x:deg2rad().grad_fn.next_functions[1][1]:name())
    assert.equal('tensor([2., 2., 2., 2.], grad_fn=<SplitBackward0>)', tostring(parts[1]))
  end)
end)
