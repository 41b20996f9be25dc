-- compare.lua - comparisons and logic, elementwise and of whole tensors. A bool result synchronizes with the
-- device.

-- A comparison: bool results, no derivative. `equal`: depends on equality or zero only, so the kernel supports
-- complex numbers.
local function comparison(name, doc, aliases, equal)
  local other = name:match '^logical_' and 'Tensor' or 'Tensor|Scalar'
  return { ('%s(Tensor self, %s other) -> Tensor'):format(name, other), variants = 'function method out',
    float8 = name == 'eq' or name == 'ne', pointwise = 'compare', kernel = 'compare: float integer bool' .. (equal and ' complex unsigned' or ' order'), doc = doc, aliases = aliases }
end

-- Its in-place form: 1 and 0 in self's dtype. Self has no gradient, because it is overwritten.
local function comparison_(name, aliases)
  local other = name:match '^logical_' and 'Tensor' or 'Tensor|Scalar'
  return { ('%s_(Tensor self, %s other) -> self'):format(name, other), variants = 'method', overlap = 'elementwise', aliases = aliases,
    doc = ('In-place form of %s: overwrites self with 1 and 0 in its dtype.'):format(name),
    constant = 'other', grad = { self = 'zeros_like(grad)' } }
end

return {
  -- ---- element by element -----------------------------------------------------------------------------------
  comparison('eq', 'Where self equals other.', nil, true),
  comparison('ne', 'Where self differs from other.', 'not_equal', true),
  comparison('lt', 'Where self is less than other.', 'less'),
  comparison('le', 'Where self is at most other.', 'less_equal'),
  comparison('gt', 'Where self is greater than other.', 'greater'),
  comparison('ge', 'Where self is at least other.', 'greater_equal'),
  comparison('logical_and', 'Where both are non-zero.', nil, true),
  comparison('logical_or', 'Where one or both are non-zero.', nil, true),
  comparison('logical_xor', 'Where exactly one is non-zero.', nil, true),
  { 'logical_not(Tensor self) -> Tensor', variants = 'function method out', pointwise = 'compare', kernel = 'compare: float integer bool complex unsigned',
    doc = 'Where self is zero.' },
  comparison_ 'eq',
  comparison_('ne', 'not_equal_'),
  comparison_('lt', 'less_'),
  comparison_('le', 'less_equal_'),
  comparison_('gt', 'greater_'),
  comparison_('ge', 'greater_equal_'),
  comparison_ 'logical_and',
  comparison_ 'logical_or',
  comparison_ 'logical_xor',
  { 'logical_not_(Tensor self) -> self', variants = 'method', overlap = 'elementwise',
    doc = 'In-place form of logical_not: overwrites self with 1 and 0 in its dtype.', grad = { self = 'zeros_like(grad)' } },
  { 'isnan(Tensor self) -> Tensor', float8 = true, sparse = 'values', pointwise = 'compare', kernel = 'compare: float integer bool complex unsigned', doc = 'Where self is nan.' },
  { 'isinf(Tensor self) -> Tensor', sparse = 'values', pointwise = 'compare', kernel = 'compare: float integer bool complex unsigned', doc = 'Where self is plus or minus infinity.' },
  { 'isfinite(Tensor self) -> Tensor', pointwise = 'compare', kernel = 'compare: float integer bool complex unsigned', doc = 'Where self is neither infinite nor nan.' },

  -- ---- whole tensors -------------------------------------------------------------------------------------------
  { 'equal(Tensor self, Tensor other) -> bool', float8 = true, doc = 'Whether two tensors have the same sizes and elements.' },
  { 'isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=false) -> Tensor', forward = 'constant', batch = 'broadcast',
    doc = 'Where |self - other| <= atol + rtol * |other|.' },
  { 'allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=false) -> bool',
    doc = 'Whether isclose holds everywhere.' },
  { 'is_nonzero(Tensor self) -> bool', float8 = true, doc = 'Whether the only element of a tensor is not 0.' },

  { 'isin(Tensor|Scalar elements, Tensor|Scalar test_elements, *, bool assume_unique=false, bool invert=false) -> Tensor', variants = 'function copied_out', composite = true,
    doc = 'Which of the elements are among the others; invert: which are not.' },

  arguments = [=[
elements: Values to look up: a tensor, or a number.
test_elements: Values among which they are looked up: a tensor, or a number.
assume_unique: Whether the values are known to be distinct, which may be faster.
invert: Whether the result is true for values that are not among the others.
rtol: Relative tolerance.
atol: Absolute tolerance.
equal_nan: Whether NaN equals NaN.
equal.other: Tensor to compare with.
isclose.other: Tensor to compare with, which broadcasts.
allclose.other: Tensor to compare with, which broadcasts.
]=],

  examples = [=[
eq
    torch.tensor{1, 2, 3}:eq(torch.tensor{1, 0, 3})
    --> tensor([ True, False,  True])
ne
    torch.tensor{1, 2, 3}:ne(2)
    --> tensor([ True, False,  True])
lt
    torch.tensor{1, 2, 3}:lt(2)
    --> tensor([ True, False, False])
le
    torch.tensor{1, 2, 3}:le(2)
    --> tensor([ True,  True, False])
gt
    torch.tensor{1, 2, 3}:gt(torch.tensor{3, 2, 1})
    --> tensor([False, False,  True])
ge
    torch.tensor{1, 2, 3}:ge(2)
    --> tensor([False,  True,  True])
logical_and
    torch.tensor{true, true, false}:logical_and(torch.tensor{true, false, false})
    --> tensor([ True, False, False])
logical_or
    torch.tensor{1, 0, 0}:logical_or(torch.tensor{0, 0, 5})
    --> tensor([ True, False,  True])
logical_xor
    torch.tensor{true, true, false}:logical_xor(torch.tensor{true, false, false})
    --> tensor([False,  True, False])
logical_not
    torch.tensor{0, 1, 2}:logical_not()
    --> tensor([ True, False, False])
eq_
    torch.tensor{1, 2, 3}:eq_(2)
    --> tensor([0, 1, 0])
ne_
    torch.tensor{1, 2, 3}:ne_(2)
    --> tensor([1, 0, 1])
lt_
    torch.tensor{1.0, 2.0, 3.0}:lt_(2)
    --> tensor([1., 0., 0.])
le_
    torch.tensor{1.0, 2.0, 3.0}:le_(2)
    --> tensor([1., 1., 0.])
gt_
    torch.tensor{1.0, 2.0, 3.0}:gt_(2)
    --> tensor([0., 0., 1.])
ge_
    torch.tensor{1.0, 2.0, 3.0}:ge_(2)
    --> tensor([0., 1., 1.])
logical_and_
    torch.tensor{2, 0, 3}:logical_and_(torch.tensor{1, 1, 0})
    --> tensor([1, 0, 0])
logical_or_
    torch.tensor{2, 0, 0}:logical_or_(torch.tensor{1, 1, 0})
    --> tensor([1, 1, 0])
logical_xor_
    torch.tensor{2, 0, 3}:logical_xor_(torch.tensor{1, 1, 0})
    --> tensor([0, 1, 1])
logical_not_
    torch.tensor{2.0, 0.0}:logical_not_()
    --> tensor([0., 1.])
isnan
    torch.tensor{1.0, 0 / 0, math.huge}:isnan()
    --> tensor([False,  True, False])
isinf
    torch.tensor{1.0, 0 / 0, -math.huge}:isinf()
    --> tensor([False, False,  True])
isfinite
    torch.tensor{1.0, 0 / 0, math.huge}:isfinite()
    --> tensor([ True, False, False])
equal
    torch.equal(torch.tensor{1, 2}, torch.tensor{1, 2})
    --> true
isclose
    torch.isclose(torch.tensor{1.0, 2.0}, torch.tensor{1.000001, 2.1})
    --> tensor([ True, False])
allclose
    torch.allclose(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 2.01}, {atol = 0.1})
    --> true
is_nonzero
    torch.tensor{0.0}:is_nonzero()
    --> false
isin
    torch.isin(torch.tensor{1, 2, 3}, torch.tensor{2, 3})
    --> tensor([False,  True,  True])
]=],
}
