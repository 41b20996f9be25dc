-- learning.lua - ai.onnx.ml: trees, linear models and feature preprocessing; TfIdfVectorizer.

local torch = require 'torch'
local values = require 'torch.onnx.values'

local ml, ops = {}, {}

function ml.ArrayFeatureExtractor(_, x, places)
  local columns = x:reshape(-1, x:size(-1))
  return columns:index_select(2, places:reshape(-1):to(torch.int64) + 1)
end

function ml.Binarizer(node, x) return x:gt(node.attributes.threshold or 0.0):to(x.dtype) end

function ml.Scaler(node, x)
  local a = node.attributes
  local function row(list) return torch.tensor(list or { 0.0 }, { dtype = torch.float32, device = x.device }) end
  return (x:to(torch.float32) - row(a.offset)) * row(a.scale or { 1.0 })
end

function ml.Normalizer(node, x)
  local norm = node.attributes.norm or 'MAX'
  if norm == 'MAX' then return x / x:amax(-1, true) end
  local length = norm == 'L1' and x:abs():sum(-1, true) or (x * x):sum(-1, true):sqrt()
  return torch.where(length:eq(0), x, x / length)
end

function ml.Imputer(node, x)
  local a = node.attributes
  local fill = torch.tensor(a.imputed_value_floats or a.imputed_value_int64s or { 0.0 }, { dtype = x.dtype, device = x.device })
  local missing = a.replaced_value_float or a.replaced_value_int64 or 0
  return torch.where(missing ~= missing and x:isnan() or x:eq(missing), fill, x)
end

function ml.FeatureVectorizer(_, ...)
  local parts = {}
  for i = 1, select('#', ...) do
    local part = select(i, ...)
    parts[i] = part:reshape(part:size(1), -1):to(torch.float32)
  end
  return torch.cat(parts, 2)
end

-- One-hot rows: 1 at the position of the category, 0 elsewhere.
ml.OneHotEncoder = {
  check = function(node) return node.attributes.cats_strings and 'categories that are strings, which ltensor does not have' or not node.attributes.cats_int64s and 'no categories' or nil end,
  fn = function(node, x)
    local categories = torch.tensor(node.attributes.cats_int64s, { dtype = torch.int64, device = x.device })
    local rows = x:to(torch.int64):unsqueeze(-1):eq(categories)
    if node.attributes.zeros == 0 and not rows:any(-1):all():item() then values.fail 'a number that is no category' end
    return rows:to(torch.float32)
  end,
}

-- For each row of scores a table: the score of each label.
ml.ZipMap = {
  check = function(node) return not node.attributes.classlabels_int64s and 'labels that are strings, which ltensor does not have' or nil end,
  fn = function(node, x)
    local labels, maps = node.attributes.classlabels_int64s, {}
    local rows = x:reshape(-1, #labels):tolist()
    for i, row in ipairs(rows) do
      maps[i] = {}
      for k, label in ipairs(labels) do maps[i][label] = row[k] end
    end
    return maps
  end,
}

-- Numbers to numbers by a list; strings are refused when the model is loaded.
ml.LabelEncoder = {
  check = function(node)
    local a = node.attributes
    if a.keys_strings or a.values_strings or a.classes_strings then return 'labels that are strings, which ltensor does not have' end
    if not (a.keys_int64s or a.keys_floats or a.keys_tensor) or not (a.values_int64s or a.values_floats or a.values_tensor) then return 'no keys or no values' end
  end,
  fn = function(node, x)
    local a = node.attributes
    local keys = a.keys_int64s or a.keys_floats or a.keys_tensor:tolist()
    local to = a.values_int64s or a.values_floats or a.values_tensor:tolist()
    local dtype = a.values_tensor and a.values_tensor.dtype or a.values_int64s and torch.int64 or torch.float32
    local default = a.default_tensor and a.default_tensor:reshape(-1):tolist()[1]
      or (a.values_int64s and (a.default_int64 or -1) or a.default_float or -0.0)
    if #keys ~= #to then values.fail('%d keys and %d values', #keys, #to) end
    local result = torch.full_like(x, default, { dtype = dtype })
    for i = #keys, 1, -1 do
      local key = keys[i]
      result = result:masked_fill(key ~= key and x:isnan() or x:eq(key), to[i])
    end
    return result
  end,
}

-- ---- trees --------------------------------------------------------------------------------------

local compare = { -- by the numbers of TreeEnsemble's nodes_modes, and the names of the older operators
  [0] = torch.le, torch.lt, torch.ge, torch.gt, torch.eq, torch.ne,
  BRANCH_LEQ = torch.le, BRANCH_LT = torch.lt, BRANCH_GTE = torch.ge, BRANCH_GT = torch.gt, BRANCH_EQ = torch.eq, BRANCH_NEQ = torch.ne,
}

-- Passes the samples (positions of rows) from a tree's node down to its leaves, and calls
-- leaf(number, rows). An entry of `nodes` is { feature =, value =, test =, members =, missing_true
-- =, yes =, no = } or { leaf = number }.
local function descend(nodes, root, x, leaf)
  local waiting = { { root, torch.arange(x:size(1), { device = x.device }) + 1, 0 } }
  while #waiting > 0 do
    local at, rows, depth = table.unpack(table.remove(waiting))
    local node = nodes[at] or values.fail('a branch leads to node %s, which does not exist', tostring(at))
    if depth > #nodes + 1 then values.fail 'the branches of a tree form a cycle' end
    if node.leaf then leaf(node.leaf, rows)
    elseif rows:numel() > 0 then
      local column = x:select(2, node.feature + 1):index_select(1, rows)
      local yes
      if node.members then
        yes = torch.zeros_like(column, { dtype = torch.bool })
        for member in pairs(node.members) do yes = yes:logical_or(column:eq(member)) end
      else
        yes = node.test(column, node.value)
      end
      if node.missing_true then yes = yes:logical_or(column:isnan()) end
      waiting[#waiting + 1] = { node.yes, rows:masked_select(yes), depth + 1 }
      waiting[#waiting + 1] = { node.no, rows:masked_select(yes:logical_not()), depth + 1 }
    end
  end
end

-- Reductions of the trees' leaves per target.
local AGGREGATES = { [0] = 'AVERAGE', 'SUM', 'MIN', 'MAX' }

local function ensemble(x, trees, n_targets, aggregate, weights_of, dtype)
  local start = aggregate == 'MIN' and math.huge or aggregate == 'MAX' and -math.huge or 0
  local scores = torch.full({ x:size(1), n_targets }, start, { dtype = torch.float64, device = x.device })
  for _, root in ipairs(trees.roots) do
    descend(trees.nodes, root, x, function(number, rows)
      for _, entry in ipairs(weights_of[number] or {}) do
        local target, weight = entry[1] + 1, entry[2]
        local column = scores:select(2, target)
        local old = column:index_select(1, rows)
        local new
        if aggregate == 'MIN' then new = old:clamp_max(weight) elseif aggregate == 'MAX' then new = old:clamp_min(weight) else new = old + weight end
        column:index_copy_(1, rows, new)
      end
    end)
  end
  if aggregate == 'AVERAGE' then scores = scores / #trees.roots end
  return scores:to(dtype)
end

-- The post-transforms of ai.onnx.ml, such as LOGISTIC.
local function transformed(scores, name)
  if name == 'LOGISTIC' or name == 2 then return scores:sigmoid() end
  if name == 'SOFTMAX' or name == 1 or name == 3 then return scores:softmax(-1) end
  if name == 'SOFTMAX_ZERO' then return torch.where(scores:eq(0), scores, scores:softmax(-1)) end
  if name == 'PROBIT' or name == 4 then return torch.erfinv(scores * 2 - 1) * math.sqrt(2) end
  return scores
end

local TRANSFORMS = { [0] = 'NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT' }

function ml.TreeEnsemble(node, x)
  local a = node.attributes
  local trees = node.trees
  if not trees then
    local splits, modes = a.nodes_splits:tolist(), a.nodes_modes:tolist()
    trees = { nodes = {}, roots = a.tree_roots, weights = {} }
    -- Interior nodes are keyed by number, leaves by string.
    local members, sets = a.membership_values and a.membership_values:tolist() or {}, {}
    local set = {}
    for _, value in ipairs(members) do
      if value ~= value then sets[#sets + 1], set = set, {} else set[value] = true end
    end
    local function child(number, is_leaf)
      if is_leaf ~= 1 then return number end
      local key = 'leaf ' .. number
      trees.nodes[key] = { leaf = number }
      return key
    end
    local next_set = 0
    for i, feature in ipairs(a.nodes_featureids) do
      local entry = { feature = feature, value = splits[i], test = compare[modes[i]],
        missing_true = a.nodes_missing_value_tracks_true and a.nodes_missing_value_tracks_true[i] == 1,
        yes = child(a.nodes_truenodeids[i], a.nodes_trueleafs[i]), no = child(a.nodes_falsenodeids[i], a.nodes_falseleafs[i]) }
      if modes[i] == 6 then
        next_set = next_set + 1
        entry.members = sets[next_set] or values.fail 'a set of members is missing'
      end
      trees.nodes[i - 1] = entry
    end
    local leaf_weights = a.leaf_weights:tolist()
    for i, target in ipairs(a.leaf_targetids) do trees.weights[i - 1] = { { target, leaf_weights[i] } } end
    node.trees = trees
  end
  local scores = ensemble(x, trees, a.n_targets or 1, AGGREGATES[a.aggregate_function or 1], trees.weights, x.dtype)
  return transformed(scores, TRANSFORMS[a.post_transform or 0])
end

-- The trees of the older operators: nodes are named by tree and number in it. kind: 'target' or
-- 'class'.
local function older_trees(a, kind)
  local trees, count, first = { nodes = {}, roots = {}, weights = {} }, 0, {}
  local number = {} -- by 'tree node'
  local ids, trees_of = a.nodes_nodeids or {}, a.nodes_treeids or {}
  for i, id in ipairs(ids) do number[trees_of[i] .. ' ' .. id] = i end
  for i, id in ipairs(ids) do
    local tree = trees_of[i]
    if not first[tree] then
      first[tree] = true
      count = count + 1
      trees.roots[count] = i
    end
    local mode = a.nodes_modes[i]
    if mode == 'LEAF' then trees.nodes[i] = { leaf = tree .. ' ' .. id }
    else
      trees.nodes[i] = { feature = a.nodes_featureids[i], value = a.nodes_values[i], test = compare[mode] or values.fail("a comparison '%s'", mode),
        missing_true = a.nodes_missing_value_tracks_true and a.nodes_missing_value_tracks_true[i] == 1,
        yes = number[tree .. ' ' .. a.nodes_truenodeids[i]], no = number[tree .. ' ' .. a.nodes_falsenodeids[i]] }
    end
  end
  local targets = a[kind .. '_ids'] or {}
  for i, target in ipairs(targets) do
    local key = a[kind .. '_treeids'][i] .. ' ' .. a[kind .. '_nodeids'][i]
    trees.weights[key] = trees.weights[key] or {}
    table.insert(trees.weights[key], { target, a[kind .. '_weights'][i] })
  end
  return trees
end

local function add_base(scores, base)
  return base and scores + torch.tensor(base, { dtype = scores.dtype, device = scores.device }) or scores
end

function ml.TreeEnsembleRegressor(node, x)
  local a = node.attributes
  node.trees = node.trees or older_trees(a, 'target')
  local scores = ensemble(x, node.trees, a.n_targets or 1, a.aggregate_function or 'SUM', node.trees.weights, torch.float32)
  return transformed(add_base(scores, a.base_values), a.post_transform)
end

-- Labels and scores of classes; a single column of scores means two classes.
local function classified(a, scores, labels)
  local post = a.post_transform
  if scores:size(2) == 1 and #labels == 2 then
    local positive = scores:select(2, 1)
    if post == 'LOGISTIC' then
      local p = positive:sigmoid()
      return torch.where(p:gt(0.5), labels[2], labels[1]):to(torch.int64), torch.stack({ 1 - p, p }, 2)
    end
    local is_probability = post == nil or post == 'NONE'
    return torch.where(positive:gt(is_probability and 0.5 or 0), labels[2], labels[1]):to(torch.int64),
      torch.stack({ is_probability and 1 - positive or -positive, positive }, 2)
  end
  local at = torch.argmax(scores, 2)
  return torch.tensor(labels, { dtype = torch.int64, device = scores.device }):index_select(1, at), transformed(scores, post)
end

local function number_labels(node)
  if node.attributes.classlabels_strings and #node.attributes.classlabels_strings > 0 then
    return 'labels that are strings, which ltensor does not have'
  end
end

ml.TreeEnsembleClassifier = { check = number_labels, fn = function(node, x)
  local a = node.attributes
  local labels = a.classlabels_int64s or {}
  node.trees = node.trees or older_trees(a, 'class')
  local columns = 1
  for _, id in ipairs(a.class_ids or {}) do columns = math.max(columns, id + 1) end
  if #labels > 2 then columns = #labels end
  local scores = ensemble(x, node.trees, columns, 'SUM', node.trees.weights, torch.float32)
  return classified(a, add_base(scores, a.base_values), labels)
end }

-- ---- linear models ------------------------------------------------------------------------------

local function linear_scores(a, x, n)
  local coefficients = torch.tensor(a.coefficients, { dtype = torch.float32, device = x.device }):view(n, -1)
  local scores = torch.matmul(x:to(torch.float32), coefficients:t())
  return a.intercepts and add_base(scores, a.intercepts) or scores
end

function ml.LinearRegressor(node, x)
  local a = node.attributes
  return transformed(linear_scores(a, x, a.targets or 1), a.post_transform)
end

ml.LinearClassifier = { check = number_labels, fn = function(node, x)
  local a = node.attributes
  local labels = a.classlabels_ints or {}
  local n = a.intercepts and #a.intercepts or #labels
  return classified(a, linear_scores(a, x, n), labels)
end }

-- ---- support vectors ----------------------------------------------------------------------------

-- The kernel of each row of x with each support vector (for a linear model without vectors, with
-- the coefficients).
local function kernels(a, x, vectors)
  local params, kind = a.kernel_params or {}, a.kernel_type or 'LINEAR'
  local gamma, coef, degree = params[1] or 0, params[2] or 0, params[3] or 0
  local products = torch.matmul(x, vectors:t())
  if kind == 'LINEAR' then return products end
  if kind == 'POLY' then return (products * gamma + coef):pow(degree) end
  if kind == 'SIGMOID' then return torch.tanh(products * gamma + coef) end
  if kind ~= 'RBF' then values.fail("a kernel '%s'", kind) end
  local distances = (x * x):sum(-1, true) - products * 2 + (vectors * vectors):sum(-1)
  return torch.exp(distances * -gamma)
end

function ml.SVMRegressor(node, x)
  local a = node.attributes
  local function list(numbers) return torch.tensor(numbers, { dtype = torch.float64, device = x.device }) end
  x = x:to(torch.float64)
  local n = a.n_supports or 0
  local scores
  if n > 0 then scores = torch.matmul(kernels(a, x, list(a.support_vectors):view(n, -1)), list(a.coefficients):view(-1, 1))
  else scores = kernels(a, x, list(a.coefficients):view(1, -1)) end
  scores = scores + (a.rho and a.rho[1] or 0)
  if a.one_class == 1 then scores = torch.where(scores:gt(0), 1.0, -1.0) end
  return transformed(scores:to(torch.float32), a.post_transform)
end

-- ---- counts of words ----------------------------------------------------------------------------

ops.TfIdfVectorizer = {
  check = function(node) return node.attributes.pool_strings and 'words that are strings, which ltensor does not have' or nil end,
  fn = function(node, x)
    local a = node.attributes
    local pool, starts, columns = a.pool_int64s or {}, a.ngram_counts, a.ngram_indexes
    -- The n-grams as texts: which column counts them.
    local known, width, index = {}, 0, 0
    for length, start in ipairs(starts) do
      local stop = starts[length + 1] or #pool
      for at = start + 1, stop, length do
        index = index + 1
        local words = table.concat(pool, ' ', at, math.min(at + length - 1, stop))
        known[words] = columns[index]
        width = math.max(width, columns[index] + 1)
      end
    end
    for _, column in ipairs(columns) do width = math.max(width, column + 1) end
    values.check_list(width)
    local function counts_of(words)
      local counts = {}
      for i = 1, width do counts[i] = 0.0 end
      for length = a.min_gram_length, a.max_gram_length do
        for skip = 0, length == 1 and 0 or a.max_skip_count do
          for at = 1, #words - (length - 1) * (skip + 1) do
            local gram = {}
            for k = 1, length do gram[k] = ('%d'):format(words[at + (k - 1) * (skip + 1)]) end
            local column = known[table.concat(gram, ' ')]
            if column then counts[column + 1] = counts[column + 1] + 1 end
          end
        end
      end
      for i = 1, width do
        local weight = 1.0
        for k, column in ipairs(columns) do
          if column + 1 == i and a.weights then weight = a.weights[k] end
        end
        if a.mode == 'IDF' then counts[i] = counts[i] > 0 and weight or 0.0 elseif a.mode == 'TFIDF' then counts[i] = counts[i] * weight end
      end
      return counts
    end
    if x:dim() < 2 then return torch.tensor(counts_of(x:reshape(-1):tolist()), { dtype = torch.float32 }) end
    local rows = {}
    for i, words in ipairs(x:tolist()) do rows[i] = counts_of(words) end
    return torch.tensor(rows, { dtype = torch.float32 })
  end,
}

return { ['ai.onnx.ml'] = ml, [''] = ops }
