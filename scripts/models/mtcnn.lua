-- MTCNN (K. Zhang et al. 2016): face detection with a cascade of three networks. A small fully
-- convolutional network proposes boxes at many scales of the image; two larger ones reject
-- proposals and refine the boxes; the last also locates the eyes, the nose and the corners of the
-- mouth.
--
--   ltensor scripts/models/mtcnn.lua --weights facenet_pytorch/data --image people.jpg

local torch = require 'torch'
local experiment = require 'torch.utils.experiment'
local nn, F = torch.nn, torch.nn.functional

local script = experiment.new {
  name = 'mtcnn',
  summary = 'Finds faces in a picture.',
  options = {
    { 'weights', false, 'DIR', 'folder of pnet.pt, rnet.pt and onet.pt, of the package facenet-pytorch' },
    { 'image', false, 'FILE', 'a PNG or JPEG file' },
    { 'smallest', 20, 'N', 'pixels of the smallest face', minimum = 12 },
    { 'save', false, 'FILE', 'keeps boxes, points, and what the networks gave for the first box (.npz)' },
  },
}

local FACTOR = 0.709 -- ratio of successive image scales
local THRESHOLDS = { 0.6, 0.7, 0.7 }

-- ---- the networks -------------------------------------------------------------------------------

-- Convolutions { channels, kernel, kernel of the pooling or nil }, each with a PReLU, named conv1,
-- prelu1 ... as in the files.
local function add_convolutions(net, list)
  local inputs = 3
  net.n, net.pools = #list, {}
  for i, layer in ipairs(list) do
    net['conv' .. i], net['prelu' .. i] = nn.Conv2d(inputs, layer[1], layer[2]), nn.PReLU { num_parameters = layer[1] }
    net.pools[i] = layer[3] or false
    inputs = layer[1]
  end
end

local function convolved(net, x)
  for i = 1, net.n do
    x = net['prelu' .. i](net['conv' .. i](x))
    if net.pools[i] then x = F.max_pool2d(x, net.pools[i], { stride = 2, ceil_mode = true }) end
  end
  return x
end

local function flat(x) return x:permute(1, 4, 3, 2):reshape(x:size(1), -1) end

-- Returns for each position the offsets of its box, [n, 4, h, w], and the probabilities of no face
-- and of a face, [n, 2, h, w].
local Proposals = nn.Module:extend 'Proposals'
function Proposals:init()
  add_convolutions(self, { { 10, 3, 2 }, { 16, 3 }, { 32, 3 } })
  self.conv4_1, self.conv4_2 = nn.Conv2d(32, 2, 1), nn.Conv2d(32, 4, 1)
end
function Proposals:forward(x)
  local y = convolved(self, x)
  return self.conv4_2(y), torch.softmax(self.conv4_1(y), 2)
end

-- For crops of 24 x 24: offsets [n, 4] and probabilities [n, 2].
local Refinement = nn.Module:extend 'Refinement'
function Refinement:init()
  add_convolutions(self, { { 28, 3, 3 }, { 48, 3, 3 }, { 64, 2 } })
  self.dense4, self.prelu4 = nn.Linear(576, 128), nn.PReLU { num_parameters = 128 }
  self.dense5_1, self.dense5_2 = nn.Linear(128, 2), nn.Linear(128, 4)
end
function Refinement:forward(x)
  local y = self.prelu4(self.dense4(flat(convolved(self, x))))
  return self.dense5_2(y), torch.softmax(self.dense5_1(y), 2)
end

-- For crops of 48 x 48: also the landmarks, five x, then five y, as fractions of the box, [n, 10].
local Output = nn.Module:extend 'Output'
function Output:init()
  add_convolutions(self, { { 32, 3, 3 }, { 64, 3, 3 }, { 64, 3, 2 }, { 128, 2 } })
  self.dense5, self.prelu5 = nn.Linear(1152, 256), nn.PReLU { num_parameters = 256 }
  self.dense6_1, self.dense6_2, self.dense6_3 = nn.Linear(256, 2), nn.Linear(256, 4), nn.Linear(256, 10)
end
function Output:forward(x)
  local y = self.prelu5(self.dense5(flat(convolved(self, x))))
  return self.dense6_2(y), torch.softmax(self.dense6_1(y), 2), self.dense6_3(y)
end

local function load(net, path)
  net:load_state_dict(torch.load(path, { map_location = 'cpu' }))
  return net:eval()
end

-- ---- boxes: rows { x1, y1, x2, y2, ... }, pixels count from 1 -----------------------------------

local function normalized(image) return (image - 127.5) * 0.0078125 end

local function column(x, i) return x:select(2, i) end

local function keep(boxes, scores, threshold) return torch.vision.nms(boxes:narrow(2, 1, 4), scores, threshold) end

-- Shifts boxes by fractions of their side lengths; `more` is added to the difference of the ends.
local function moved(boxes, by, more)
  local w, h = column(boxes, 3) - column(boxes, 1) + more, column(boxes, 4) - column(boxes, 2) + more
  local sides = torch.stack({ w, h, w, h }, 2)
  return boxes:narrow(2, 1, 4) + by * sides
end

-- Squares with the same centers and the length of the longer side.
local function squared(boxes)
  local w, h = column(boxes, 3) - column(boxes, 1), column(boxes, 4) - column(boxes, 2)
  local side = torch.maximum(w, h)
  local x, y = column(boxes, 1) + w * 0.5 - side * 0.5, column(boxes, 2) + h * 0.5 - side * 0.5
  return torch.stack({ x, y, x + side, y + side }, 2)
end

-- The image inside the boxes, clipped and resized to size x size pixels, and the boxes that are not
-- empty.
local function pieces(image, boxes, size)
  local height, width = image:size(3), image:size(4)
  local list, which = {}, {}
  for i, box in ipairs(boxes:trunc():long():tolist()) do
    local x1, y1, x2, y2 = math.max(box[1], 1), math.max(box[2], 1), math.min(box[3], width), math.min(box[4], height)
    if x2 >= x1 and y2 >= y1 then
      list[#list + 1] = F.interpolate(image:narrow(3, y1, y2 - y1 + 1):narrow(4, x1, x2 - x1 + 1), { size = { size, size }, mode = 'area' })
      which[#which + 1] = i
    end
  end
  if #list == 0 then return nil end
  return normalized(torch.cat(list)), boxes[{ torch.tensor(which) }]
end

-- Proposals at one scale of the image: { x1, y1, x2, y2, score, offsets (4) }.
local function proposed(net, image, scale)
  local height, width = math.floor(image:size(3) * scale + 1), math.floor(image:size(4) * scale + 1)
  local by, p = net(normalized(F.interpolate(image, { size = { height, width }, mode = 'area' })))
  local face = p[1][2]
  local at = face:ge(THRESHOLDS[1]):nonzero()
  if at:size(1) == 0 then return nil end
  local rows, columns = at:select(2, 1), at:select(2, 2)
  local corner = torch.stack({ columns, rows }, 2):float() - 1
  -- The receptive field of a position is 12 pixels, with stride 2.
  local first, last = ((corner * 2 + 1) / scale):floor(), ((corner * 2 + 12) / scale):floor()
  local scores = face[{ rows, columns }]
  local found = torch.cat({ first, last, scores:unsqueeze(2), by[1]:permute(2, 3, 1)[{ rows, columns }] }, 2)
  return found:index_select(1, keep(found, scores, 0.5))
end

-- Non-maximum suppression by the intersection over the smaller of the two areas. Returns the kept
-- indices.
local function without_inner(boxes, scores)
  local rows, order, kept = boxes:tolist(), torch.argsort(scores, { descending = true }):tolist(), {}
  local function area(b) return (b[3] - b[1] + 1) * (b[4] - b[2] + 1) end
  for _, i in ipairs(order) do
    local a, free = rows[i], true
    for _, k in ipairs(kept) do
      local b = rows[k]
      local w, h = math.min(a[3], b[3]) - math.max(a[1], b[1]) + 1, math.min(a[4], b[4]) - math.max(a[2], b[2]) + 1
      free = free and math.max(w, 0) * math.max(h, 0) / math.min(area(a), area(b)) <= 0.7
    end
    if free then kept[#kept + 1] = i end
  end
  return torch.tensor(kept)
end

-- The faces of an image [1, 3, height, width]: boxes [n, 4], scores [n], landmarks [n, 5, 2]; nil
-- if there are none.
local function faces(nets, image, smallest)
  local found = {}
  local scale, side = 12 / smallest, math.min(image:size(3), image:size(4)) * 12 / smallest
  while side >= 12 do
    found[#found + 1] = proposed(nets.proposals, image, scale)
    scale, side = scale * FACTOR, side * FACTOR
  end
  if #found == 0 then return nil end
  local all = torch.cat(found)
  all = all:index_select(1, keep(all, column(all, 5), 0.7))
  local crops, boxes = pieces(image, squared(moved(all, all:narrow(2, 6, 4), 0)), 24)
  if not crops then return nil end

  local by, p = nets.refinement(crops)
  local likely = column(p, 2):gt(THRESHOLDS[2]):nonzero():squeeze(2)
  if likely:numel() == 0 then return nil end
  boxes, by = boxes:index_select(1, likely), by:index_select(1, likely)
  local best = keep(boxes, column(p, 2):index_select(1, likely), 0.7)
  boxes, by = boxes:index_select(1, best), by:index_select(1, best)
  crops, boxes = pieces(image, squared(moved(boxes, by, 1)), 48)
  if not crops then return nil end

  local points
  by, p, points = nets.output(crops)
  likely = column(p, 2):gt(THRESHOLDS[3]):nonzero():squeeze(2)
  if likely:numel() == 0 then return nil end
  boxes, by, points = boxes:index_select(1, likely), by:index_select(1, likely), points:index_select(1, likely)
  local scores = column(p, 2):index_select(1, likely)
  local w, h = column(boxes, 3) - column(boxes, 1) + 1, column(boxes, 4) - column(boxes, 2) + 1
  points = torch.stack({ w:unsqueeze(2) * points:narrow(2, 1, 5) + column(boxes, 1):unsqueeze(2) - 1,
    h:unsqueeze(2) * points:narrow(2, 6, 5) + column(boxes, 2):unsqueeze(2) - 1 }, 3)
  boxes = moved(boxes, by, 1)
  best = without_inner(boxes, scores)
  return boxes:index_select(1, best), scores:index_select(1, best), points:index_select(1, best)
end

local options = script:parse(arg)
if not options.weights then script:fail '--weights wants the folder data of the package facenet-pytorch' end
if not options.image then script:fail '--image requires a PNG or JPEG file' end
local nets = { proposals = load(Proposals(), options.weights .. '/pnet.pt'), refinement = load(Refinement(), options.weights .. '/rnet.pt'),
  output = load(Output(), options.weights .. '/onet.pt') }
local image = torch.utils.data.read_image(options.image, 'rgb'):float():unsqueeze(1)
local boxes, scores, points
torch.no_grad(function() boxes, scores, points = faces(nets, image, options.smallest) end)
for i = 1, boxes and boxes:size(1) or 0 do
  local b = boxes[i]:tolist()
  print(('a face from (%.0f, %.0f) to (%.0f, %.0f), by %.3f'):format(b[1], b[2], b[3], b[4], scores[i]:item()))
end
if not boxes then print 'no face' end
if options.save then
  torch.save({ boxes = boxes or torch.zeros(0, 4), scores = scores or torch.zeros(0), points = points or torch.zeros(0, 5, 2) }, options.save)
end
