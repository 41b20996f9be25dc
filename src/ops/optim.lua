-- optim.lua - fused optimizer steps over lists of parameters, gradients and state: one pass over memory each,
-- and few launches on a GPU. lib/optim keeps the state and calls them; the numbers are PyTorch's options.

local function step(signature, doc)
  return { signature .. ' -> self', variants = 'library', doc = doc }
end

return {
  step('fused_sgd_(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffers, float lr, float weight_decay, float momentum, float dampening, bool nesterov, bool maximize, bool is_first_step)',
    'A step of SGD; momentum_buffers is read with momentum only.'),
  step('fused_adam_(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, float step, float lr, float beta1, float beta2, float weight_decay, float eps, bool decoupled, bool amsgrad, bool maximize)',
    'A step of Adam; of AdamW when the weight decay is decoupled. max_exp_avg_sqs is read with amsgrad only.'),
  step('fused_nadam_(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, float step, float mu, float mu_next, float mu_product, float lr, float beta1, float beta2, float weight_decay, float eps, bool decoupled, bool maximize)',
    'A step of NAdam.'),
  step('fused_radam_(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, float step, float lr, float beta1, float beta2, float weight_decay, float eps, bool decoupled, bool maximize)',
    'A step of RAdam.'),
  step('fused_adagrad_(Tensor[] self, Tensor[] grads, Tensor[] sums, float step, float lr, float lr_decay, float weight_decay, float eps, bool maximize)',
    'A step of Adagrad.'),
  step('fused_adadelta_(Tensor[] self, Tensor[] grads, Tensor[] square_avgs, Tensor[] acc_deltas, float lr, float rho, float eps, float weight_decay, bool maximize)',
    'A step of Adadelta.'),
  step('fused_adamax_(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_infs, float step, float lr, float beta1, float beta2, float weight_decay, float eps, bool maximize)',
    'A step of Adamax.'),
  step('fused_rmsprop_(Tensor[] self, Tensor[] grads, Tensor[] square_avgs, Tensor[] grad_avgs, Tensor[] momentum_buffers, float lr, float alpha, float eps, float weight_decay, float momentum, bool centered, bool maximize)',
    'A step of RMSprop; grad_avgs is read when centered, momentum_buffers with momentum only.'),
  step('fused_asgd_(Tensor[] self, Tensor[] grads, Tensor[] averages, float eta, float lambd, float mu, float weight_decay, bool maximize)',
    'A step of averaged SGD.'),
  step('fused_rprop_(Tensor[] self, Tensor[] grads, Tensor[] prevs, Tensor[] step_sizes, float etaminus, float etaplus, float step_size_min, float step_size_max, bool maximize)',
    'A step of Rprop.'),
}
