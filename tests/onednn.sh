#!/bin/sh
# Convolutions and their gradients by oneDNN 2 and 3, chosen at run time (LTENSOR_ONEDNN), beside our own kernels: the same values within
# rounding, in one to three dimensions, with groups, strides, dilation, bfloat16 and several threads. A version that is
# not installed is skipped and named; LD_LIBRARY_PATH adds folders. Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
program=$BUILD/ltensor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 skipped=0
fail() { echo "onednn.sh: $1" >&2; cat "$work/out" >&2; exit 1; }

cat >"$work/probe.lua" <<'LUA'
local F, path, version = torch.nn.functional, arg[1], arg[2]
local show = torch.__config__.show():match 'oneDNN: ([^\n]+)'
print(show)
if version and show:sub(1, 2) ~= version .. '.' then os.exit(2) end
assert(torch.__config__.has 'onednn' == (version ~= nil))
torch.manual_seed(3)
local results = {}
for _, threads in ipairs { 1, 2 } do
  torch.set_num_threads(threads)
  for _, dtype in ipairs { torch.float32, torch.bfloat16 } do
    for _, case in ipairs {
      { F.conv1d, { 4, 16, 50 }, { 32, 16, 3 }, {} },
      { F.conv2d, { 4, 16, 20, 20 }, { 32, 16, 3, 3 }, { padding = 1 } },
      { F.conv2d, { 4, 16, 20, 20 }, { 32, 8, 3, 3 }, { groups = 2, stride = 2, dilation = 2 } },
      { F.conv3d, { 2, 8, 9, 9, 9 }, { 16, 8, 3, 3, 3 }, { padding = 1 } },
    } do
      local x = (torch.randn(case[2]) / 4):to(dtype):requires_grad_()
      local w = (torch.randn(case[3]) / 4):to(dtype):requires_grad_()
      local b = torch.randn(case[3][1]):to(dtype):requires_grad_()
      local options = { bias = b }
      for name, value in pairs(case[4]) do options[name] = value end
      local y = case[1](x, w, options)
      y:float():square():mean():backward()
      for _, result in ipairs { y:detach(), x.grad, w.grad, b.grad } do results[#results + 1] = result:float() end
    end
  end
end
if version then
  for i, expected in ipairs(torch.load(path)) do
    local worst = ((results[i] - expected):abs():max() / (expected:abs():max() + 1e-6)):item()
    assert(worst < (i - 1) % 32 // 16 * 2e-2 + 1e-4, ('result %d is off by %g of the largest value'):format(i, worst))
  end
  print(#results .. ' results')
else
  torch.save(results, path)
end
LUA

LTENSOR_ONEDNN=0 "$program" "$work/probe.lua" "$work/results.pt" >"$work/out" 2>&1 || fail "without oneDNN"
grep -qx none "$work/out" || fail "LTENSOR_ONEDNN=0 opens oneDNN"
for version in 2 3; do
    done=
    for name in "libdnnl.so.$version" libdnnl.so.3.10 libdnnl.so.3.9 libdnnl.so.3.8 libdnnl.so.3.7 libdnnl.so.3.6 libdnnl.so.3.5 libdnnl.so.3.2; do
        DNNL_VERBOSE=1 LTENSOR_ONEDNN=$name "$program" "$work/probe.lua" "$work/results.pt" $version >"$work/out" 2>&1 && status=0 || status=$?
        [ "$status" -ne 2 ] || continue
        [ "$status" -eq 0 ] || fail "$name"
        for kind in forward_training backward_data backward_weights; do
            grep -q "verbose,.*exec,cpu,convolution,.*,$kind," "$work/out" || fail "$name did not run $kind"
        done
        echo "onednn.sh: $(grep -v verbose "$work/out" | paste -sd ' ')"
        done=$name passed=$((passed + 1))
        break
    done
    if [ -z "$done" ]; then
        echo "onednn.sh: version $version was not tested; Debian: libdnnl2 or libdnnl3; or pip install onednn-cpu-gomp" >&2
        skipped=$((skipped + 1))
    fi
done
echo "$((passed + 1)) passed, 0 failed, $skipped skipped"
