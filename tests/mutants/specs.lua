-- specs.lua - which specs, and which programs of tests/core (their names end in _test), could notice an edit of a file.

local M = {}

-- The first pattern that a path matches decides.
local MAP = {
  { '^src/core/own', 'own_test own own_lua_test catalog_test fork_test' }, { '^src/lua/own', 'own own_lua_test' }, { '^src/lua/model', 'model_lua_test models' }, { '^lib/model', 'models model_lua_test' }, { '^lib/lm/template', 'chat_template' }, { '^lib/lm/lora', 'lora' }, { '^lib/lm/gguf', 'gguf gguf_save lm' }, { '^lib/lm/tok', 'tokenizer lm' }, { '^lib/lm', 'lm lm_cache llama lm_families quantized' },
  { '^src/core/cpu/quantized', 'quantized_blocks quantized' }, { '^src/core/ops/convert/blocks', 'quantized_blocks' }, { '^lib/quantized', 'quantized' }, { '^repl/lm', 'repl/lm' },
  { '^src/core/expression', 'kernel_elementwise formula_test' }, { '^src/lua/formula', 'kernel_elementwise' }, { '^src/lua/cuda/user_kernel', 'cuda_user_kernel' }, { '^src/cuda/sim/user', 'cuda_user_kernel' },
  { '^src/core/compile', 'compile compile_fused compile_reference deferred_test compile_graph' }, { '^src/core/cpu/compile', 'compile_fused compile_reference' }, { '^src/lua/compile', 'compile compile_graph' }, { '^lib/compile', 'compile compile_graph compile_programs' },
  { '^src/core/sparse', 'sparse sparse_test' }, { '^lib/sparse', 'sparse' }, { '^src/core/interop', 'dlpack arrow dlpack_test arrow_import_test arrow_export_test' }, { '^src/lua/interop', 'dlpack arrow arrow_lua_test' },
  { '^src/core/api', 'call_test catalog_test host_test hosting_test out_test context_test' }, { '^src/lua/script', 'script_lua_test script_limits_lua_test repl/long_calls' }, { '^src/core/memory', 'mem_test allocator_test limits lifetime memory' },
  { '^lib/c_source', 'c_source' }, { '^repl/bundle', 'c_source repl/app' }, { '^lib/onnx', 'onnx onnx_export' }, { '^lib/export', 'export export_operators' }, { '^lib/d2l', 'd2l' }, { '^lib/func', 'vmap transforms forward_ad functional' }, { '^lib/vision', 'image_transforms vision_audio' }, { '^lib/audio', 'vision_audio' }, { '^lib/fft', 'fft' }, { '^lib/ops', 'reference linalg functional' }, { '^lib/library', 'own' },
  { '^repl/python', 'repl/python python_data' }, { '^repl/debug', 'repl/debug repl/conditions repl/dap repl/jupyter_debug' }, { '^repl/conditions', 'repl/conditions' }, { '^repl/jupyter', 'repl/jupyter repl/kernel repl/jupyter_debug repl/magic' }, { '^repl/program/close_scopes', 'lua53' }, { '^repl/doctor', 'repl/doctor' }, { '^repl/system', 'repl/shell repl/prompt repl/long_calls repl/debug' },
  { '^src/core/autograd/', 'autograd lifetime random_pairs reference gradcheck inplace_activation training memory' },
  { '^src/core/mem', 'mem_test limits lifetime memory cuda_memory fault' }, { '^src/core/tensor', 'views strides limits overlap reference memory' },
  { '^src/core/cpu/index', 'indexing overlap reference views' }, { '^src/core/cpu/random', 'random distributions reference' },
  { '^src/core/cpu/products/convolution', 'convolution reference nn' }, { '^src/core/cpu/products/col', 'convolution reference' }, { '^src/core/cpu/products/direct', 'convolution reference' }, { '^src/core/cpu/products/dnnl', 'convolution reference' },
  { '^src/core/cpu/vector', 'thresholds float_math reference elementwise strides optim' }, { '^src/core/cpu/nn/pool', 'functional reference nn' },
  { '^src/core/cpu/reduce', 'reductions reference thresholds threads softmax' },
  { '^src/core/cpu', 'thresholds reference strides elementwise views' }, { '^src/core/ops/linalg', 'linalg reference gradcheck' },
  { '^src/core/libraries/lapack', 'linalg reference threads' }, { '^src/core/ops/.*norm', 'nn_norms thresholds reference nn gradcheck' }, { '^src/core/ops/loss', 'thresholds functional reference gradcheck' },
  { '^src/core/ops/random', 'distributions random reference' }, { '^src/core/ops/index', 'indexing reference gradcheck' },
  { '^src/core/ops/attention', 'attention nn_attention reference gradcheck' }, { '^src/core/ops/recurrent', 'nn_recurrent reference' }, { '^src/core/ops/conv', 'convolution reference gradcheck' },
  { '^src/core/ops/batch', 'vmap transforms gradcheck' }, { '^src/core/ops/sparse', 'sparse sparse_test errors' },
  { '^src/core/ops', 'functional reference errors limits gradcheck views thresholds' },
  { '^src/core/files/safetensors', 'safetensors_test files formats' }, { '^src/core/.*form', 'float_math reference optim' }, { '^src/core/files/byte', 'formats files' }, { '^src/core/files/atomic', 'files formats' },
  { '^src/core/files/image', 'image' }, { '^src/core/print', 'printing' }, { '^src/core/context/profile', 'profiler' }, { '^src/core/devices/copies', 'cuda_copies cuda_memory' }, { '^src/core/random', 'random distributions' },
  { '^src/core/error', 'errors fault limits' }, { '^src/core/overlap', 'overlap' }, { '^src/core/context/interrupt', 'interrupt_test' }, { '^src/core/formulas/draw', 'draws random' }, { '^src/core', 'overlap thresholds reference views memory' },
  { '^src/lua/index', 'indexing views errors' }, { '^src/lua/arg', 'arguments errors indexing reference' }, { '^src/lua/files/image', 'image' }, { '^src/lua/files/gunzip', 'idx formats' }, { '^src/lua/files', 'files formats' }, { '^src/lua/cuda/graph', 'cuda_graph' },
  { '^src/lua/settings/autocast', 'autocast' }, { '^src/lua/cuda/stream', 'cuda cuda_order' }, { '^src/lua/cuda/ledger', 'cuda_copies' }, { '^src/lua/cuda', 'cuda cuda_copies cuda_memory' }, { '^src/lua/system/worker', 'data' },
  { '^src/lua/settings/profile', 'profiler' }, { '^src/lua/settings/random', 'random' }, { '^src/lua/autograd', 'autograd' }, { '^src/lua', 'arguments errors coverage views autograd' },
  { '^src/cuda/runtime/graph', 'cuda_graph' }, { '^src/cuda/runtime/pinned', 'cuda_pinned' }, { '^src/cuda/runtime/alloc', 'cuda_memory' }, { '^src/cuda/runtime/stream', 'cuda_order cuda' }, { '^src/cuda/runtime/event', 'cuda_order cuda' }, { '^src/cuda/runtime/wait', 'cuda_order cuda_errors' },
  { '^src/cuda/libraries/handles', 'sim_libraries_test linalg' }, { '^src/cuda/runtime/transfer', 'cuda_copies cuda' }, { '^src/cuda/sim', 'sim_test cuda_order cuda_graph cuda_memory cuda thresholds' }, { '^src/cuda/kernels/random', 'random draws distributions' }, { '^src/cuda/kernels/index', 'deterministic indexing reference' }, { '^src/cuda', 'thresholds random_expressions reference cuda cuda_order cuda_memory' },
  { '^lib/nn/utils', 'nn reference' }, { '^lib/nn/layers/lazy', 'nn_lazy' }, { '^lib/nn/init', 'nn_init reference' }, { '^lib/nn/layers/rnn', 'nn_recurrent reference' }, { '^lib/nn/functional/recurrent', 'nn_recurrent reference' }, { '^lib/nn/.*parallel', 'data_parallel' },
  { '^lib/nn/functional', 'functional reference' }, { '^lib/nn/layers/attention', 'nn_attention reference' }, { '^lib/nn/layers/transformer', 'nn_attention reference' }, { '^lib/nn', 'nn nn_norms nn_modules containers functional coverage reference' },
  { '^lib/optim/lr', 'scheduler' }, { '^lib/optim', 'optim reference containers' }, { '^lib/distributions', 'distributions reference' }, { '^lib/utils/data/csv', 'csv data' }, { '^lib/utils/data/idx', 'idx' }, { '^lib/utils/data/image', 'image' },
  { '^lib/utils/log', 'log' }, { '^lib/utils/epochs', 'epochs' }, { '^lib/utils/csv_rows', 'csv log' }, { '^lib/utils/data/csv', 'csv log' }, { '^src/core/files/csv', 'csv' }, { '^src/lua/files/csv', 'csv' }, { '^lib/utils/data/text', 'text' }, { '^lib/utils/data', 'data containers' }, { '^lib/utils/training', 'training progress_plot' }, { '^lib/utils/p', 'progress_plot' }, { '^lib/utils/experiment', 'training' }, { '^lib/utils', 'training data progress_plot autograd' },
  { '^lib/distributed/[co]', 'distributed distributed_checkpoint distributed_sharding' }, { '^lib/distributed', 'distributed distributed_training distributed_sharding' }, { '^src/comm', 'distributed distributed_mpi' },
  { '^lib/support', 'arguments errors words nn coverage' }, { '^lib/autograd', 'autograd gradcheck' }, { '^lib/files/pt', 'pt_legacy formats' }, { '^lib/files/unpickle', 'pt_legacy formats' }, { '^lib/files/zip', 'zip formats files' }, { '^lib/files/npy', 'formats' }, { '^lib/files/serial', 'files formats pt_legacy' }, { '^lib/amp', 'autocast' },
  { '^lib/cuda', 'cuda cuda_memory' }, { '^lib/profiler', 'profiler' }, { '^lib/linalg', 'linalg' }, { '^lib', 'arguments errors nn coverage' },
  { '^repl/edit/history', 'repl/history repl/prompt' }, { '^repl/edit', 'repl/editing repl/keys repl/display repl/prompt' }, { '^repl/notebook/json', 'repl/jupyter' }, { '^repl/notebook/ipynb', 'repl/jupyter' }, { '^repl/notebook', 'repl/notebook repl/compare repl/cells' },
  { '^repl/magic', 'repl/commands' }, { '^repl/help', 'repl/commands' }, { '^repl/echo', 'repl/echo repl/magic repl/kernel repl/jupyter_debug' }, { '^repl/program/options', 'repl/program' }, { '^repl/program/main', 'repl/program' }, { '^repl', 'repl/prompt repl/cells repl/commands repl/program' },
}

-- Of the specs that run on a simulated GPU too: those worth it for an edit outside of the GPU's backend.
local ON_GPU = { reference = true, optim = true, data_parallel = true, random_expressions = true, thresholds = true, deterministic = true, printing = true }
-- Those that start processes with simulated GPUs of their own, and do so when the tests' device is the CPU.
local ON_CPU = {}
for name in ([[cuda cuda_copies cuda_errors cuda_fault cuda_graph cuda_memory cuda_order cuda_pinned cuda_visible memory backend_version
  fault data_parallel]]):gmatch '%S+' do
  ON_CPU[name] = true
end

-- Specs that take long, and the paths that they are about: others are not tried on them.
local FILES = { '^lib/files/pt', '^lib/files/unpickle', '^lib/files/zip', '^lib/files/npy', '^lib/files/serial', '^lib/utils/data', '^src/lua/files',
  '^src/core/files/byte', '^src/core/files/atomic', '^src/core/files/safetensors' }
local GPUS = { '^src/cuda', '^src/lua/cuda', '^src/core/devices', '^lib/cuda' }
local ABOUT = {
  formats = FILES, pt_legacy = FILES, idx = FILES, files = FILES, cuda_fault = GPUS, cuda_errors = GPUS, cuda_order = GPUS, cuda_graph = GPUS, backend_version = GPUS,
  memory = { '^src/core/mem', '^src/core/tensor', '^src/core/autograd', '^src/lua/object', '^src/lua/state', '^src/lua/tensor', '^src/lua/autograd', '^src/cuda/runtime/alloc' },
  convolution = { 'conv', '^src/core/cpu/products', '^src/core/cpu/vector' }, gradcheck = { '^src/core', '^lib/autograd', '^src/cuda' },
  fault = { '^src/core', '^src/lua' }, progress_plot = { '^lib/utils', '^lib/plot' },
}

local function is_about(name, path)
  for _, pattern in ipairs(ABOUT[name] or { '' }) do
    if path:find(pattern) then return true end
  end
  return false
end

-- Those that measure rather than judge, and what runs whole suites of its own.
local LEFT_OUT = { ['repl/speed'] = true, bench_cuda = true }

--- The specs for a path, those that are likeliest to notice first: a list of { name, on_gpu }, and how many of them are likely. What
--- is under the prompt is left to its own specs, and they to it. Kernels of a GPU are seen on a GPU alone.
function M.of(path, exists)
  local stages, seen = {}, {}
  local in_prompt, in_cuda = path:find '^repl/' ~= nil, path:find '^src/cuda' ~= nil
  local on_gpu_too = in_cuda or path:find 'cuda'
  local function add(name, on_gpu)
    local key = name .. (on_gpu and '@' or '')
    if seen[key] or not exists[name] or LEFT_OUT[name] then return end
    seen[key] = true
    stages[#stages + 1] = { name, on_gpu }
  end
  for _, entry in ipairs(MAP) do
    if path:find(entry[1]) then
      for name in entry[2]:gmatch '%S+' do
        local program = name:find '_test$'
        if on_gpu_too and not program then add(name, true) end
        if not in_cuda or program or ON_CPU[name] then add(name, false) end
      end
      break
    end
  end
  local likely = #stages
  for name in pairs(exists) do
    local of_prompt, program = name:find '^repl/' ~= nil, name:find '_test$' ~= nil
    if program then
      if path:find '^src/core' or path:find '^src/cuda/sim' or path:find '^src/lua' and name:find '_lua_test$' then add(name, false) end
    elseif is_about(name, path) and (in_prompt == of_prompt or name == 'words' or name == 'scripts') then
      if in_cuda or not in_prompt and (name:find 'cuda' or ON_GPU[name] and path:find '^src/') then add(name, true) end
      if not in_cuda or ON_CPU[name] then add(name, false) end
    end
  end
  return stages, likely
end

return M
