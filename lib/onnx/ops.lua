-- ops.lua - the functions of operators by domain. The functions are in ops/, one subject per file,
-- loaded if a model uses one of its operators.
--
-- A file returns { [domain] = { [operator] = entry } }. An entry is a function fn(node, inputs...)
-- -> outputs..., or a table: fn; since = the first version of the domain that has it; takes_frame:
-- fn(node, frame, inputs...), for bodies; is_random; grows (its result may be much larger than its
-- inputs): not evaluated at load time, unless it is a function that returns the number of elements
-- (a float, which cannot overflow) of the result; check(node) -> the error in a node, before
-- execution. node.version selects behaviour that changed between versions.

local M = {}

local NEWEST = 28 -- of ai.onnx

--- The operators of each file, by domain. onnx_spec compares them with the files.
M.files = {
  elementwise = { [''] = [[Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Clip Cos Cosh Div Equal Erf Exp Floor
    Greater GreaterOrEqual Identity IsInf IsNaN Less LessOrEqual Log Max Mean Min Mod Mul Neg Not Or Pow Reciprocal Round Sigmoid Sign Sin Sinh
    Sqrt Sub Sum Tan Tanh Where Xor]] },
  activation = { [''] = [[Celu Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu Relu Selu Shrink Softmax Softplus Softsign SwiGLU Swish
    ThresholdedRelu]] },
  cast = { [''] = [[BitCast Cast CastLike]] },
  reduce = { [''] = [[ArgMax ArgMin CumProd CumSum ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare TopK Unique]] },
  shape = { [''] = [[Concat Constant ConstantOfShape DepthToSpace Expand EyeLike Flatten Range Reshape Shape Size SpaceToDepth Split Squeeze Tile Transpose Trilu
    Unsqueeze]] },
  index = { [''] = [[Gather GatherElements GatherND OneHot Scatter ScatterElements ScatterND TensorScatter]] },
  select = { [''] = [[CenterCropPad Compress NonZero Pad ReverseSequence Slice]] },
  matmul = { [''] = [[Det Einsum Gemm MatMul]] },
  convolution = { [''] = [[Col2Im Conv ConvTranspose DeformConv]] },
  pool = { [''] = [[AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxUnpool]] },
  norm = { [''] = [[BatchNormalization Dropout GroupNormalization InstanceNormalization LRN LayerNormalization LpNormalization MeanVarianceNormalization
    RMSNormalization SimplifiedLayerNormalization]],
    ['com.microsoft'] = [[LayerNormalization SimplifiedLayerNormalization]] },
  recurrent = { [''] = [[GRU LSTM RNN]], ['com.microsoft'] = [[DynamicQuantizeLSTM]] },
  attention = { [''] = [[Attention CausalConvWithState LinearAttention RotaryEmbedding]],
    ['ai.onnx.preview'] = [[FlexAttention]] },
  control = { [''] = [[If Loop Scan]] },
  sequence = { [''] = [[ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert
    SequenceLength SequenceMap SplitToSequence]] },
  quantize = { [''] = [[ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul QuantizeLinear]] },
  random = { [''] = [[Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike]] },
  loss = { [''] = [[NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss]],
    ['ai.onnx.preview.training'] = [[Adagrad Adam Momentum]] },
  image = { [''] = [[AffineGrid GridSample ImageDecoder NonMaxSuppression RoiAlign]] },
  resize = { [''] = [[Resize Upsample]] },
  signal = { [''] = [[BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT]] },
  learning = { [''] = [[TfIdfVectorizer]],
    ['ai.onnx.ml'] = [[ArrayFeatureExtractor Binarizer FeatureVectorizer Imputer LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder Scaler
    SVMRegressor TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor ZipMap]] },
  microsoft = { ['com.microsoft'] = [[Attention BiasGelu BiasSoftmax DynamicQuantizeMatMul EmbedLayerNormalization FastGelu FusedConv FusedGemm FusedMatMul Gelu
    MatMulIntegerToFloat MultiHeadAttention QuickGelu SkipLayerNormalization SkipSimplifiedLayerNormalization TransposeMatMul]] },
  quantized = { ['com.microsoft'] = [[DequantizeLinear NhwcMaxPool QGemm QLinearAdd QLinearAveragePool QLinearConcat QLinearConv QLinearGlobalAveragePool
    QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeLinear]] },
}

local file_of = {} -- by domain and name
for file, domains in pairs(M.files) do
  for domain, names in pairs(domains) do
    local known = file_of[domain] or {}
    file_of[domain] = known
    for name in names:gmatch '%S+' do known[name] = file end
  end
end

local of_strings = { StringConcat = true, StringNormalizer = true, StringSplit = true, RegexFullMatch = true }

--- The entry of an operator for a domain's version; or nil and the reason.
function M.find(domain, op, version)
  local known = file_of[domain]
  local shown = domain == '' and 'ai.onnx' or domain
  if domain == 'com.microsoft.nchwc' then
    return nil, 'onnxruntime optimized this model for the processor it ran on (ORT_ENABLE_ALL); save it with ORT_ENABLE_EXTENDED instead'
  end
  if not known then return nil, ("ltensor has no operators of the domain '%s', and the model no function of this name"):format(shown) end
  local file = known[op]
  if of_strings[op] then return nil, ("'%s' is of strings, elements which ltensor does not have"):format(op) end
  if not file then return nil, ("ltensor has no operator '%s' of %s, and the model no function of this name"):format(op, shown) end
  if version > NEWEST and domain == '' then return nil, ('version %d of ai.onnx is not supported; the newest supported version is %d'):format(version, NEWEST) end
  local entry = require('torch.onnx.ops.' .. file)[domain][op]
  return type(entry) == 'function' and { fn = entry } or entry
end

return M
