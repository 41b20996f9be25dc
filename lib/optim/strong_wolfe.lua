-- strong_wolfe.lua - a line search for a step that satisfies the strong Wolfe conditions: brackets
-- one, then narrows the bracket by cubic interpolation (J. Nocedal, S. Wright: Numerical
-- Optimization, algorithms 3.5 and 3.6; the safeguards are minFunc's).

local C1, C2 = 1e-4, 0.9

-- The minimum of the cubic through two points with values and slopes, within [least, most].
local function cubic_minimum(a, b, least, most)
  if not least then least, most = math.min(a.t, b.t), math.max(a.t, b.t) end
  local d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
  local square = d1 * d1 - a.slope * b.slope
  if not (square >= 0) then return (least + most) / 2 end
  local d2 = math.sqrt(square)
  if a.t > b.t then a, b = b, a end
  local t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
  return math.min(math.max(t, least), most)
end

-- at(t, d): value and gradient after a step t along d. f, g, slope: at 0. Returns value, gradient
-- and t of the step found, and the number of evaluations. options: tolerance_change; most: the
-- maximum number of evaluations for narrowing.
return function(at, t, d, f, g, slope, options)
  local evaluations = 0
  local function probe(step)
    local value, gradient = at(step, d)
    evaluations = evaluations + 1
    return { t = step, f = value, g = gradient, slope = gradient:dot(d):item() }
  end
  local function too_high(point) return point.f > f + C1 * point.t * slope end
  local function flat(point) return math.abs(point.slope) <= -C2 * slope end

  local start = { t = 0, f = f, g = g, slope = slope }
  local previous, point, bracket, done = start, probe(t), nil, false
  local iteration = 0
  while iteration < options.most do
    if too_high(point) or (iteration > 1 and point.f >= previous.f) then
      bracket = { previous, point }
      break
    elseif flat(point) then
      bracket, done = { point, point }, true
      break
    elseif point.slope >= 0 then
      bracket = { previous, point }
      break
    end
    local least, most = point.t + 0.01 * (point.t - previous.t), point.t * 10
    local next_t = cubic_minimum(previous, point, least, most)
    previous, point = point, probe(next_t)
    iteration = iteration + 1
  end
  bracket = bracket or { start, point }

  local size, stuck = d:abs():max():item(), false
  local low, high = 1, 2
  if bracket[1].f > bracket[2].f then low, high = 2, 1 end
  while not done and iteration < options.most do
    local a, b = bracket[1].t, bracket[2].t
    local least, most = math.min(a, b), math.max(a, b)
    if math.abs(b - a) * size < options.tolerance_change then break end
    local next_t = cubic_minimum(bracket[1], bracket[2])
    -- A step beyond an end, or close to one twice in succession, makes too little progress.
    local margin = 0.1 * (most - least)
    if math.min(most - next_t, next_t - least) < margin then
      if stuck or next_t >= most or next_t <= least then
        next_t = math.abs(next_t - most) < math.abs(next_t - least) and most - margin or least + margin
        stuck = false
      else
        stuck = true
      end
    else
      stuck = false
    end
    point = probe(next_t)
    iteration = iteration + 1
    if too_high(point) or point.f >= bracket[low].f then
      bracket[high] = point
      low, high = 1, 2
      if bracket[1].f > bracket[2].f then low, high = 2, 1 end
    else
      if flat(point) then
        done = true
      elseif point.slope * (bracket[high].t - bracket[low].t) >= 0 then
        bracket[high] = bracket[low]
      end
      bracket[low] = point
    end
  end
  local found = bracket[low]
  return found.f, found.g, found.t, evaluations
end
