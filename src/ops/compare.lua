-- compare.lua - comparisons and logic, element by element and of whole tensors. A bool result waits for the device.

-- A comparison: bool results, no derivative. `equal`: it asks what is equal, or 0, and not what is less.
local function comparison(name, doc, aliases, equal)
  return { name .. '(Tensor|Scalar self, Tensor|Scalar other) -> Tensor', variants = 'function method out',
    pointwise = 'compare', kernel = 'compare: float integer bool' .. (equal and ' complex unsigned' or ' order'), doc = doc, aliases = aliases }
end

-- Its in-place form: 1 and 0 of self's dtype, which no longer depend on what self was.
local function comparison_(name, aliases)
  return { name .. '_(Tensor self, Tensor|Scalar other) -> self', variants = 'method', overlap = 'elementwise', aliases = aliases,
    doc = ('What %s says, as 1 and 0 in the dtype of self, which is overwritten.'):format(name),
    grad = { self = 'zeros_like(grad)' } }
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
    doc = 'What logical_not says, as 1 and 0 in the dtype of self, which is overwritten.', grad = { self = 'zeros_like(grad)' } },
  { 'isnan(Tensor self) -> Tensor', pointwise = 'compare', kernel = 'compare: float integer bool complex unsigned', doc = 'Where self is nan.' },
  { 'isinf(Tensor self) -> Tensor', pointwise = 'compare', kernel = 'compare: float integer bool complex unsigned', doc = 'Where self is plus or minus infinity.' },
  { 'isfinite(Tensor self) -> Tensor', pointwise = 'compare', kernel = 'compare: float integer bool complex unsigned', doc = 'Where self is neither infinite nor nan.' },

  -- ---- whole tensors -------------------------------------------------------------------------------------------
  { 'equal(Tensor self, Tensor other) -> bool', doc = 'Whether two tensors have the same sizes and elements.' },
  { 'isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=false) -> Tensor', forward = 'constant', batch = 'broadcast',
    doc = 'Where |self - other| <= atol + rtol * |other|.' },
  { 'allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=false) -> bool',
    doc = 'Whether isclose holds everywhere.', example = 'torch.allclose(a, b, {atol = 1e-6})' },
  { 'is_nonzero(Tensor self) -> bool', doc = 'Whether the only element of a tensor is not 0.' },
}
