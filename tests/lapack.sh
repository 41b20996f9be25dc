#!/bin/sh
# Factorizations by each LAPACK that is installed: OpenBLAS, MKL, the reference library, libFLAME with BLIS (LTENSOR_LAPACK). Each gives
# the values of OpenBLAS and factors that multiply back, in four dtypes, small and with threads.
# Without any: the error has the loader's message. A library that is not installed is skipped and named; LD_LIBRARY_PATH adds folders.
# Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 skipped=0
fail() { echo "lapack.sh: $1" >&2; cat "$work/out" >&2; exit 1; }

cat >"$work/probe.lua" <<'LUA'
local function near(name, a, b, tolerance)
  local worst = (a - b):abs():max():item()
  assert(worst <= tolerance, ('%s: off by %g'):format(name, worst))
end
print((torch.__config__.show():match 'BLAS: ([^\n]*)'))
torch.manual_seed(1)
for _, dtype in ipairs { torch.float32, torch.float64, torch.complex64, torch.complex128 } do
  local tolerance = (dtype == torch.float32 or dtype == torch.complex64) and 2e-3 or 1e-11
  for _, n in ipairs { 1, 7, 160 } do
    local a = torch.randn(n, n, { dtype = dtype })
    local b = torch.randn(n, 3, { dtype = dtype })
    local hermitian = a:mm(a.mH) / n + torch.eye(n, { dtype = dtype })
    near('solve', hermitian:mm(torch.linalg.solve(hermitian, b)), b, tolerance)
    local lower = torch.linalg.cholesky(hermitian)
    near('cholesky', lower:mm(lower.mH), hermitian, tolerance)
    near('triangular', lower:mm(torch.linalg.solve_triangular(lower, b, { upper = false })), b, tolerance)
    local q, r = torch.linalg.qr(a)
    near('qr', q:mm(r), a, tolerance)
    local u, s, vh = torch.linalg.svd(a)
    near('svd', (u * s):mm(vh), a, tolerance)
    local values, vectors = torch.linalg.eigh(hermitian)
    near('eigh', hermitian:mm(vectors), vectors * values, tolerance)
    local l, v = torch.linalg.eig(a)
    near('eig', a:to(l.dtype):mm(v), v * l, tolerance)
    near('lstsq', hermitian:mm((torch.linalg.lstsq(hermitian, b, { driver = 'gelsy' }))), b, tolerance)
    local ld, pivots = torch.linalg.ldl_factor(hermitian, { hermitian = true })
    near('ldl', hermitian:mm(torch.linalg.ldl_solve(ld, pivots, b, { hermitian = true })), b, tolerance)
    io.stderr:write(('%.2f %.2f %.2f\n'):format(s:sum():item(), values:sum():item(), l:abs():sum():item()))
  end
end
torch.set_num_threads(2)
local a = torch.randn(900, 900, { dtype = torch.float64 }) + 40 * torch.eye(900, { dtype = torch.float64 })
near('solve with threads', a:mm(torch.linalg.solve(a, a)), a, 1e-8)
LUA

program=$BUILD/ltensor
LTENSOR_LAPACK=openblas "$program" "$work/probe.lua" >"$work/out" 2>"$work/values" || { cat "$work/values" >>"$work/out"; fail "OpenBLAS"; }
grep -q '^OpenBLAS' "$work/out" || fail "OpenBLAS is not reported"
passed=$((passed + 1))

check() { # LTENSOR_LAPACK, a part of its description, how to install it
    if ! LTENSOR_LAPACK=$1 "$program" "$work/probe.lua" >"$work/out" 2>"$work/these"; then
        if head -n 1 "$work/out" | grep -qx none && grep -q 'cannot open shared object file' "$work/these"; then
            echo "lapack.sh: $1 was not tested: $3" >&2
            skipped=$((skipped + 1))
            return
        fi
        cat "$work/these" >>"$work/out"
        fail "LTENSOR_LAPACK=$1"
    fi
    grep -q -e "$2" "$work/out" || fail "LTENSOR_LAPACK=$1 reports another library"
    # Single precision differs in the last digits.
    paste "$work/values" "$work/these" | awk '{ for (i = 1; i <= 3; i++) { d = $i - $(i + 3); if (d < 0) d = -d; if (d > 0.02 + $i * 1e-5) bad = 1 } }
        END { exit bad || NR < 12 }' || { paste "$work/values" "$work/these" >"$work/out"; fail "LTENSOR_LAPACK=$1 has other values than OpenBLAS"; }
    passed=$((passed + 1))
}
check mkl 'Math Kernel Library' 'pip install mkl, and add its folder to LD_LIBRARY_PATH'
# liblapack.so.3 may be OpenBLAS's (update-alternatives), so Debian's folders of the reference library come first.
for folder in /usr/lib/*/lapack /usr/lib/*/blas; do
    [ ! -d "$folder" ] || LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder export LD_LIBRARY_PATH
done
if LTENSOR_LAPACK=lapack "$program" -e 'print(torch.__config__.show())' | grep -q '^BLAS: OpenBLAS'; then
    echo "lapack.sh: the reference library was not tested: liblapack.so.3 is that of OpenBLAS; Debian: liblapack3 and libblas3" >&2
    skipped=$((skipped + 1))
else
    check lapack '(LAPACK [0-9.]*)' 'Debian: liblapack3 and libblas3'
fi
check flame 'libflame.so.1 (LAPACK [0-9.]*)' 'Debian: libflame1 and libblis4-openmp'
path=$(ldconfig -p 2>/dev/null | sed -n 's/.*libopenblas\.so\.0 .* => //p' | head -n 1)
[ -z "$path" ] || check "$path" OpenBLAS ''

refused() { # LTENSOR_LAPACK, a part of the message
    if LTENSOR_LAPACK=$1 "$program" -e 'torch.linalg.inv(torch.eye(3))' >"$work/out" 2>&1; then fail "LTENSOR_LAPACK=$1 is no error"; fi
    grep -qF -e "$2" "$work/out" || fail "LTENSOR_LAPACK=$1: no message with '$2'"
    grep -qF 'Debian: libopenblas0-openmp' "$work/out" || fail "LTENSOR_LAPACK=$1: no package is named"
    passed=$((passed + 1))
}
refused /nowhere/liblapack.so '/nowhere/liblapack.so: cannot open shared object file: No such file or directory'
refused libz.so.1 'libz.so.1: it has no function '

# A host that limits the address space of its processes: OpenBLAS would allocate its buffers for ever.
limited() { # KB, a chunk of Lua
    status=0
    prlimit --as=$(($1 * 1024)) env OMP_NUM_THREADS=4 LTENSOR_LAPACK=openblas timeout 60 "$program" -e "$2" >"$work/out" 2>&1 || status=$?
}
limited 262144 'torch.linalg.inv(torch.eye(3))'
[ "$status" -eq 1 ] || fail "a limit of 256 MB ended with the status $status"
grep -qF 'OpenBLAS needs 300 MB of address space, but the limit of the process is 256 MB' "$work/out" || fail 'a limit of 256 MB is not named'
limited 500000 'local a = torch.rand(700, 700, {dtype = torch.float64}) + 700 * torch.eye(700, {dtype = torch.float64})
    assert(torch.allclose(a:mm(torch.linalg.inv(a)), torch.eye(700, {dtype = torch.float64})))'
[ "$status" -eq 0 ] || fail "a factorization with a limit of 488 MB ended with the status $status"
passed=$((passed + 2))
# A host that limits the threads of a user: GCC's OpenMP would end the process. The limit does not hold for root.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups "$program" --version >/dev/null 2>&1; then
    setpriv --reuid=65534 --clear-groups prlimit --nproc=1 env OMP_NUM_THREADS=4 LTENSOR_LAPACK=openblas "$program" -e '
        local a = torch.rand(300, 300, {dtype = torch.float64}) + 300 * torch.eye(300, {dtype = torch.float64})
        assert(torch.allclose(a:mm(torch.linalg.inv(a)), torch.eye(300, {dtype = torch.float64})))' >"$work/out" 2>&1 || fail 'a limit of one process'
    passed=$((passed + 1))
else
    echo 'lapack.sh: a limit of processes was not tested: this needs root and setpriv' >&2
    skipped=$((skipped + 1))
fi
echo "$passed passed, 0 failed, $skipped skipped"
