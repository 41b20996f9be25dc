---@meta
-- values.lua - the annotations of constants in modules of torch for editors and the reference.

---@class torch.distributed.ReduceOp
---@field SUM any  Sum.
---@field AVG any  Mean.
---@field PRODUCT any  Product.
---@field MIN any  Minimum.
---@field MAX any  Maximum.
---@field BAND any  Bitwise and.
---@field BOR any  Bitwise or.
---@field BXOR any  Bitwise exclusive or.

---@class torch.distributed.GroupMember
---@field NON_GROUP_MEMBER any  Result of `new_group` on ranks that are not in the group.

---@class torch.nn.attention.SDPBackend
---@field MATH any  Attention by ordinary ops.
---@field FLASH_ATTENTION any  The flash attention kernel.
---@field EFFICIENT_ATTENTION any  The memory-efficient attention kernel.
---@field CUDNN_ATTENTION any  cuDNN's attention.

---@class torch.profiler.ProfilerActivity
---@field CPU any  Ops on the CPU.
---@field CUDA any  Kernels on GPUs.

---@class torch.profiler.ProfilerAction
---@field NONE any  The step is not recorded.
---@field WARMUP any  The step is not kept.
---@field RECORD any  The step is recorded.
---@field RECORD_AND_SAVE any  The step is recorded, and the recording ends with it.

---@class torch.distributions.transforms
---@field identity_transform any  Transform that changes nothing.

---@class torch.distributions.constraint_registry
---@field biject_to any  Function of a constraint that returns a bijection from unconstrained numbers to it.
---@field transform_to any  Function of a constraint that returns a transform from unconstrained numbers to it.

---@class torch.distributions.constraints
---@field boolean any  0 or 1.
---@field corr_cholesky any  Lower Cholesky factors of correlation matrices.
---@field dependent any  Constraint that depends on other parameters.
---@field lower_cholesky any  Lower triangular matrices with a positive diagonal.
---@field lower_triangular any  Lower triangular matrices.
---@field nonnegative any  Numbers from 0.
---@field nonnegative_integer any  Integers from 0.
---@field one_hot any  Vectors with one 1 and zeros.
---@field positive any  Numbers above 0.
---@field positive_definite any  Positive definite matrices.
---@field positive_integer any  Integers from 1.
---@field positive_semidefinite any  Positive semidefinite matrices.
---@field real any  All numbers except NaN.
---@field real_vector any  Vectors of numbers.
---@field simplex any  Vectors of numbers from 0 that add up to 1.
---@field square any  Square matrices.
---@field symmetric any  Symmetric matrices.
---@field unit_interval any  Numbers from 0 to 1.

---@class torch.distributions
---@field biject_to any  Function of a constraint that returns a bijection from unconstrained numbers to it.
---@field transform_to any  Function of a constraint that returns a transform from unconstrained numbers to it.
---@field identity_transform any  Transform that changes nothing.
