-- d2l.lua - the companion of the book "Dive into Deep Learning" (A. Zhang, Z. C. Lipton, M. Li, A.
-- J. Smola; d2l.ai): the functions and classes that its chapters save, under the book's names.
--
--   d2l = require 'd2l'
--   trainer = d2l.Trainer {max_epochs = 3}
--   model = d2l.SoftmaxRegression {num_outputs = 10, lr = 0.1}
--   trainer:fit(model, d2l.FashionMNIST {batch_size = 256})
--
-- Each name is loaded from its file on first use. Positions (tokens, classes, boxes, states) count
-- from 1. Data that the book downloads are read from local files or generated: see each dataset.

local where = {}
for file, names in pairs {
  tools = 'add_to_class HyperParameters Timer Accumulator cpu gpu num_gpus try_gpu try_all_gpus size sized accuracy sgd squared_loss linreg',
  board = 'ProgressBoard Animator plot show_images show_heatmaps',
  models = 'Module Classifier',
  data = 'DataModule load_array find_file',
  trainer = 'Trainer',
  linear = 'SyntheticRegressionData LinearRegressionScratch LinearRegression SGD SoftmaxRegression',
  fashion = 'FashionMNIST load_data_fashion_mnist',
  convolutional = 'corr2d init_cnn LeNet Residual ResNeXtBlock ResNet resnet18',
  text = 'Vocab TimeMachine tokenize',
  sequences = 'truncate_pad MTFraEng Encoder Decoder EncoderDecoder init_seq2seq Seq2SeqEncoder Seq2SeqDecoder Seq2Seq bleu',
  attention = 'masked_softmax DotProductAttention AdditiveAttention MultiHeadAttention PositionalEncoding AttentionDecoder Seq2SeqAttentionDecoder',
  transformer = 'PositionWiseFFN AddNorm TransformerEncoderBlock TransformerEncoder TransformerDecoderBlock TransformerDecoder PatchEmbedding ViTMLP ViTBlock ViT',
  optimization = 'train_2d show_trace_2d get_data_ch11 train_ch11 train_concise_ch11',
  performance = 'Benchmark split_batch evaluate_accuracy_gpu train_batch_ch13 train_ch13 grad_clipping evaluate_loss',
  gaussian = 'rbfkernel distance_matrix',
  adversarial = 'update_D update_G',
  hyperparameters = 'HPOTrainer HPOSearcher RandomSearcher HPOScheduler BasicScheduler HPOTuner SuccessiveHalvingScheduler LogUniform RandInt',
  reinforcement = 'FrozenLake make_env',
  boxes = 'box_corner_to_center box_center_to_corner box_iou multibox_prior assign_anchor_to_bbox offset_boxes offset_inverse multibox_target nms '
    .. 'multibox_detection show_bboxes',
  pictures = 'BananasDataset load_data_bananas VOC_COLORMAP VOC_CLASSES voc_colormap2label voc_label_indices voc_rand_crop read_voc_images VOCSegDataset '
    .. 'normalize_image',
  word_vectors = 'subsample get_centers_and_contexts RandomGenerator get_negatives batchify load_data_ptb TokenEmbedding',
  bert = 'get_tokens_and_segments BERTEncoder MaskLM NextSentencePred BERTModel get_mlm_data_from_tokens get_nsp_data_from_paragraph WikiTextDataset '
    .. 'load_data_wiki get_batch_loss_bert',
  judgements = 'read_imdb load_data_imdb predict_sentiment read_snli SNLIDataset load_data_snli predict_snli BiRNN TextCNN DecomposableAttention',
  recurrent = 'RNNScratch LSTMScratch RNN GRU RNNLMScratch RNNLM',
} do
  for name in names:gmatch '%S+' do where[name] = file end
end

local d2l = { __names = where }

return setmetatable(d2l, {
  __index = function(_, name)
    local file = where[name]
    if not file then return nil end
    local value = require('torch.d2l.' .. file)[name]
    rawset(d2l, name, value)
    return value
  end,
})
