# shellcheck shell=bash disable=SC2034,SC2154
packages=python3-venv programs=python3 lua=5.4 needs=lupa

# lupa is in LTENSOR_PYTHON, or in a virtual environment that INSTALL=yes creates.
lupa() {
    python=${LTENSOR_PYTHON-python3}
    [ ! -x "$BUILD/lupa/bin/python" ] || python=$BUILD/lupa/bin/python
    if ! $python -c 'import lupa.lua54' 2>/dev/null; then
        if [ "${INSTALL-}" != yes ]; then
            echo "$python has no package lupa: pip install lupa (INSTALL=yes does it in $BUILD/lupa)"
            return 1
        fi
        python3 -m venv "$BUILD/lupa" >/dev/null && "$BUILD/lupa/bin/pip" install -q lupa || return
        python=$BUILD/lupa/bin/python
    fi
    echo "$python"
}
try() {
    python=$(lupa)
    expect 'loss 0.00' "$python" network.py
    expect 'value 0.2' "$python" network.py
}
