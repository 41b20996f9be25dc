#!/bin/sh
# The kernel under Jupyter's tests: tests/jupyter/run.sh [unittest's arguments]. Uses $BUILD (build) and a Python that has the packages
# jupyter_kernel_test and, for notebooks, nbconvert: LTENSOR_PYTHON, else python3. Where that one has jupyterlab and playwright, and there is
# a Chromium ($CHROMIUM), the GPU chapter is typed into JupyterLab, too; the page is then in $BUILD/jupyter.png, and its debugger stops in a cell ($BUILD/jupyter-debugger.png). `tests/jupyter/run.sh --can` says by its status, and by
# what it prints where it cannot, whether they are there.
set -eu
python=${LTENSOR_PYTHON-python3}
build=${BUILD-build}
program=${LTENSOR_BIN-$PWD/$build/ltensor}

missing=
"$python" -c 'import jupyter_kernel_test' 2>/dev/null || missing="$python without the package jupyter_kernel_test (LTENSOR_PYTHON names another)"
[ -n "$missing" ] || "$program" --doctor | grep -q '^ok *Jupyter ' || missing='built without ZeroMQ and Nettle'
if [ "${1-}" = --can ]; then
    [ -z "$missing" ] || { echo "$missing"; exit 1; }
    exit 0
fi
[ -z "$missing" ] || { echo "tests/jupyter: $missing" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
JUPYTER_DATA_DIR=$folder/data JUPYTER_RUNTIME_DIR=$folder/run JUPYTER_CONFIG_DIR=$folder/config XDG_STATE_HOME=$folder/state
IPYTHONDIR=$folder/ipython
export JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR JUPYTER_CONFIG_DIR XDG_STATE_HOME IPYTHONDIR
mkdir -p "$JUPYTER_RUNTIME_DIR"
"$program" --kernel install --user --name ltensor-test >/dev/null
status=0
"$python" tests/jupyter/kernel_tests.py ltensor-test "$@" >"$folder/log" 2>&1 || status=$?
cat "$folder/log"
# As tests/run.sh counts.
awk '/^Ran [0-9]+ test/ { n = $2 }
    match($0, /failures=[0-9]+/) { f += substr($0, RSTART + 9, RLENGTH - 9) }
    match($0, /errors=[0-9]+/) { f += substr($0, RSTART + 7, RLENGTH - 7) }
    END { print n - f " passed, " f + 0 " failed" }' "$folder/log"
[ $# -eq 0 ] || exit $status

if "$python" -c 'import jupyterlab, playwright' 2>/dev/null && command -v "${CHROMIUM-chromium}" >/dev/null; then
    "$program" --sim-gpus 2 --kernel install --user --name ltensor-test-2 >/dev/null
    "$python" tests/jupyter/browser.py ltensor-test-2 docs/notebooks/use-gpu.md "$build/jupyter.png" || status=1
    "$python" tests/jupyter/debugger.py ltensor-test-2 "$build/jupyter-debugger.png" || status=1
else
    echo "JupyterLab in a browser: skipped: $python without jupyterlab and playwright, or no Chromium"
fi
exit $status
