-- compare.lua - whole tensors compared. A bool result waits for the device.

return {
  { 'equal(Tensor self, Tensor other) -> bool', doc = 'Whether two tensors have the same sizes and elements.' },
  { 'isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=false) -> Tensor',
    doc = 'Where |self - other| <= atol + rtol * |other|.' },
  { 'allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=false) -> bool',
    doc = 'Whether isclose holds everywhere.', example = 'torch.allclose(a, b, {atol = 1e-6})' },
  { 'is_nonzero(Tensor self) -> bool', doc = 'Whether the only element of a tensor is not 0.' },
}
