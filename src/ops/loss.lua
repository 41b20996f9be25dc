-- loss.lua - losses and distances. reduction is 'mean', 'sum' or 'none'. Class targets are positions from 1 in Lua.

return {
  { "nll_loss(Tensor self, IndexTensor target, Tensor? weight=nil, Index ignore_index=-100, string reduction='mean') -> Tensor", batch = 'nll',
    variants = 'function', doc = 'The negative log likelihood: -self at the target class. self: [classes] or [n, classes, ...].',
    forward = 'linear', grad = { self = '_nll_loss_backward(grad, sizes_of(self), target, weight, ignore_index, reduction)' } },
  { '_nll_loss_backward(Tensor grad_output, Size sizes, IndexTensor target, Tensor? weight, Index ignore_index, string reduction) -> Tensor',
    batch = 'nll_backward', variants = '', doc = 'The derivative of nll_loss.',
    forward = 'linear', grad = { grad_output = 'nll_loss(grad, target, weight, ignore_index, reduction)' } },
  { "cross_entropy(Tensor input, IndexTensor target, Tensor? weight=nil, Index ignore_index=-100, string reduction='mean', float label_smoothing=0.0) -> Tensor", batch = 'through',
    variants = 'function', composite = true, reads = true, doc = 'nll_loss(log_softmax(input), target): the loss of unnormalized scores.' },
  { "cross_entropy.prob(Tensor input, Tensor target, Tensor? weight=nil, *, string reduction='mean', float label_smoothing=0.0) -> Tensor",
    variants = 'function', composite = true, reads = true, doc = 'The cross entropy with probabilities of the classes as targets.' },
  { "mse_loss(Tensor self, Tensor target, string reduction='mean', Tensor? weight=nil) -> Tensor", variants = 'function',
    composite = true, doc = 'The squared difference; with weights, the mean is over their sum.' },
  { "_mse_loss(Tensor self, Tensor target, string reduction) -> Tensor", batch = 'loss', variants = '', doc = 'mse_loss without weights.',
    forward = 'reduced', grad = { self = '_mse_loss_backward(grad, self, target, reduction)', target = '-_mse_loss_backward(grad, self, target, reduction)' } },
  { '_mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, string reduction) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of mse_loss.' },
  { "l1_loss(Tensor self, Tensor target, string reduction='mean', Tensor? weight=nil) -> Tensor", variants = 'function', composite = true,
    doc = 'The absolute difference; with weights, the mean is over their sum.' },
  { "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=nil, Tensor? pos_weight=nil, string reduction='mean') -> Tensor", batch = 'loss',
    variants = 'function', doc = 'The cross entropy of sigmoid(self) and target, computed without overflow.',
    forward = 'reduced', grad = { self = '_bce_with_logits_backward(grad, self, target, weight, pos_weight, reduction)',
      target = '_bce_with_logits_backward_target(grad, self, target, weight, pos_weight, reduction)' } },
  { "binary_cross_entropy_with_logits.nn(Tensor input, Tensor target, Tensor? weight=nil, string reduction='mean', Tensor? pos_weight=nil) -> Tensor",
    variants = 'nn', batch = 'through', composite = true, doc = 'The cross entropy of sigmoid(input) and target, computed without overflow.' },
  { '_bce_with_logits_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, Tensor? pos_weight, string reduction) -> Tensor',
    variants = '', composite = true, doc = 'The derivative of binary_cross_entropy_with_logits.' },
  { '_bce_with_logits_backward_target(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, Tensor? pos_weight, string reduction) -> Tensor',
    variants = '', composite = true, doc = 'The derivative of binary_cross_entropy_with_logits by its target.' },

  { "ctc_loss(Tensor log_probs, IndexTensor targets, Tensor input_lengths, Tensor target_lengths, Index blank=1, string reduction='mean', bool zero_infinity=false) -> Tensor",
    variants = 'nn', batch = 'loop', composite = true, reads = true,
    doc = 'The negative logarithm of the probability of targets [batch, labels] (or all labels in a row) in any alignment with log_probs [steps, batch, classes].' },

  -- ---- differences --------------------------------------------------------------------------------------------
  { "smooth_l1_loss(Tensor self, Tensor target, string reduction='mean', float beta=1.0) -> Tensor", batch = 'loss', variants = 'nn',
    doc = 'The absolute difference less beta / 2, and below beta the squared one over 2 * beta.',
    forward = 'reduced', grad = { self = '_smooth_l1_loss_backward(grad, self, target, reduction, beta)',
      target = '-_smooth_l1_loss_backward(grad, self, target, reduction, beta)' } },
  { '_smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, string reduction, float beta) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of smooth_l1_loss.' },
  { "huber_loss(Tensor input, Tensor target, string reduction='mean', float delta=1.0, Tensor? weight=nil) -> Tensor", variants = 'nn',
    composite = true, doc = 'Half the squared difference up to delta, from there on delta * (the absolute one - delta / 2).' },
  { '_huber_loss(Tensor self, Tensor target, string reduction, float delta) -> Tensor', batch = 'loss', variants = '', doc = 'huber_loss without weights.',
    forward = 'reduced', grad = { self = '_huber_loss_backward(grad, self, target, reduction, delta)',
      target = '-_huber_loss_backward(grad, self, target, reduction, delta)' } },
  { '_huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, string reduction, float delta) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of huber_loss.' },

  -- ---- likelihoods --------------------------------------------------------------------------------------------
  { "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=nil, string reduction='mean') -> Tensor", batch = 'loss', variants = 'nn',
    doc = 'The cross entropy of probabilities; logarithms are at least -100.',
    forward = 'reduced', grad = { self = '_binary_cross_entropy_backward(grad, self, target, weight, reduction)',
      target = '_binary_cross_entropy_backward_target(grad, self, target, weight, reduction)' } },
  { '_binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, string reduction) -> Tensor', variants = '',
    composite = true, doc = 'The derivative of binary_cross_entropy.' },
  { '_binary_cross_entropy_backward_target(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, string reduction) -> Tensor',
    variants = '', composite = true, doc = 'The derivative of binary_cross_entropy by its target.' },
  { "kl_div(Tensor input, Tensor target, string reduction='mean', bool log_target=false) -> Tensor", variants = 'nn', composite = true,
    doc = "target * (log(target) - input), for input of log-probabilities; reduction 'batchmean' divides by the batch size only." },
  { "poisson_nll_loss(Tensor input, Tensor target, bool log_input=true, bool full=false, float eps=1e-08, string reduction='mean') -> Tensor",
    variants = 'nn', composite = true, doc = 'exp(input) - target * input (input - target * log(input + eps) without log_input); full adds Stirling\'s approximation of log(target!).' },
  { "gaussian_nll_loss(Tensor input, Tensor target, Tensor|Scalar var, bool full=false, float eps=1e-06, string reduction='mean') -> Tensor",
    variants = 'nn', composite = true, doc = '(log(var) + (input - target)^2 / var) / 2, var at least eps; full adds the constant term.' },
  { "soft_margin_loss(Tensor self, Tensor target, string reduction='mean') -> Tensor", batch = 'loss', variants = 'nn',
    doc = 'log(1 + exp(-target * self)), for targets 1 and -1.', forward = 'reduced', grad = { self = '_soft_margin_loss_backward(grad, self, target, reduction)' } },
  { '_soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, string reduction) -> Tensor', variants = '', composite = true,
    doc = 'The derivative of soft_margin_loss.' },
  { "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=nil, string reduction='mean') -> Tensor", variants = 'nn',
    composite = true, doc = 'The mean over classes of the cross entropy of sigmoid(input) and target.' },

  -- ---- margins ------------------------------------------------------------------------------------------------
  { "hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, string reduction='mean') -> Tensor", variants = 'nn',
    composite = true, doc = 'input where target is 1, max(0, margin - input) where it is -1.' },
  { "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, string reduction='mean') -> Tensor", variants = 'nn',
    composite = true, doc = 'max(0, -target * (input1 - input2) + margin).' },
  { "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, string reduction='mean') -> Tensor", variants = 'nn',
    composite = true, doc = '1 - cosine where target is 1, max(0, cosine - margin) where it is -1.' },
  { "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool swap=false, string reduction='mean') -> Tensor",
    variants = 'nn', composite = true, doc = 'max(0, distance of anchor and positive - distance of anchor and negative + margin).' },
  { "multi_margin_loss(Tensor input, IndexTensor target, float p=1, float margin=1.0, Tensor? weight=nil, string reduction='mean') -> Tensor",
    variants = 'nn', composite = true, grad_fn = 'MultiMarginLossBackward0', reads = true, doc = 'The mean over the other classes of max(0, margin - input[target] + input)^p.' },
  { "multilabel_margin_loss(Tensor input, IndexTensor target, string reduction='mean') -> Tensor", variants = 'nn', composite = true, grad_fn = 'MultilabelMarginLossBackward0', reads = true,
    doc = 'As multi_margin_loss with several targets: a row of classes that ends at -1.' },

  -- ---- distances ----------------------------------------------------------------------------------------------
  { 'pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=false) -> Tensor', variants = 'function',
    composite = true, doc = 'The p-norm of x1 - x2 + eps over the last dimension.' },
  { 'cosine_similarity(Tensor x1, Tensor x2, Dim dim=2, float eps=1e-08) -> Tensor', variants = 'function', composite = true,
    doc = 'The cosine of the angle between x1 and x2 along dim; their lengths are at least eps.' },
  { 'normalize(Tensor input, float p=2.0, Dim dim=2, float eps=1e-12) -> Tensor', variants = 'nn copied_out', composite = true,
    doc = 'input over its p-norm along dim, which is at least eps.' },
  { 'pdist(Tensor input, float p=2.0) -> Tensor', variants = 'function', composite = true, grad_fn = 'PdistBackward0',
    doc = 'The p-norm distances of the rows of a matrix, each pair once.' },

  arguments = [=[
weight: Weight of each class or element; it broadcasts to the loss.
nll_loss.target: Class of each sample, from 1.
nll_loss.weight: Weight of each class.
cross_entropy.target (IndexTensor): Class of each sample, from 1.
cross_entropy.target (Tensor): Probabilities of the classes, of the shape of the input.
cross_entropy.weight: Weight of each class.
multi_margin_loss.target: Class of each sample, from 1.
multi_margin_loss.weight: Weight of each class.
multi_margin_loss.p: Exponent of the loss, 1 or 2.
multilabel_margin_loss.target: Classes of each sample, from 1; the first 0 ends them.
multilabel_soft_margin_loss.weight: Weight of each class.
soft_margin_loss.target: Labels 1 or -1, of the shape of the input.
hinge_embedding_loss.target: Labels 1 or -1, of the shape of the input.
margin_ranking_loss.target: 1 where the first input shall rank higher, -1 where the second one shall.
cosine_embedding_loss.target: 1 for similar pairs, -1 for dissimilar ones.
beta: Difference at which the loss changes from quadratic to linear.
delta: Difference at which the loss changes from quadratic to linear.
var: Variance of each expected value: a tensor, or a number.
p: Order p of the norm.
x1: First tensor.
x2: Second tensor, which broadcasts with the first one.
poisson_nll_loss.eps: Small number added to the argument of the logarithm.
gaussian_nll_loss.eps: Smallest variance.
triplet_margin_loss.eps: Small number added to the differences, for numerical stability.
pairwise_distance.eps: Small number added to the differences, for numerical stability.
cosine_similarity.eps: Smallest denominator.
normalize.eps: Smallest denominator.
]=],

  examples = [=[
nll_loss
    nn.functional.nll_loss(torch.tensor{ {-0.5, -1.5}, {-2.0, -0.1} }, torch.tensor{1, 2})
    --> tensor(0.3000)
cross_entropy
    nn.functional.cross_entropy(torch.tensor{ {2.0, 0.0}, {0.0, 2.0} }, torch.tensor{1, 2})
    --> tensor(0.1269)
mse_loss
    nn.functional.mse_loss(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 4.0})
    --> tensor(2.)
l1_loss
    nn.functional.l1_loss(torch.tensor{1.0, 2.0}, torch.tensor{1.0, 4.0}, {reduction = 'sum'})
    --> tensor(2.)
binary_cross_entropy_with_logits
    nn.functional.binary_cross_entropy_with_logits(torch.tensor{0.0, 10.0}, torch.tensor{1.0, 1.0})
    --> tensor(0.3466)
smooth_l1_loss
    nn.functional.smooth_l1_loss(torch.tensor{0.5, 3.0}, torch.zeros(2), {reduction = 'none'})
    --> tensor([0.1250, 2.5000])
huber_loss
    nn.functional.huber_loss(torch.tensor{0.5, 3.0}, torch.zeros(2), {reduction = 'none', delta = 2.0})
    --> tensor([0.1250, 4.0000])
binary_cross_entropy
    nn.functional.binary_cross_entropy(torch.tensor{0.5, 0.9}, torch.tensor{1.0, 1.0})
    --> tensor(0.3993)
kl_div
    p, q = torch.tensor{0.5, 0.5}, torch.tensor{0.25, 0.75}
    nn.functional.kl_div(q:log(), p, {reduction = 'sum'})
    --> tensor(0.1438)
poisson_nll_loss
    nn.functional.poisson_nll_loss(torch.tensor{0.0, 1.0}, torch.tensor{1.0, 2.0})
    --> tensor(0.8591)
gaussian_nll_loss
    nn.functional.gaussian_nll_loss(torch.tensor{0.0}, torch.tensor{2.0}, torch.tensor{1.0})
    --> tensor(2.)
soft_margin_loss
    nn.functional.soft_margin_loss(torch.tensor{2.0, -2.0}, torch.tensor{1.0, -1.0})
    --> tensor(0.1269)
multilabel_soft_margin_loss
    nn.functional.multilabel_soft_margin_loss(torch.tensor{ {3.0, -3.0} }, torch.tensor{ {1.0, 0.0} })
    --> tensor(0.0486)
hinge_embedding_loss
    nn.functional.hinge_embedding_loss(torch.tensor{0.5, 0.25}, torch.tensor{1.0, -1.0}, {reduction = 'none'})
    --> tensor([0.5000, 0.7500])
margin_ranking_loss
    nn.functional.margin_ranking_loss(torch.tensor{1.0}, torch.tensor{3.0}, torch.tensor{1.0})
    --> tensor(2.)
cosine_embedding_loss
    nn.functional.cosine_embedding_loss(torch.tensor{ {1.0, 0.0} }, torch.tensor{ {0.0, 1.0} }, torch.tensor{1})
    --> tensor(1.)
triplet_margin_loss
    nn.functional.triplet_margin_loss(torch.tensor{ {0.0} }, torch.tensor{ {0.5} }, torch.tensor{ {1.0} })
    --> tensor(0.5000)
multi_margin_loss
    nn.functional.multi_margin_loss(torch.tensor{ {0.1, 0.2, 0.7} }, torch.tensor{3})
    --> tensor(0.3000)
multilabel_margin_loss
    nn.functional.multilabel_margin_loss(torch.tensor{ {0.1, 0.2, 0.4, 0.8} }, torch.tensor{ {4, 1, 0, 2} })
    --> tensor(0.8500)
pairwise_distance
    nn.functional.pairwise_distance(torch.tensor{ {0.0, 0.0} }, torch.tensor{ {3.0, 4.0} })
    --> tensor([5.0000])
cosine_similarity
    nn.functional.cosine_similarity(torch.tensor{ {1.0, 0.0} }, torch.tensor{ {1.0, 1.0} })
    --> tensor([0.7071])
normalize
    nn.functional.normalize(torch.tensor{ {3.0, 4.0} })
    --> tensor([[0.6000, 0.8000]])
pdist
    torch.pdist(torch.tensor{ {0.0, 0.0}, {3.0, 4.0}, {0.0, 1.0} })
    --> tensor([5.0000, 1.0000, 4.2426])
ctc_loss
    log_probs, target = torch.zeros(4, 1, 3):log_softmax(3), torch.tensor{ {2, 3} }
    nn.functional.ctc_loss(log_probs, target, torch.tensor{4}, torch.tensor{2})
    --> tensor(0.8432)
]=],
}
