-- nn.lua - torch.nn: loads each class from its file on first use, so that a program with three
-- kinds of layers loads three files.

-- Files that return a single value.
local where = {
  Module = 'module', Parameter = 'parameter', DataParallel = 'data_parallel',
  Sequential = 'containers.sequential', ModuleList = 'containers.module_list', ModuleDict = 'containers.module_dict',
  ParameterList = 'containers.parameter_list', ParameterDict = 'containers.parameter_dict',
  Identity = 'layers.identity', MultiheadAttention = 'layers.attention',
  LinearCrossEntropyOptions = 'layers.linear_cross_entropy_options',
  attention = 'attention', init = 'init', modules = 'modules', functional = 'functional', parallel = 'parallel', utils = 'utils',
}

-- Modules of layers/ that are a table of several classes.
local families = {
  linear = 'Linear Bilinear',
  flatten = 'Flatten Unflatten',
  dropout = 'Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout',
  embedding = 'Embedding EmbeddingBag',
  activation = 'ReLU Sigmoid Tanh Softmax LogSoftmax GELU SiLU LeakyReLU Softplus LogSigmoid Softsign Tanhshrink '
    .. 'ReLU6 SELU Mish Hardswish Hardsigmoid ELU CELU Hardtanh Softshrink Hardshrink GLU Threshold RReLU '
    .. 'PReLU Softmin Softmax2d',
  loss = 'L1Loss MSELoss SmoothL1Loss HuberLoss CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss KLDivLoss '
    .. 'PoissonNLLLoss GaussianNLLLoss SoftMarginLoss HingeEmbeddingLoss MarginRankingLoss '
    .. 'CosineEmbeddingLoss TripletMarginLoss TripletMarginWithDistanceLoss MultiMarginLoss '
    .. 'MultiLabelMarginLoss MultiLabelSoftMarginLoss CTCLoss LinearCrossEntropyLoss',
  conv = 'Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d',
  pooling = 'MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d '
    .. 'AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d '
    .. 'AdaptiveMaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d FractionalMaxPool2d FractionalMaxPool3d',
  batchnorm = 'BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d',
  sync_batchnorm = 'SyncBatchNorm',
  normalization = 'LayerNorm RMSNorm GroupNorm LocalResponseNorm CrossMapLRN2d',
  image = 'Upsample UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle PixelUnshuffle ChannelShuffle Unfold '
    .. 'Fold',
  padding = 'ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d '
    .. 'ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d CircularPad1d '
    .. 'CircularPad2d CircularPad3d',
  distance = 'CosineSimilarity PairwiseDistance',
  adaptive = 'AdaptiveLogSoftmaxWithLoss',
  rnn = 'RNN GRU LSTM RNNBase',
  rnn_cell = 'RNNCell GRUCell LSTMCell',
  lazy = 'LazyLinear LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d '
    .. 'LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d '
    .. 'UninitializedParameter UninitializedBuffer',
  transformer = 'TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder TransformerDecoder '
    .. 'Transformer',
}

local family_of = {}
for file, names in pairs(families) do
  for name in names:gmatch '%S+' do where[name], family_of[name] = 'layers.' .. file, true end
end

local nn = { __names = where }

return setmetatable(nn, {
  __index = function(_, name)
    local file = where[name]
    if not file then return nil end
    local value = require('torch.nn.' .. file)
    if family_of[name] then value = value[name] end
    rawset(nn, name, value)
    return value
  end,
})
