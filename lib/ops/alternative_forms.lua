-- alternative_forms.lua - properties of tensors as functions.

return {
  { 'is_same_size(Tensor self, Tensor other) -> bool', run = function(self, other)
    if self.ndim ~= other.ndim then return false end
    for d = 1, self.ndim do
      if self:size(d) ~= other:size(d) then return false end
    end
    return true
  end, doc = 'Whether two tensors have the same shape.' },
  { 'is_signed(Tensor self) -> bool', run = function(self) return self.dtype.is_signed end, doc = 'Whether numbers of the dtype have a sign.' },

  arguments = [=[
is_same_size.other: Tensor to compare with.
]=],

  examples = [=[
is_same_size
    torch.is_same_size(torch.ones(2), torch.zeros(2))
    --> true
is_signed
    torch.tensor{1, 2}:is_signed()
    --> true
]=],
}
