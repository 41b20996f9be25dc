-- own_spec.lua - operations that a program defines: torch.library, torch.ops, plugins in C and C that is compiled at run time.

local torch = require 'torch'
local device = os.getenv 'LTENSOR_TEST_DEVICE' or 'cpu'
local build = os.getenv 'LTENSOR_BUILD' or 'build'
local library = torch.library
local on_device = { dtype = torch.float64, device = device, requires_grad = true }

local function message_of(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return tostring(message)
end

local function expect_message(text, f, ...)
  local message = message_of(f, ...)
  assert.truthy(message:find(text, 1, true), message)
end

local function doubles(values, requires_grad)
  return torch.tensor(values, { dtype = torch.float64, device = device, requires_grad = requires_grad ~= false })
end

-- Runs the body and removes the operations of the namespace that it defines.
local count = 0
local function with_library(body)
  count = count + 1
  local lib = library.Library('own_spec_' .. count)
  local ok, message = xpcall(body, debug.traceback, lib.ns, lib)
  for name in pairs(torch.ops[lib.ns]) do torch._C.own_remove(lib.ns .. '::' .. name) end
  if not ok then error(message, 0) end
end

-- a * x^3 + y, with its derivative.
local function define_axpy(ns)
  local op = library.custom_op(ns .. '::axpy', function(x, y, a) return a * x ^ 3 + y end,
    { mutates_args = {}, schema = '(Tensor x, Tensor y, *, Scalar a=1) -> Tensor' })
  op:register_autograd(function(ctx, grad)
    local x = table.unpack(ctx.saved_tensors)
    return ctx.needs_input_grad[1] and grad * (3 * ctx.a) * x ^ 2 or nil, grad
  end, { setup_context = function(ctx, inputs, named)
    ctx:save_for_backward(inputs[1])
    ctx.a = named.a
  end })
  return op
end

describe('an operation in Lua', function()
  it('is called by its name, with named arguments and defaults', function()
    with_library(function(ns)
      local op = define_axpy(ns)
      local x, y = doubles { 1, 2 }, doubles { 10, 20 }
      assert.same({ 11, 28 }, torch.ops[ns].axpy(x, y):tolist())
      assert.same({ 12, 36 }, torch.ops[ns].axpy { x = x, y = y, a = 2 }:tolist())
      assert.same({ 12, 36 }, op(x, y, { a = 2 }):tolist())
      expect_message("axpy() missing 1 required argument: 'y'", op, x)
      expect_message("axpy(): argument 'y' (position 2) must be Tensor, not number", op, x, 3)
      expect_message("unknown argument 'b' (known: x, y, a)", op, x, y, { b = 2 })
      expect_message(('torch.ops.%s has no operation \'apxy\'; it has: axpy'):format(ns), function() return torch.ops[ns].apxy end)
    end)
  end)

  it('has derivatives of first and second order', function()
    with_library(function(ns)
      local op = define_axpy(ns)
      local x, y = torch.randn(3, 2, on_device), torch.randn(3, 2, on_device)
      local function f(a, b) return op(a, b, { a = 2 }) end
      assert.is_true(torch.autograd.gradcheck(f, { x, y }))
      assert.is_true(torch.autograd.gradgradcheck(f, { x, y }))
      assert.equal('GeneratedBackwardFor_' .. ns .. '_axpy_defaultBackward', f(x, y).grad_fn:name())
    end)
  end)

  it('has tangents in forward mode, which its derivative gives', function()
    with_library(function(ns)
      local op = define_axpy(ns)
      local x, y = doubles({ 1, 2 }, false), doubles({ 0, 0 }, false)
      local value, tangent = torch.func.jvp(function(a) return op(a, y) end, { x }, { torch.ones_like(x) })
      assert.same({ 1, 8 }, value:tolist())
      assert.same({ 3, 12 }, tangent:tolist())
    end)
  end)

  it('runs sample by sample in vmap', function()
    with_library(function(ns)
      local lib = library.Library(ns)
      lib:define 'total(Tensor x) -> Tensor'
      lib:impl('total', function(x)
        assert.equal(1, x.ndim)
        return x:sum()
      end)
      local x = doubles({ { 1, 2 }, { 3, 4 } }, false)
      assert.same({ 3, 7 }, torch.func.vmap(torch.ops[ns].total)(x):tolist())
    end)
  end)

  it('computes a whole batch of vmap by the function of register_vmap', function()
    with_library(function(ns)
      local op = library.custom_op(ns .. '::shift', function(x, by) return x + by end, { mutates_args = {}, schema = '(Tensor x, *, float by=1) -> Tensor' })
      local seen
      op:register_vmap(function(info, in_dims, x, by)
        seen = { info.batch_size, in_dims[1], in_dims[2], x.ndim, by }
        return op(x, { by = by }), 1
      end)
      local x = doubles({ { 1, 2, 3 }, { 4, 5, 6 } }, false)
      assert.same({ { 3, 4, 5 }, { 6, 7, 8 } }, torch.func.vmap(function(row) return op(row, { by = 2 }) end)(x):tolist())
      assert.same({ 2, 1, false, 2, 2 }, seen)
      assert.same({ 3 }, torch.func.vmap(function() return op(doubles({ 2 }, false)) end, { out_dims = false })(x):tolist())
    end)
  end)

  it('runs in torch.compile between fused operations', function()
    with_library(function(ns)
      local op = define_axpy(ns)
      local x = torch.randn(100, on_device)
      local function f(a) return (op(a * 2, a) + 1):exp():sum() end
      local compiled = torch.compile(f, { options = { min_numel = 1 } })
      local expected, got = f(x), compiled(x)
      assert.equal(expected:item(), got:item())
      local a = torch.autograd.grad(expected, x)
      local b = torch.autograd.grad(got, x)
      assert.is_true(torch.equal(a, b))
    end)
  end)

  it('converts positions, dtypes and lists for its implementation', function()
    with_library(function(ns, lib)
      local seen
      lib:define 'kinds(Tensor[] list, IndexTensor at, Dim dim=-1, int[] size=1, *, Dtype? dtype=None, str mode="a") -> (IndexTensor, Tensor[])'
      lib:impl('kinds', function(list, at, dim, size, dtype, mode)
        seen = { #list, at:tolist(), dim, #size, size[1], dtype or 'none', mode }
        return at:clone(), { list[1]:clone(), list[2]:clone() }
      end)
      local x, at = doubles { 1 }, torch.tensor({ 1, 3 }, { device = device })
      local positions, copies = torch.ops[ns].kinds({ x, x + 1 }, at, 2, { 4, 5 }, { dtype = torch.int8 })
      assert.same({ 2, { 1, 3 }, 2, 2, 4, torch.int8, 'a' }, seen)
      assert.same({ 1, 3 }, positions:tolist())
      assert.same({ 2 }, copies[2]:tolist())
      torch.ops[ns].kinds({ x, x }, at)
      assert.same({ 2, { 1, 3 }, -1, 1, 1, 'none', 'a' }, seen)
    end)
  end)

  it('differentiates lists of arguments and of results', function()
    with_library(function(ns, lib)
      local name = lib:define 'halves(Tensor[] list, Tensor? scale) -> Tensor[]'
      lib:impl('halves', function(list, scale)
        local out = {}
        for i, t in ipairs(list) do out[i] = t / 2 * (scale or 1) end
        return out
      end)
      library.register_autograd(name, function(_, grads)
        local out = {}
        for i, grad in ipairs(grads) do out[i] = grad / 2 end
        return out, nil
      end)
      local x, y = doubles { 1, 2 }, doubles { 3 }
      local out = torch.ops[ns].halves({ x, y }, nil);
      (out[1]:sum() + 3 * out[2]:sum()):backward()
      assert.same({ 0.5, 0.5 }, x.grad:tolist())
      assert.same({ 1.5 }, y.grad:tolist())
    end)
  end)

  it('differentiates a Tensor[] among several results', function()
    with_library(function(ns, lib)
      local name = lib:define 'apart(Tensor x, int n) -> (Tensor, Tensor[], int)'
      local setup
      lib:impl('apart', function(x, n)
        local parts = {}
        for i = 1, n do parts[i] = x * i end
        return x * 10, parts, n
      end)
      library.register_autograd(name, function(_, of_first, of_parts)
        local grad = 10 * of_first
        for i, part in ipairs(of_parts) do grad = grad + i * part end
        return grad, nil
      end, { setup_context = function(_, _, output) setup = { #output, torch.is_tensor(output[1]), #output[2] } end })
      local x = doubles { 1, 2 }
      local first, parts, n = torch.ops[ns].apart(x, 2)
      assert.same({ 2, true, 2 }, setup)
      assert.same({ 2, { 2, 4 } }, { n, parts[2]:tolist() });
      (first:sum() + parts[1]:sum() + 5 * parts[2]:sum()):backward()
      assert.same({ 21, 21 }, x.grad:tolist())
    end)
  end)

  it('draws from the generator of the caller, during the call alone', function()
    with_library(function(ns, lib)
      local kept
      lib:define 'noise(Tensor x, *, Generator? generator=None) -> Tensor'
      lib:impl('noise', function(x, generator)
        kept = generator
        return x + torch.rand(#x, { generator = generator, device = x.device, dtype = x.dtype })
      end)
      local g, x = torch.Generator(device):manual_seed(3), torch.zeros(4, { device = device })
      local first, second = torch.ops[ns].noise(x, { generator = g }), torch.ops[ns].noise(x, { generator = g })
      g:manual_seed(3)
      assert.same(first:tolist(), torch.rand(4, { generator = g, device = device }):tolist())
      assert.same(second:tolist(), torch.rand(4, { generator = g, device = device }):tolist())
      expect_message('the generator belongs to a call that has ended', kept.initial_seed, kept)
      expect_message('the generator belongs to a call that has ended', torch.rand, 4, { generator = kept })
      torch.ops[ns].noise(x)
      assert.is_nil(kept)
    end)
  end)

  it('has an implementation for each type of device', function()
    with_library(function(ns)
      library.define(ns .. '::where', '(Tensor x) -> Tensor')
      expect_message('no implementation was registered; call torch.library.impl', torch.ops[ns].where, doubles { 1 })
      library.register_kernel(ns .. '::where', 'cpu', function(x) return x:new_full({ 1 }, 1) end)
      library.impl(ns .. '::where', { 'cuda' }, function(x) return x:new_full({ 1 }, 2) end)
      assert.equal(device == 'cpu' and 1 or 2, torch.ops[ns].where(doubles { 1 }):item())
      expect_message("unknown device type 'xpu'", library.impl, ns .. '::where', 'xpu', print)
    end)
  end)

  it('writes to the arguments that it names, and has then no derivative', function()
    with_library(function(ns)
      local op = library.custom_op(ns .. '::fill', function(x) x:fill_(7) end, { mutates_args = { 'x' }, schema = '(Tensor x) -> ()' })
      local x = doubles({ 1 }, false)
      local saved = (x * doubles { 2 })
      assert.equal(0, select('#', op(x)))
      assert.equal(7, x:item())
      expect_message('modified by an inplace operation', saved.backward, saved)
      expect_message('leaf Variable that requires grad', op, doubles { 1 })
      expect_message('Cannot register autograd formula for non-functional operator', op.register_autograd, op, function() end)
    end)
  end)

  it('writes to a view without gradients', function()
    with_library(function(ns)
      local op = library.custom_op(ns .. '::fill', function(x) x:fill_(7) end, { mutates_args = { 'x' }, schema = '(Tensor x) -> ()' })
      local x = doubles({ 1, 2 }, false)
      torch.no_grad(function() op(x:view(2, 1)) end)
      assert.same({ 7, 7 }, x:tolist())
    end)
  end)

  it('without a derivative is an error in backward', function()
    with_library(function(ns)
      local op = library.custom_op(ns .. '::copy', function(x) return x:clone() end, { mutates_args = {}, schema = '(Tensor x) -> Tensor' })
      local y = op(doubles { 1 })
      assert.is_true(y.requires_grad)
      expect_message(('Trying to backward through %s::copy but no autograd formula was registered'):format(ns), y.backward, y)
    end)
  end)

  it('must not return its argument', function()
    with_library(function(ns)
      local op = library.custom_op(ns .. '::same', function(x) return x end, { mutates_args = {}, schema = '(Tensor x) -> Tensor' })
      expect_message('must not also be an input to this custom operator', op, doubles { 1 })
      local view = library.custom_op(ns .. '::view', function(x) return x:reshape(1, -1) end, { mutates_args = {}, schema = '(Tensor x) -> Tensor' })
      expect_message('may not alias any inputs', view, doubles { 1 })
    end)
  end)

  it('passes errors of its functions on unchanged', function()
    with_library(function(ns)
      local reason = { 'a table' }
      local op = library.custom_op(ns .. '::bad', function(x) if x:numel() > 1 then error(reason) end return x:clone() end,
        { mutates_args = {}, schema = '(Tensor x) -> Tensor' })
      op:register_autograd(function() error(reason) end)
      local ok, value = pcall(op, doubles { 1, 2 })
      assert.is_false(ok)
      assert.equal(reason, value)
      local y = op(doubles { 1 })
      ok, value = pcall(y.backward, y)
      assert.is_false(ok)
      assert.equal(reason, value)
      op:register_autograd(function() return nil, nil, doubles { 1 } end)
      local z = op(doubles { 1 })
      expect_message('returned an incorrect number of gradients (expected 1, got 3)', z.backward, z)
    end)
  end)

  it('does not keep the tensors of a graph that is dropped', function()
    with_library(function(ns)
      local op = library.custom_op(ns .. '::square', function(x) return x * x end, { mutates_args = {}, schema = '(Tensor x) -> Tensor' })
      op:register_autograd(function(ctx, grad) return 2 * grad * ctx.saved_tensors[1] end,
        { setup_context = function(ctx, inputs, output) ctx:save_for_backward(inputs[1], output) end })
      local x = torch.ones(1000, on_device)
      local function live()
        collectgarbage()
        collectgarbage()
        return torch._C.memory_live(device)
      end
      if device ~= 'cpu' then return end
      op(x):sum():backward()
      x.grad = nil
      local before = live()
      for _ = 1, 50 do op(op(x)) end
      assert.is_true(live() - before < 20000)
    end)
  end)

  it('is recorded by torch.onnx.export as the operations of its implementation', function()
    with_library(function(ns)
      local op = define_axpy(ns)
      local Net = torch.nn.Module:extend 'Net'
      function Net:init() self.y = torch.nn.Parameter(torch.ones(2)) end
      function Net:forward(x) return op(x, self.y, { a = 2 }) end
      local path = os.tmpname() .. '.onnx'
      torch.onnx.export(Net(), torch.tensor { 1.0, 2.0 }, path)
      local loaded = torch.onnx.load(path)
      os.remove(path)
      assert.same({ 3, 17 }, loaded(torch.tensor { 1.0, 2.0 }):tolist())
    end)
  end)

  it('is described by its schema', function()
    expect_message("the argument 'schema' is missing", library.custom_op, 'a::b', print, { mutates_args = {} })
    expect_message("expected a name with a namespace, such as 'myops::axpy', got 'b'", library.define, 'b', '() -> ()')
    expect_message("unknown type 'Tensr' of an argument", library.define, 'own_spec::b', '(Tensr x) -> Tensor')
    expect_message("no operation 'own_spec::c' was defined", library.register_fake, 'own_spec::c', print)
    with_library(function(_, lib)
      lib:define 'f(Tensor x) -> Tensor'
      expect_message('already registered', lib.define, lib, 'f(Tensor x) -> Tensor')
      expect_message("the dispatch key 'Autograd' is not supported", lib.impl, lib, 'f', print, 'Autograd')
      lib:_destroy()
      lib:define 'f(Tensor x) -> Tensor'
    end)
  end)
end)

describe('torch.library.opcheck', function()
  it('finds an operation in order, and names what a wrong one lacks', function()
    with_library(function(ns)
      local op = define_axpy(ns)
      local x, y = doubles { 1, 2 }, doubles { 3, 4 }
      expect_message('has no fake function', library.opcheck, op, { x, y })
      op:register_fake(function(a) return torch.empty_like(a) end)
      for _, result in pairs(library.opcheck(op, { x, y }, { a = 3 })) do assert.equal('SUCCESS', result) end
      op:register_fake(function(a) return a.new_empty(a, { 3 }) end)
      expect_message('the fake function returned', library.opcheck, op, { x, y })
      local results = library.opcheck(op, { x, y }, nil, { raise_exception = false, test_utils = 'test_faketensor' })
      assert.truthy(results.test_faketensor:find('sizes', 1, true))
      local writes = library.custom_op(ns .. '::writes', function(a) a:zero_() return a + 1 end, { mutates_args = {}, schema = '(Tensor x) -> Tensor' })
      expect_message("changed its argument 'x', but the schema does not declare it", library.opcheck, writes, { doubles({ 1 }, false) })
    end)
  end)
end)

-- ---- operations in C ----------------------------------------------------------------------------

local compiler = os.getenv 'CC' or 'cc'
local has_compiler = os.execute(compiler .. ' --version >/dev/null 2>&1')
local source = [[
/* x^3 by two calls of the library. */
static lt_status product(lt_tensor *a, lt_tensor *b, lt_tensor **out)
{
    const lt_value args[] = {lt_value_tensor(a), lt_value_tensor(b)};
    lt_value result = lt_value_none();
    int n = 1;
    const lt_status status = lt->call("mul", args, 2, NULL, 0, &result, &n);
    *out = status == LT_OK ? result.v.tensor : NULL;
    return status;
}
static lt_status cube(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    lt_tensor *x = args[0].v.tensor, *square = NULL;
    lt_status status = product(x, x, &square);
    (void)user, (void)nargs, (void)nresults;
    results[0] = lt_value_tensor(NULL);
    if (status == LT_OK) status = product(square, x, &results[0].v.tensor);
    lt->tensor_release(square);
    return status;
}
/* 3 x^2 * grad */
static lt_status cube_derivative(void *user, const lt_op_gradient *g)
{
    lt_tensor *x = g->args[0].v.tensor, *square = NULL, *scaled = NULL;
    lt_value args[2] = {lt_value_none(), lt_value_int(3)}, result = lt_value_none();
    int n = 1;
    lt_status status = product(x, x, &square);
    (void)user;
    if (status == LT_OK) status = product(square, g->grads[0], &scaled);
    args[0] = lt_value_tensor(scaled);
    if (status == LT_OK) status = lt->call("mul", args, 2, NULL, 0, &result, &n);
    if (status == LT_OK) g->input_grads[0] = result.v.tensor;
    lt->tensor_release(square);
    lt->tensor_release(scaled);
    return status;
}
]]

describe('an operation in C', function()
  local folder = os.tmpname() .. '.d'
  teardown(function() os.execute(("rm -rf '%s'"):format(folder)) end)

  local function load_cube()
    return torch.utils.cpp_extension.load_inline { name = 'own_inline', c_sources = source, build_directory = folder,
      functions = { { 'cube(Tensor x) -> Tensor', derivative = 'cube_derivative', saves = 'x' } } }
  end

  it('is compiled, cached, and has derivatives of first and second order', function()
    if not has_compiler then return pending 'no C compiler' end
    local ops = load_cube()
    local x = torch.randn(4, on_device)
    assert.is_true(torch.allclose(x ^ 3, ops.cube(x)))
    assert.is_true(torch.autograd.gradcheck(torch.ops.own_inline.cube, { x }))
    assert.is_true(torch.autograd.gradgradcheck(torch.ops.own_inline.cube, { x }))
    local tangents = select(2, torch.func.jvp(ops.cube, { doubles({ 2 }, false) }, { doubles({ 1 }, false) }))
    assert.equal(12, tangents:item())
    assert.equal(27, torch.func.vmap(ops.cube)(doubles({ 2, 3 }, false))[2]:item())
    assert.equal(ops.cube, load_cube().cube) -- the same plugin is not opened again
  end)

  it('reports the messages of the compiler', function()
    if not has_compiler then return pending 'no C compiler' end
    expect_message("failed on the sources of 'own_wrong':\n", torch.utils.cpp_extension.load_inline, { name = 'own_wrong',
      c_sources = 'int f(void) { return nothing; }', functions = {}, build_directory = folder })
    expect_message("the name 'a b' is no namespace", torch.utils.cpp_extension.load_inline, 'a b', '')
    expect_message("entry 1 of functions must be a declaration", torch.utils.cpp_extension.load_inline, 'own_wrong', '', { 'f' })
  end)

  it('cannot be exported to ONNX', function()
    if not has_compiler then return pending 'no C compiler' end
    local ops = load_cube()
    local Net = torch.nn.Module:extend 'Net'
    function Net.forward(_, x) return ops.cube(x) end
    expect_message('own_inline::cube is written in C', torch.onnx.export, Net(), torch.ones(2), os.tmpname())
  end)
end)

describe('a plugin', function()
  local root = debug.getinfo(1, 'S').source:match '^@(.*)tests/lua/' or ''
  local folder = root .. 'tests/abi/plugin'

  local function compile(version, options)
    local path = os.tmpname()
    assert(os.execute(('%s -std=c99 -Wall -Wextra -Werror -shared -fPIC -I%s/%s %s %s/plugin.c -o %s'):format(compiler, folder, version, options, folder, path)))
    return path
  end

  local function check_plugin(path, namespace)
    torch.ops.load_library(path)
    torch.ops.load_library(path) -- once more has no effect
    local ops = torch.ops[namespace]
    local size, right, copies = ops.facts(torch.ones(2, { dtype = torch.float64 }))
    assert.equal(8, size)
    assert.is_true(right)
    assert.same({ 1, 1 }, copies[1]:tolist())
    local x = torch.tensor({ 1.0, 2.0 }, { dtype = torch.float64, requires_grad = true })
    local y = ops.scale(x, 3)
    assert.same({ 3, 6 }, y:tolist())
    assert.is_true(torch.autograd.gradcheck(ops.scale, { x }))
    expect_message(namespace .. '::scale: expected contiguous float64', ops.scale, torch.ones(2))
  end

  it('that was built with the header of an earlier version works', function()
    if not has_compiler then return pending 'no C compiler' end
    local path = compile('1', [[-DNAMESPACE='"compiled"']])
    check_plugin(path, 'compiled')
    os.remove(path)
  end)

  it('that was compiled for an earlier version works #native', function()
    local machine = assert(io.popen 'uname -m'):read 'l'
    if machine ~= 'x86_64' then return pending 'the kept plugin is for x86-64' end
    local kept = folder .. '/1/plugin.so'
    check_plugin(kept, 'frozen')
    local symbols = io.popen(('nm -D --undefined-only %s 2>/dev/null'):format(kept)):read 'a'
    assert.is_nil(symbols:find 'lt_', symbols) -- it calls the library through the table only
  end)

  it('that needs another version is rejected', function()
    if not has_compiler then return pending 'no C compiler' end
    local later = compile('1', '-DABI=2')
    expect_message('was built for version 2 of the plugin interface', torch.ops.load_library, later)
    os.remove(later)
    local larger = compile('1', '-DMORE=8')
    expect_message('needs functions of a later version of ltensor', torch.ops.load_library, larger)
    os.remove(larger)
    expect_message('is not a plugin: it exports no lt_plugin_declared', torch.ops.load_library, build .. '/libltensor_sim.so')
    expect_message('could not be loaded', torch.ops.load_library, '/nowhere.so')
  end)
end)
