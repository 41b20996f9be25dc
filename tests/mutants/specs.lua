-- specs.lua - which specs could notice an edit of a file, the likeliest first. After them run.lua runs all others.

local M = {}

-- The first pattern that a path matches decides.
local MAP = {
  { '^src/core/autograd/', 'autograd gradcheck reference memory training' },
  { '^src/core/mem', 'memory limits cuda_memory fault' }, { '^src/core/tensor', 'views strides limits memory reference' },
  { '^src/core/cpu/index', 'indexing reference views' }, { '^src/core/cpu/random', 'random distributions reference' },
  { '^src/core/cpu/convolution', 'convolution reference nn' }, { '^src/core/cpu/.*conv', 'convolution reference' }, { '^src/core/cpu/direct', 'convolution reference' }, { '^src/core/cpu/dnnl', 'convolution reference' },
  { '^src/core/cpu/vector', 'float_math reference strides random_expressions optim' }, { '^src/core/cpu/pool', 'reference nn functional' },
  { '^src/core/cpu', 'reference strides views' }, { '^src/core/ops/linalg', 'linalg reference gradcheck' },
  { '^src/core/lapack', 'linalg reference' }, { '^src/core/ops/.*norm', 'reference nn gradcheck' }, { '^src/core/ops/loss', 'reference functional gradcheck' },
  { '^src/core/ops/distr', 'distributions random reference' }, { '^src/core/ops/index', 'indexing reference gradcheck' },
  { '^src/core/ops/attention', 'nn_attention reference gradcheck' }, { '^src/core/ops/recurrent', 'nn_recurrent reference' }, { '^src/core/ops/conv', 'convolution reference gradcheck' },
  { '^src/core/ops', 'reference gradcheck views functional' },
  { '^src/core/safetensors', 'files formats' }, { '^src/core/.*form', 'reference float_math optim' }, { '^src/core/byte', 'formats files' }, { '^src/core/atomic', 'files formats' },
  { '^src/core/image', 'image' }, { '^src/core/print', 'printing' }, { '^src/core/profile', 'profiler' }, { '^src/core/copies', 'cuda_copies' }, { '^src/core/random', 'random distributions' },
  { '^src/core/error', 'errors fault limits' }, { '^src/core', 'reference views memory' },
  { '^src/lua/index', 'indexing views errors' }, { '^src/lua/args', 'arguments errors reference' }, { '^src/lua/byte', 'formats files' }, { '^src/lua/files', 'files formats' }, { '^src/lua/graph', 'cuda_graph' },
  { '^src/lua/autocast', 'autocast' }, { '^src/lua/cuda', 'cuda cuda_copies cuda_memory' }, { '^src/lua/stream', 'cuda cuda_order' }, { '^src/lua/worker', 'data' }, { '^src/lua/image', 'image' }, { '^src/lua/ledger', 'cuda_copies' },
  { '^src/lua/gunzip', 'idx formats' }, { '^src/lua/profile', 'profiler' }, { '^src/lua/random', 'random' }, { '^src/lua/autograd', 'autograd' }, { '^src/lua', 'arguments errors coverage views autograd' },
  { '^src/cuda/graph', 'cuda_graph' }, { '^src/cuda/pinned', 'cuda_pinned' }, { '^src/cuda/alloc', 'cuda_memory' }, { '^src/cuda/stream', 'cuda_order cuda' }, { '^src/cuda/event', 'cuda_order cuda' }, { '^src/cuda/wait', 'cuda_order cuda_errors' },
  { '^src/cuda/transfer', 'cuda_copies cuda' }, { '^src/cuda', 'random_expressions reference cuda cuda_order cuda_memory' },
  { '^lib/nn/utils', 'nn reference' }, { '^lib/nn/lazy', 'nn_lazy' }, { '^lib/nn/init', 'nn_init reference' }, { '^lib/nn/rnn', 'nn_recurrent reference' }, { '^lib/nn/recurrent', 'nn_recurrent reference' }, { '^lib/nn/.*parallel', 'data_parallel' },
  { '^lib/nn/functional', 'functional reference' }, { '^lib/nn/attention', 'nn_attention reference' }, { '^lib/nn/transformer', 'nn_attention reference' }, { '^lib/nn', 'nn nn_modules reference containers coverage' },
  { '^lib/optim/lr', 'scheduler' }, { '^lib/optim', 'optim reference containers' }, { '^lib/distributions', 'distributions reference' }, { '^lib/utils/data/csv', 'csv data' }, { '^lib/utils/data/idx', 'idx' }, { '^lib/utils/data/image', 'image' },
  { '^lib/utils/data/text', 'text' }, { '^lib/utils/data', 'data containers' }, { '^lib/utils/training', 'training progress_plot' }, { '^lib/utils/p', 'progress_plot' }, { '^lib/utils/experiment', 'training' }, { '^lib/utils', 'training data progress_plot autograd' },
  { '^lib/autograd', 'autograd gradcheck' }, { '^lib/pt', 'pt_legacy formats' }, { '^lib/unpickle', 'pt_legacy formats' }, { '^lib/zip', 'formats files' }, { '^lib/npy', 'formats' }, { '^lib/serial', 'files formats pt_legacy' }, { '^lib/amp', 'autocast' },
  { '^lib/cuda', 'cuda cuda_memory' }, { '^lib/profiler', 'profiler' }, { '^lib/linalg', 'linalg' }, { '^lib', 'arguments errors nn coverage' },
  { '^repl/edit/history', 'repl/history repl/prompt' }, { '^repl/edit', 'repl/editing repl/keys repl/display repl/prompt' }, { '^repl/notebook/json', 'repl/jupyter' }, { '^repl/notebook/ipynb', 'repl/jupyter' }, { '^repl/notebook', 'repl/notebook repl/compare repl/cells' },
  { '^repl/magic', 'repl/commands' }, { '^repl/help', 'repl/commands' }, { '^repl/echo', 'repl/echo' }, { '^repl/options', 'repl/program' }, { '^repl/main', 'repl/program' }, { '^repl', 'repl/prompt repl/cells repl/commands repl/program' },
}

-- Those that measure rather than judge, and what runs whole suites of its own.
local LEFT_OUT = { ['repl/speed'] = true, bench_cuda = true }

--- Names of the specs for a path, the likeliest first; and whether they also run on simulated GPUs.
function M.of(path, exists)
  local names, seen = {}, {}
  for _, entry in ipairs(MAP) do
    if path:find(entry[1]) then
      for name in entry[2]:gmatch '%S+' do
        if exists[name] then names[#names + 1], seen[name] = name, true end
      end
      break
    end
  end
  local first = #names
  local rest = {}
  for name in pairs(exists) do
    if not seen[name] and not LEFT_OUT[name] then rest[#rest + 1] = name end
  end
  table.sort(rest)
  table.move(rest, 1, #rest, #names + 1, names)
  return names, first, path:find '^src/cuda' ~= nil or path:find '^src/lua/graph' ~= nil or path:find 'cuda' ~= nil
end

return M
