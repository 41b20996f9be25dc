-- complex.lua - complex numbers: construction from parts, and access to the parts. See docs/design/complex.md.

return {
  -- ---- making them ------------------------------------------------------------------------------------------
  { 'complex(Tensor real, Tensor imag) -> Tensor', batch = 'broadcast', variants = 'function out',
    doc = 'Complex numbers of their real and imaginary parts. Of two numbers: a complex number, `torch.complex(1, 2)`.',
    forward = 'linear',
    grad = { real = 'real(grad)', imag = 'imag(grad)' } },
  { 'polar(Tensor abs, Tensor angle) -> Tensor', batch = 'broadcast', variants = 'function out', grad_fn = 'PolarBackward0', holomorphic = false,
    doc = 'Complex numbers of a magnitude and an angle in radians.',
    forward = { abs = 'sgn(result) * abs_t', angle = 'complex(-imag(result), real(result)) * angle_t' },
    grad = { abs = 'real(conj(grad) * sgn(result))', angle = '-imag(conj(grad) * result)' } },

  -- ---- views of their parts ---------------------------------------------------------------------------------
  { 'view_as_real(Tensor self) -> Tensor', batch = 'front', view = true, variants = 'function',
    doc = 'A view of complex numbers with one more dimension: the real and the imaginary part.',
    grad = { self = 'view_as_complex(contiguous(grad))' } },
  { 'view_as_complex(Tensor self) -> Tensor', batch = 'front', view = true, variants = 'function',
    doc = 'A view of pairs of floats, which the last dimension has, as complex numbers.',
    grad = { self = 'view_as_real(grad)' } },
  { 'real(Tensor self) -> Tensor', variants = 'function', composite = true, doc = 'The real parts, a view; of real numbers the tensor itself.' },
  { 'imag(Tensor self) -> Tensor', variants = 'function', composite = true, doc = 'The imaginary parts, a view.' },

  -- ---- conjugates, angles, signs ------------------------------------------------------------------------------
  { 'conj(Tensor self) -> Tensor', composite = true, sparse = true, doc = 'The complex conjugate, a copy; a tensor of real numbers as it is.' },
  { 'conj_physical(Tensor self) -> Tensor', variants = 'function method inplace out', overlap = 'elementwise',
    doc = 'The complex conjugate, a copy.', forward = 'linear', grad = { self = 'conj(grad)' } },
  { '_conj(Tensor self) -> Tensor', variants = '', sparse = 'values', pointwise = 'promote', kernel = 'arithmetic: complex', grad_fn = 'ConjBackward0',
    doc = 'The conjugate of complex numbers.', grad = { self = 'conj(grad)' } },
  { 'adjoint(Tensor self) -> Tensor', composite = true,
    doc = 'The conjugates of matrices, transposed; of real matrices a view. Also as the field `mH`, of a single matrix `H`.' },
  { 'resolve_conj(Tensor self) -> Tensor', composite = true, doc = 'The tensor itself: conjugates are copies, no marks.' },
  { 'resolve_neg(Tensor self) -> Tensor', composite = true, doc = 'The tensor itself: negatives are copies, no marks.' },
  { 'is_conj(Tensor self) -> bool', float8 = true, doc = 'Whether the tensor is marked as conjugated: never.' },
  { 'is_neg(Tensor self) -> bool', float8 = true, doc = 'Whether the tensor is marked as negated: never.' },
  { 'angle(Tensor self) -> Tensor', variants = 'function method out', holomorphic = false, overlap = 'elementwise',
    doc = 'The angle in radians from -pi to pi; of real numbers 0 or pi.', forward = 'real(conj(_angle_backward(ones_like(result), self)) * self_t)', grad = { self = '_angle_backward(grad, self)' } },
  { '_angle(Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'functions: complex(REAL)', doc = 'The angle of complex numbers.' },
  { '_angle_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', composite = true, doc = 'Derivative of angle.' },
  { 'sgn(Tensor self) -> Tensor', sparse = 'values', variants = 'function method inplace out', holomorphic = false, overlap = 'elementwise',
    doc = 'self / |self|, 0 where self is 0; of real numbers the sign.', forward = 'elementwise', grad = { self = '_sgn_backward(grad, self, result)' } },
  { '_sgn(Tensor self) -> Tensor', variants = '', pointwise = 'promote', kernel = 'arithmetic: complex', doc = 'The direction of complex numbers.' },
  { '_sgn_backward(Tensor grad_output, Tensor self, Tensor result) -> Tensor', variants = '', composite = true, reads = true, doc = 'Derivative of sgn.' },
  { 'isreal(Tensor self) -> Tensor', composite = true, doc = 'Where the imaginary part is 0.' },

  -- ---- parts of derivatives -----------------------------------------------------------------------------------
  { '_acosh_backward(Tensor grad_output, Tensor self) -> Tensor', variants = '', composite = true,
    doc = 'grad_output / sqrt(self^2 - 1), on the branch that acosh has for complex numbers.' },

  arguments = [=[
real: Real part.
imag: Imaginary part, of the same dtype.
abs: Absolute value.
angle: Angle in radians, of the same dtype.
]=],

  examples = [=[
complex
    torch.complex(torch.tensor{1.0, 2.0}, torch.tensor{3.0, 4.0})
    --> tensor([1.+3.j, 2.+4.j])
polar
    torch.polar(torch.tensor{1.0, 2.0}, torch.tensor{0.0, 0.5})
    --> tensor([1.0000+0.0000j, 1.7552+0.9589j])
view_as_real
    torch.view_as_real(torch.tensor{torch.complex(1, 2), torch.complex(3, 4)})
    --> tensor([[1., 2.],
    -->         [3., 4.]])
view_as_complex
    torch.view_as_complex(torch.tensor{ {1.0, 2.0}, {3.0, 4.0} })
    --> tensor([1.+2.j, 3.+4.j])
real
    torch.real(torch.tensor{torch.complex(1, 2)})
    --> tensor([1.])
imag
    torch.imag(torch.tensor{torch.complex(1, 2)})
    --> tensor([2.])
conj
    torch.tensor{torch.complex(1, 2)}:conj()
    --> tensor([1.-2.j])
conj_physical
    torch.conj_physical(torch.tensor{torch.complex(1, 2)})
    --> tensor([1.-2.j])
adjoint
    torch.tensor{ {torch.complex(1, 2), torch.complex(3, 4)} }:adjoint()
    --> tensor([[1.-2.j],
    -->         [3.-4.j]])
resolve_conj
    torch.tensor{torch.complex(1, 2)}:conj():resolve_conj():is_conj()
    --> false
resolve_neg
    torch.tensor{1.0}:resolve_neg()
    --> tensor([1.])
is_conj
    torch.tensor{torch.complex(1, 2)}:conj():is_conj()
    --> false
is_neg
    torch.tensor{1.0}:is_neg()
    --> false
angle
    torch.tensor{torch.complex(0, 2), torch.complex(-1, 0)}:angle()
    --> tensor([1.5708, 3.1416])
sgn
    torch.tensor{torch.complex(3, 4), torch.complex(0, 0)}:sgn()
    --> tensor([0.6000+0.8000j, 0.0000+0.0000j])
isreal
    torch.tensor{torch.complex(1, 0), torch.complex(1, 1)}:isreal()
    --> tensor([ True, False])
]=],
}
