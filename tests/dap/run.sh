#!/bin/sh
# The debugger under Visual Studio Code's client for tests of debug adapters: tests/dap/run.sh. Uses $BUILD (build) and a node that finds the
# npm package @vscode/debugadapter-testsupport: in $NODE_PATH, or installed in a temporary folder with `tests/dap/run.sh --install`.
# `tests/dap/run.sh --can` says by its status, and by what it prints where it cannot, whether they are there.
set -eu
program=${LTENSOR_BIN-$PWD/${BUILD-build}/ltensor}
package=@vscode/debugadapter-testsupport

can() { command -v node >/dev/null && node -e "require('$package')" 2>/dev/null; }

if [ "${1-}" = --install ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    npm install --silent --prefix "$folder" "$package" >/dev/null
    NODE_PATH=$folder/node_modules
    export NODE_PATH
fi
can || { echo "tests/dap: node without the package $package (NODE_PATH names its folder; --install installs it)"; exit 1; }
[ "${1-}" != --can ] || exit 0
node tests/dap/client_tests.js "$program"
