-- gaussian.lua - d2l: covariances for Gaussian processes.

local torch = require 'torch'

local M = {}

--- The squared distances of the rows of X and Y (numbers, where they have one dimension): [#X, #Y].
function M.distance_matrix(X, Y)
  if X:dim() == 1 then X = X:unsqueeze(2) end
  if Y:dim() == 1 then Y = Y:unsqueeze(2) end
  return (X:unsqueeze(2) - Y:unsqueeze(1)):square():sum(3)
end

--- The squared exponential kernel: amplitude^2 exp(-|x1 - x2|^2 / (2 ls^2)) for all pairs; ls: the
-- length scale.
function M.rbfkernel(x1, x2, ls, amplitude)
  return torch.exp(M.distance_matrix(x1, x2) / (-2 * (ls or 4) ^ 2)) * (amplitude or 1) ^ 2
end

return M
