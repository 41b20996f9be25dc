-- ordered_dict.lua - the metatable of tables that keep the order of their names: the names stand at 1..#dict, the
-- values under the names, and pairs() walks name, value in that order. What state_dict() and torch.load return.

return {
  __name = 'OrderedDict',
  __pairs = function(dict)
    local i = 0
    return function()
      i = i + 1
      local key = dict[i]
      if key ~= nil then return key, dict[key] end
    end
  end,
}
