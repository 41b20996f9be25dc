---@meta
-- modules.lua - annotations for editors of the base classes nn.Module and Optimizer. Derived
-- classes are generated (classes.lua beside this file in an installation, build/meta/classes.lua
-- after make docs).

---An object of a class. Each object has its own fields.
---@class torch.Object
---@field [string] any

---A class; derive from it with extend: Model = nn.Module:extend 'Model'.
---@class torch.Class
---@overload fun(...: any): any
---@field super torch.Class?
---@field [string] any
local Class = {}

---Returns a class that derives from this one.
---@param name string
---@return torch.Class
function Class:extend(name) end

---Whether the value is an object of this class, or of one that derives from it.
---@param value any
---@return boolean
function Class:is_instance(value) end

---@class torch.nn.Module: torch.Object
---@field training boolean
---@overload fun(...: any): torch.Tensor, any
local Module = {}

---Moves parameters and buffers to a device, a dtype, or both; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@param target torch.device|torch.dtype|torch.Tensor|string|table
---@param dtype? torch.dtype
---@return T
function Module.to(self, target, dtype) end

---Moves parameters and buffers to a GPU; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@param device? torch.device|string|integer
---@return T
function Module.cuda(self, device) end

---Moves parameters and buffers to the CPU; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@return T
function Module.cpu(self) end

---Converts floating-point parameters and buffers to float32; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@return T
function Module.float(self) end

---Converts floating-point parameters and buffers to float64; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@return T
function Module.double(self) end

---Converts floating-point parameters and buffers to float16; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@return T
function Module.half(self) end

---Converts floating-point parameters and buffers to bfloat16; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@return T
function Module.bfloat16(self) end

---Sets training mode, in which dropout and batch normalization behave differently, in all modules; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@param mode? boolean
---@return T
function Module.train(self, mode) end

---Sets evaluation mode in all modules; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@return T
function Module.eval(self) end

---Sets whether autograd records operations on the parameters; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@param on? boolean
---@return T
function Module.requires_grad_(self, on) end

---Calls fn with every module in this one, the innermost first; returns the module itself.
---@generic T: torch.nn.Module
---@param self T
---@param fn fun(module: torch.nn.Module)
---@return T
function Module.apply(self, fn) end

---The computation of a call of the module; derived classes define it.
---@param ... any
---@return any
function Module:forward(...) end

---The parameters, each once.
---@param recurse? boolean
---@return torch.Tensor[]
function Module:parameters(recurse) end

---An iterator over the names and the parameters.
---@return fun(): string, torch.Tensor
function Module:named_parameters() end

---The buffers, each once.
---@return torch.Tensor[]
function Module:buffers() end

---An iterator over the names and the buffers.
---@return fun(): string, torch.Tensor
function Module:named_buffers() end

---The direct submodules.
---@return torch.nn.Module[]
function Module:children() end

---All modules in this one, itself first.
---@return torch.nn.Module[]
function Module:modules() end

---Sets the gradients of the parameters to nil or, with set_to_none = false, to zeros.
---@param options? {set_to_none?: boolean}
function Module:zero_grad(options) end

---Parameters and buffers by name, in order.
---@return table<string, torch.Tensor>
function Module:state_dict() end

---Copies a state into parameters and buffers.
---@param dict table<string, torch.Tensor>
---@param options? {strict?: boolean, assign?: boolean}
function Module:load_state_dict(dict, options) end

---Registers a tensor that moves with the module but is not learned; part of state_dict if it is persistent.
---@param name string
---@param tensor torch.Tensor?
---@param persistent? boolean
function Module:register_buffer(name, tensor, persistent) end

---Registers a parameter under a name; assigning it to the field does the same.
---@param name string
---@param parameter torch.Tensor?
function Module:register_parameter(name, parameter) end

---Registers a module under a name; assigning it to the field does the same.
---@param name string
---@param module torch.nn.Module
function Module:add_module(name, module) end

---@class torch.nn.Module.class: torch.Class
---@field extend fun(self: torch.nn.Module.class, name: string): torch.nn.Module.class
---@overload fun(...: any): torch.nn.Module

---@class torch.nn
---@field functional torch.nn.functional
---@field Module torch.nn.Module.class
---@field Parameter fun(data: torch.Tensor, requires_grad?: boolean): torch.Tensor
---@field init table
---@field utils table

---@class torch.optim.Optimizer: torch.Object
---@field param_groups table[]
local Optimizer = {}

---One step along the gradients. With a closure, which computes the loss and its gradients, returns the loss.
---@generic T
---@param closure? fun(): T
---@return T?
function Optimizer:step(closure) end

---Sets the gradients of all parameters to nil or, with set_to_none = false, to zeros.
---@param options? {set_to_none?: boolean}
function Optimizer:zero_grad(options) end

---Adds a group of parameters with options of its own.
---@param group {params: torch.Tensor[]}
function Optimizer:add_param_group(group) end

---The state and the options of the groups, for a checkpoint.
---@return table
function Optimizer:state_dict() end

---Restores the state and the options of a checkpoint.
---@param dict table
function Optimizer:load_state_dict(dict) end

---@class torch.optim
---@field Optimizer torch.Class
---@field lr_scheduler torch.optim.lr_scheduler
