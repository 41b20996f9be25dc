-- algorithms.lua - torch.distributed.algorithms: communication hooks, and Join for uneven inputs.

return {
  ddp_comm_hooks = { default_hooks = require 'torch.distributed.algorithms.default_hooks' },
  join = require 'torch.distributed.algorithms.join',
  Join = require('torch.distributed.algorithms.join').Join,
}
