-- modules.lua - torch.nn.modules.module: hooks of all modules, by PyTorch's names. They are meant
-- for debugging and profiling: each returns a handle with remove().
--
--   register_module_forward_pre_hook(fn),
--   register_module_forward_hook(fn, {with_kwargs = false, always_call = false}),
--   register_module_full_backward_pre_hook(fn), register_module_full_backward_hook(fn): as the
--   methods of a module, called before the module's own.
--   register_module_parameter_registration_hook(fn), register_module_buffer_registration_hook(fn),
--   register_module_module_registration_hook(fn): fn(module, name, value) when a value is
--   registered; its result, unless nil, replaces the value.

return { module = require 'torch.nn.module.hooks'.registering }
