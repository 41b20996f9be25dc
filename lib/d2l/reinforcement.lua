-- reinforcement.lua - d2l: FrozenLake, the grid environment of the chapter on reinforcement
-- learning, with the interface and maps of Gymnasium's environment; states and actions are
-- positions, from 1.

local torch = require 'torch'
local declare = require 'torch.support.arguments'
local fail = require 'torch.support.fail'
local tools = require 'torch.d2l.tools'

local M = {}

-- S: start, F: ice, H: hole, G: goal. Actions 1 to 4: left, down, right, up.
local MAPS = {
  ['4x4'] = { 'SFFF', 'FHFH', 'FFFH', 'HFFG' },
  ['8x8'] = { 'SFFFFFFF', 'FFFFFFFF', 'FFFHFFFF', 'FFFFFHFF', 'FFFHFFFF', 'FHHFFFHF', 'FHFFHFHF', 'FFFHFFFG' },
}
local MOVES = { { 0, -1 }, { 1, 0 }, { 0, 1 }, { -1, 0 } }
local ARROWS = { '←', '↓', '→', '↑' }

local read = declare.reader [[d2l.FrozenLake(string|table map='4x4', boolean is_slippery=false)]]

--- FrozenLake {map = '4x4' | '8x8' | list of rows, is_slippery = false}: num_states, num_actions,
--- and mdp[state][action], a list of {probability, next state, reward, done}. On slippery ice, a
--- move goes in the chosen direction with probability 1/3, otherwise sideways.
M.FrozenLake = tools.HyperParameters:extend 'd2l.FrozenLake'

function M.FrozenLake:init(...)
  local options = read(...)
  self.rows = type(options.map) == 'table' and options.map or MAPS[options.map]
  if not self.rows or #self.rows == 0 then fail("FrozenLake(): map is '4x4', '8x8' or a list of rows, not %s", tostring(options.map)) end
  self.height, self.width = #self.rows, #self.rows[1]
  self.num_states, self.num_actions = self.height * self.width, #MOVES
  self.mdp = {}
  for state = 1, self.num_states do
    self.mdp[state] = {}
    for action = 1, self.num_actions do self.mdp[state][action] = self:_outcomes(state, action, options.is_slippery) end
  end
  self:reset()
end

function M.FrozenLake:_tile(state)
  local row, column = (state - 1) // self.width + 1, (state - 1) % self.width + 1
  return self.rows[row]:sub(column, column), row, column
end

function M.FrozenLake:_outcomes(state, action, is_slippery)
  local tile, row, column = self:_tile(state)
  if tile == 'H' or tile == 'G' then return { { 1.0, state, 0.0, true } } end
  local list = {}
  for _, turn in ipairs(is_slippery and { -1, 0, 1 } or { 0 }) do
    local move = MOVES[(action - 1 + turn) % #MOVES + 1]
    local to_row, to_column = math.min(math.max(row + move[1], 1), self.height), math.min(math.max(column + move[2], 1), self.width)
    local next_state = (to_row - 1) * self.width + to_column
    local there = self:_tile(next_state)
    list[#list + 1] = { is_slippery and 1 / 3 or 1.0, next_state, there == 'G' and 1.0 or 0.0, there == 'G' or there == 'H' }
  end
  return list
end

--- Back to the start; returns its state.
function M.FrozenLake:reset()
  for state = 1, self.num_states do
    if self:_tile(state) == 'S' then self.state = state end
  end
  return self.state
end

--- Acts: the next state, the reward, and whether it has ended. Chance is torch's generator.
function M.FrozenLake:step(action)
  local outcomes = self.mdp[self.state][action] or fail('step(): actions are 1 to %d, not %s', self.num_actions, tostring(action))
  local at = #outcomes == 1 and 1 or torch.randint(1, #outcomes + 1, { 1 }):item()
  self.state = outcomes[at][2]
  return outcomes[at][2], outcomes[at][3], outcomes[at][4]
end

--- Text of a policy (a tensor, an action for each state): arrows, H for holes, G for the goal, one
-- line for each row.
function M.FrozenLake:show_policy(policy)
  local lines = {}
  for row = 1, self.height do
    local cells = {}
    for column = 1, self.width do
      local state = (row - 1) * self.width + column
      local tile = self:_tile(state)
      cells[column] = (tile == 'H' or tile == 'G') and tile or ARROWS[policy[state]:item()]
    end
    lines[row] = table.concat(cells, ' ')
  end
  return table.concat(lines, '\n')
end

--- make_env('FrozenLake-v1', {seed = 0}): the lake, with torch's generator set to the seed.
function M.make_env(name, options)
  if name ~= 'FrozenLake-v1' and name ~= '' then fail("make_env(): expected 'FrozenLake-v1', but got '%s'", tostring(name)) end
  options = options or {}
  if options.seed then torch.manual_seed(options.seed) end
  return M.FrozenLake(options.map, options.is_slippery)
end

return M
