-- recording.lua - reads recordings for the models of this folder: one channel, 16000 samples per
-- second.

local torch = require 'torch'

local M = { RATE = 16000 }

--- The samples of a WAV file, averaged over its channels. script: the experiment
--- (utils/experiment.lua); its fail() reports errors.
function M.read(script, path)
  if not path then script:fail '--audio requires a WAV file' end
  local ok, samples, rate = pcall(torch.audio.load, path)
  if not ok then script:fail((tostring(samples):gsub('^[^\n]-:%d+: ', ''))) end
  if rate ~= M.RATE then script:fail(('%s has %d samples a second, the model expects %d'):format(path, rate, M.RATE)) end
  if samples:size(2) == 0 then script:fail(path .. ' is empty') end
  return samples:mean(1)
end

return M
