local network = require 'network'
for _ = 1, 4 do network.train(100) end

-- A terminal that draws nothing: it prints how far a curve is from the network.
local points = {}
term.xmax, term.ymax = 1000, 1000
term.h_char, term.v_char, term.h_tic, term.v_tic = 10, 20, 10, 10

local function add(x, y)
  points[#points + 1] = { x = 2 * x / term.xmax - 1, y = y / term.ymax }
end
function term.options() return 1 end
function term.graphics() points = {} end
term.move, term.vector = add, add
for _, name in ipairs { 'init', 'linetype', 'dashtype', 'linewidth', 'point', 'pointsize', 'put_text', 'justify_text', 'text_angle', 'set_font', 'set_color', 'layer',
  'reset' } do
  term[name] = function() return 1 end
end

function term.text()
  local largest = 0
  for _, point in ipairs(points) do
    largest = math.max(largest, math.abs(network.predict(point.x) - point.y))
  end
  gp.write(('%d points, largest difference %.2f\n'):format(#points, largest))
end
