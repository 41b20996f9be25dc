-- torch.cuda._compile_kernel: kernels from CUDA source text, and the checks of simulated GPUs, which
-- report a planted defect with the kernel, the threads, the element and the line of the text.

local torch = require 'torch'
local cuda = torch.cuda

if not cuda.is_available() then
  describe('torch.cuda._compile_kernel without a GPU', function()
    it('is an error that names the missing part', function()
      local ok, message = pcall(cuda._compile_kernel, '__global__ void f() {}', 'f')
      assert.is_false(ok)
      assert.truthy(tostring(message):find('no CUDA GPUs are available', 1, true), message)
    end)
  end)
  return
end

local here = debug.getinfo(1, 'S').source:match '^@(.*/)' or './'
local process = dofile(here .. 'support/process.lua')

local device = 'cuda:' .. cuda.current_device()
local compile = cuda._compile_kernel

local function failure(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

local function says(words, f, ...)
  local message = failure(f, ...)
  for _, word in ipairs(type(words) == 'table' and words or { words }) do
    assert.truthy(message:find(word, 1, true), ('%s\nis not in: %s'):format(word, message))
  end
end

local ADD = [[
__global__ void add(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}
]]

local SUM = [[
__global__ void sum(const float *x, float *out, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = blockIdx.x * 256 + t < n ? x[blockIdx.x * 256 + t] : 0.0f;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}
]]

describe('torch.cuda._compile_kernel', function()
  it('adds two vectors, with named and with positional arguments of the launch', function()
    local x, y = torch.randn(1000, { device = device }), torch.randn(1000, { device = device })
    local z, w = torch.empty(1000, { device = device }), torch.zeros(1000, { device = device })
    local add = compile(ADD, 'add')
    add { grid = { 4, 1, 1 }, block = { 256, 1, 1 }, args = { x, y, z, 1000 } }
    add(4, 256, { x, y, w, 1000 })
    assert.is_true(torch.equal(z, x + y))
    assert.is_true(torch.equal(w, z))
  end)

  it('launches one thread by default, and a kernel without parameters', function()
    local out = torch.zeros(1, { dtype = torch.int32, device = device })
    compile('__global__ void one(int *out) { out[0] += gridDim.x * blockDim.x; }', 'one') { args = { out } }
    compile('__global__ void nothing() {}', 'nothing') ()
    assert.equal(1, out:item())
  end)

  it('reduces in shared memory and adds the sums of blocks atomically', function()
    local x, out = torch.arange(1000, { dtype = torch.float32, device = device }), torch.zeros(1, { device = device })
    compile(SUM, 'sum') { grid = 4, block = 256, args = { x, out, 1000 } }
    assert.equal(499500, out:item())
  end)

  it('transposes a matrix with a tile in shared memory', function()
    local x = torch.randn(70, 45, { device = device })
    local y = torch.empty(45, 70, { device = device })
    compile([[
      __global__ void transpose(const float *__restrict__ x, float *__restrict__ y, int rows, int columns)
      {
          __shared__ float tile[16][17];
          int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
          if (r < rows && c < columns) tile[threadIdx.y][threadIdx.x] = x[r * columns + c];
          __syncthreads();
          c = blockIdx.y * 16 + threadIdx.x;
          r = blockIdx.x * 16 + threadIdx.y;
          if (r < columns && c < rows) y[r * rows + c] = tile[threadIdx.x][threadIdx.y];
      }]], 'transpose') { grid = { 3, 5 }, block = { 16, 16 }, args = { x, y, 70, 45 } }
    assert.is_true(torch.equal(y, x.T:contiguous()))
  end)

  for title, declaration in pairs {
    ['in the kernel'] = { '', 'extern __shared__ float buffer[];' },
    ['outside of the kernel'] = { 'extern __shared__ __align__(16) float buffer[];', '' },
  } do
    it('has dynamic shared memory that is declared ' .. title, function()
      local x = torch.arange(64, { dtype = torch.float32, device = device })
      local y = torch.empty(64, { device = device })
      compile(([[
        %s
        extern "C" __global__ void reverse(const float *x, float *y)
        {
            %s
            unsigned t = threadIdx.x;
            buffer[t] = x[t];
            __syncthreads();
            y[t] = buffer[blockDim.x - 1 - t];
        }]]):format(declaration[1], declaration[2]), 'reverse') { block = 64, args = { x, y }, shared_mem = 64 * 4 }
      assert.is_true(torch.equal(y, x:flip(1)))
    end)
  end

  it('has atomics, of integers and floats in global memory', function()
    local counts = torch.zeros(4, { dtype = torch.int32, device = device })
    local most = torch.zeros(1, { dtype = torch.int32, device = device })
    compile([[
      __global__ void count(int *counts, int *most)
      {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          atomicAdd(&counts[i % 4], 1);
          atomicMax(most, i);
      }]], 'count') { grid = 8, block = 64, args = { counts, most } }
    assert.same({ 128, 128, 128, 128 }, counts:tolist())
    assert.equal(511, most:item())
  end)

  it('adds within a warp by shuffles', function()
    local x, y = torch.arange(128, { dtype = torch.float32, device = device }), torch.zeros(4, { device = device })
    compile([[
      __device__ float warp_sum(float value)
      {
          for (int offset = 16; offset > 0; offset /= 2)
              value += __shfl_down_sync(0xffffffff, value, offset);
          return value;
      }
      __global__ void sums(const float *x, float *y)
      {
          float value = warp_sum(x[threadIdx.x]);
          if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = value;
      }]], 'sums') { block = 128, args = { x, y } }
    assert.same(x:view(4, 32):sum(2):tolist(), y:tolist())
  end)

  it('converts numbers to the types of the parameters', function()
    local out = torch.zeros(8, { dtype = torch.float64, device = device })
    compile([[
      typedef unsigned long long word;
      __global__ void numbers(double *out, float f, double d, int i, const long long l, size_t s, unsigned char c, bool b /* a flag */, short h)
      {
          out[0] = f; out[1] = d; out[2] = i; out[3] = l; out[4] = s; out[5] = c; out[6] = b; out[7] = h;
      }]], 'numbers') { args = { out, 0.5, 2, -3, 1 << 40, 5.0, 255, true, -32768 } }
    assert.same({ 0.5, 2, -3, 2.0 ^ 40, 5, 255, 1, -32768 }, out:tolist())
  end)

  it('compiles an instance of a template', function()
    local x = torch.ones(4, { dtype = torch.float64, device = device })
    local scale = compile([[
      template <typename T, int N> __global__ void scale(T *x, T factor)
      {
          for (int i = 0; i < N; i++) x[i] *= factor;
      }]], 'scale<double, 4>')
    scale { args = { x, 2.5 } }
    assert.same({ 2.5, 2.5, 2.5, 2.5 }, x:tolist())
  end)

  it('passes options of nvcc to the compiler', function()
    local out = torch.zeros(1, { dtype = torch.int32, device = device })
    compile('__global__ void value(int *out) { *out = VALUE; }', 'value', { nvcc_options = { '-DVALUE=42' } }) { args = { out } }
    assert.equal(42, out:item())
  end)

  it('keeps the values of __device__ variables between launches', function()
    local out = torch.zeros(1, { dtype = torch.int32, device = device })
    local count = compile('__device__ int calls = 10;\n__global__ void count(int *out) { calls++; *out = calls; }', 'count')
    count { args = { out } }
    count { args = { out } }
    assert.equal(12, out:item())
  end)

  it('accesses views by their pointer, within the whole storage', function()
    local x = torch.arange(10, { dtype = torch.float32, device = device })
    compile('__global__ void set(float *x) { x[-1] = 100; x[0] = 200; }', 'set') { args = { x[{ { 5, 6 } }] } }
    assert.same({ 0, 1, 2, 100, 200, 5, 6, 7, 8, 9 }, x:tolist())
  end)

  it('counts as an in-place write for autograd', function()
    local w = torch.ones(4, { device = device, requires_grad = true })
    local x = torch.ones(4, { device = device })
    local y = (w * x):sum()
    compile('__global__ void twice(float *x) { x[threadIdx.x] *= 2; }', 'twice') { block = 4, args = { x } }
    says('modified by an inplace operation', function() y:backward() end)
  end)

  it('runs on the given stream', function()
    local s, x = cuda.Stream(), torch.zeros(4, { device = device })
    s:wait_stream(cuda.current_stream())
    compile('__global__ void set(float *x, float value) { x[threadIdx.x] = value; }', 'set') { block = 4, args = { x, 3 }, stream = s }
    cuda.current_stream():wait_stream(s)
    assert.same({ 3, 3, 3, 3 }, x:tolist())
  end)

  it('is captured into a CUDAGraph and replayed', function()
    local x, g = torch.zeros(4, { device = device }), cuda.CUDAGraph()
    local more = compile('__global__ void more(float *x) { x[threadIdx.x] += 1; }', 'more')
    cuda.graph(g, function() more { block = 4, args = { x } } end)
    assert.same({ 0, 0, 0, 0 }, x:tolist())
    g:replay()
    g:replay()
    assert.same({ 2, 2, 2, 2 }, x:tolist())
  end)

  it('includes float16 and its arithmetic', function()
    local x = torch.tensor({ 1.5, 2.5 }, { dtype = torch.float16, device = device })
    if not cuda.is_simulated() then return end -- NVRTC needs the toolkit's headers
    compile([[
      #include <cuda_fp16.h>
      __global__ void square(__half *x) { x[threadIdx.x] = __hmul(x[threadIdx.x], x[threadIdx.x]) + __float2half(1.0f); }]], 'square') {
      block = 2, args = { x } }
    assert.same({ 3.25, 7.25 }, x:tolist())
  end)
end)

describe('torch.cuda._compile_kernel explains a wrong', function()
  local x = torch.zeros(4, { device = device })
  local f = compile('__global__ void f(float *x, int n, bool on) {}', 'f')

  it('number of arguments', function() says('f(): 1 arguments were passed in args, the kernel has 3 parameters', f, { args = { x } }) end)
  it('kind of argument', function()
    says("f(): argument 1 ('float *x') must be a Tensor, not number", f, { args = { 1, 2, true } })
    says("f(): argument 2 ('int n') must be a number, not a Tensor", f, { args = { x, x, true } })
    says("f(): argument 2 ('int n') must be a number, not string", f, { args = { x, 'a', true } })
    says("f(): argument 2 ('int n') must be an integer, got 1.5", f, { args = { x, 1.5, true } })
    says("f(): argument 2 ('int n'): 2147483648 is out of range of 'int'", f, { args = { x, 1 << 31, true } })
    says("f(): argument 3 ('bool on') must be true or false, not number", f, { args = { x, 1, 1 } })
  end)
  it('dtype', function()
    says("f(): argument 1 ('float *x') cannot be a tensor of dtype int64", f, { args = { torch.zeros(4, { dtype = torch.int64, device = device }), 1, true } })
    says("f(): argument 1 ('float *x') cannot be a tensor of dtype int32", f, { args = { x:int(), 1, true } })
  end)
  it('device', function()
    says("f(): argument 1 ('float *x') must be a CUDA tensor or a pinned CPU tensor, not one on cpu", f, { args = { torch.zeros(4), 1, true } })
  end)
  it('type of parameter', function()
    local g = compile('typedef int number;\n__global__ void g(number n) {}', 'g')
    says("g(): argument 1 ('number n') has the type 'number', to which no number is converted", g, { args = { 1 } })
  end)
  it('grid', function()
    says('f(): grid[1] must be at least 1 and below 2^31, got 0', f, { grid = 0, args = { x, 1, true } })
    says('f(): block must have at most 3 sizes, got 4', f, { block = { 1, 1, 1, 1 }, args = { x, 1, true } })
  end)
  it('name', function()
    says("_compile_kernel(): the source has no kernel 'sub': __global__ functions in it: add", compile, ADD, 'sub')
    says('_compile_kernel(): the source has no kernel', compile, 'int f;', 'f')
  end)
  it('source, by the lines of the text', function()
    says({ 'Kernel compilation failed', 'f.cu', '3' }, compile, '__global__ void f(int *x)\n{\n    x[0] = y;\n}', 'f')
  end)
end)

if not cuda.is_simulated() then return end

describe('A kernel on a simulated GPU', function()
  it('needs a C++ compiler, and the error says how to choose one', function()
    local _, message, status = process.lua("torch.cuda._compile_kernel('__global__ void f() {}', 'f')", '--sim-gpus 1', 'CXX=/absent/compiler')
    assert.equal(1, status)
    assert.truthy(message:find('needs a C++ compiler, and none was found (CXX, c++, g++, clang++)', 1, true), message)
  end)

  it('is compiled once for all processes, and prints', function()
    local folder = os.tmpname()
    os.remove(folder)
    local code = [[
      torch.cuda._compile_kernel('__global__ void f(int n) { printf("thread %d of %d\\n", (int)threadIdx.x, n); }', 'f') { block = 2, args = { 2 } }]]
    for _, compiler in ipairs { '', 'CXX=/bin/false ' } do
      local environment = ('XDG_CACHE_HOME=%s %s'):format(folder, compiler)
      local output, message, status = process.lua(code, '--sim-gpus 1', environment)
      if compiler == '' then
        assert.equal(0, status, message)
        assert.equal('thread 0 of 2\nthread 1 of 2\n', output)
      else -- another compiler has its own entries
        assert.truthy(message:find('Kernel compilation failed', 1, true), message)
      end
    end
    local files = process.run('ls ' .. folder .. '/ltensor/kernels')
    assert.equal(1, select(2, files:gsub('\n', '')))
    process.run('rm -r ' .. folder)
  end)

  it('compiles with clang++ to the same reports', function()
    if select(3, process.run 'command -v clang++ >/dev/null') ~= 0 then return end
    local _, message = process.lua([=[
      local sum = torch.cuda._compile_kernel([[
__global__ void last(float *out)
{
    extern __shared__ float s[];
    s[0] = threadIdx.x;
}]], 'last')
      sum { block = 2, args = { torch.zeros(1, { device = 'cuda' }) }, shared_mem = 4 }]=], '--sim-gpus 1', 'CXX=clang++')
    assert.truthy(message:find('race: kernel last', 1, true), message)
    assert.truthy(message:find('in last.cu:4', 1, true), message)
  end)
end)

describe('A simulated GPU reports', function()
  local x, out = torch.ones(256, { device = device }), torch.zeros(1, { device = device })

  it('a race in shared memory, with the kernel, both threads, the address and the line', function()
    local racy = SUM:gsub('        __syncthreads%(%);\n', '')
    says({ 'race: kernel sum, block (0, 0, 0), thread (', ' 4 bytes of shared memory that block (0, 0, 0), thread (',
      'with nothing that orders the two, at byte ', 'of part, in sum.cu:9' }, compile(racy, 'sum'), { block = 256, args = { x, out, 256 } })
  end)

  it('a race in global memory between blocks', function()
    says({ 'race: kernel last, block (', ', 0, 0), thread (0, 0, 0): writes 4 bytes of global memory that block (',
      'at out[0], in last.cu:3' },
      compile('__global__ void last(float *out)\n{\n    out[0] = blockIdx.x;\n}', 'last'), { grid = 2, args = { out } })
  end)

  it('a race in a __device__ variable', function()
    says({ 'race: kernel f', 'in f.cu:2' }, compile('__device__ int n;\n__global__ void f() { n = threadIdx.x; }', 'f'), { block = 2 })
  end)

  it('an access beyond a tensor, although its memory is followed by that of another', function()
    local y, between, z = torch.ones(1024, { device = device }), torch.ones(1024, { device = device }), torch.ones(1024, { device = device })
    says({ 'memory: kernel add, block (4, 0, 0), thread (0, 0, 0): reads 4 bytes outside of its arguments and shared memory',
      'at x[1024], beyond its 1024 elements, in add.cu:5' }, compile(ADD, 'add'), { grid = 5, block = 256, args = { y, y, z, 1025 } })
    assert.equal(1024, between:sum():item())
  end)

  it('an access before a tensor, and one through a pointer of none', function()
    says("at x[-1], before its first element, in f.cu:1", compile('__global__ void f(float *x) { x[-1] = 0; }', 'f'), { args = { x } })
    says({ 'outside of its arguments and shared memory', 'at 0x10, in f.cu:1' },
      compile('__global__ void f() { *(volatile int *)16 = 0; }', 'f'), {})
  end)

  it('an access beyond the shared memory', function()
    says({ 'memory: kernel f', 'at byte 32 of s, beyond its end, in f.cu:4' },
      compile('__global__ void f(float *x)\n{\n    __shared__ float s[8];\n    s[threadIdx.x] = 1;\n    x[threadIdx.x] = s[threadIdx.x];\n}', 'f'),
      { block = 9, args = { x } })
    says({ 'byte 32 of the 32 bytes of dynamic shared memory, in f.cu:1' },
      compile('__global__ void f() { extern __shared__ int s[]; s[threadIdx.x] = 0; }', 'f'), { block = 9, shared_mem = 32 })
  end)

  it('shared memory that is read before it is written', function()
    says({ 'init: kernel f', 'of shared memory that the block has not written, at byte 4 of s, in f.cu:1' },
      compile('__global__ void f(float *x) { __shared__ float s[2]; s[threadIdx.x] = 2; x[0] = s[1]; }', 'f'),
      { args = { out } })
  end)

  it('threads that come to different barriers', function()
    says({ 'barrier: kernel f', 'comes to the barrier at f.cu:', ' while thread ', ' waits at the one at f.cu:', 'f.cu:4', 'f.cu:6' }, compile([[
__global__ void f()
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncthreads();
}]], 'f'), { block = 32 })
  end)

  it('threads that wait for each other for ever', function()
    says({ 'barrier: kernel f', 'wait for each other for ever' }, compile([[
__global__ void f()
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __shfl_sync(0xffffffff, 1, 0);
}]], 'f'), { block = 32 })
  end)

  it('an access that is not aligned', function()
    says({ 'memory: kernel f', 'writes 16 bytes that are not aligned to 16', 'f.cu:1' },
      compile('__global__ void f(float *x) { *(float4 *)(x + 1) = make_float4(1, 2, 3, 4); }', 'f'), { args = { x } })
  end)

  it('a block that is too large', function()
    says({ 'launch: kernel f: threads in a block: 2048, the limit is 1024' }, compile('__global__ void f() {}', 'f'), { block = { 1024, 2 } })
    says({ 'launch: kernel f: threads in a block, by its __launch_bounds__: 128, the limit is 64' },
      compile('__global__ void __launch_bounds__(64) f() {}', 'f'), { block = 128 })
  end)

  it('the lines of functions that the kernel calls', function()
    says({ 'at x[256], beyond its 256 elements, in f.cu:1' },
      compile('__device__ void set(float *x, int i) { x[i] = 0; }\n__global__ void f(float *x)\n{\n    set(x, 256);\n}', 'f'), { args = { x } })
  end)

  it('a defect at each launch, and leaves the GPU usable', function()
    local add = compile(ADD, 'add')
    for _ = 1, 2 do says('add.cu:5', add, { grid = 2, block = 256, args = { x, x, out, 256 } }) end
    assert.equal(256, x:sum():item())
  end)
end)
