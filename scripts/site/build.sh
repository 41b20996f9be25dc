#!/bin/sh
# Builds the documentation site into $BUILD/site/html: `make site`. Needs mkdocs and its theme
# material; regenerates the pages of ops, classes and C headers each time.
set -eu
BUILD=${BUILD-build}
LUA=${LUA-lua5.4}
here=scripts/site

if ! command -v mkdocs >/dev/null 2>&1 || ! mkdocs build --help | grep -q material; then
    echo "make site: mkdocs with the theme material is missing: apt-get install mkdocs mkdocs-material" >&2
    exit 1
fi

site=$BUILD/site
rm -rf "$site"
mkdir -p "$site/reference/ops" "$site/reference/classes"

$LUA scripts/gen/pages.lua "$BUILD/gen/ops_docs.lua" "$site/reference/ops"
"$BUILD/ltensor" $here/classes.lua "$site/reference/classes" >"$site/classes"
$LUA $here/header.lua "$site/reference/c.md" 'C: the headers' include/ltensor.h include/ltensor_binding.h include/ltensor_device.h include/ltensor_files.h include/ltensor_host.h include/ltensor_messages.h include/ltensor_register.h include/ltensor_threads.h include/ltensor_plugin.h include/ltensor_lua.h include/ltensor_script.h include/ltensor_model.h include/ltensor_lm.h include/ltensor_prompt.h
$LUA $here/header.lua "$site/reference/c_ops.md" 'C: a function per op' "$BUILD/gen/ltensor_ops.h"
cp $here/reference.md "$site/reference/README.md"
{
    echo README.md
    echo classes/names.md
    echo '- Ops:'
    echo '  ops/README.md'
    for page in "$site"/reference/ops/*.md; do
        name=${page##*/}
        [ "$name" = README.md ] || echo "  ops/$name"
    done
    cat "$site/classes"
    echo '- C:'
    echo '  c.md'
    echo '  c_ops.md'
} | sed 's/^- \(.*\)$/\1/; s/^  - \(.*\)$/  \1/' >"$site/reference/order"

# shellcheck disable=SC2046
$LUA $here/assemble.lua "$site/reference" "$site" $(find docs -type f | sort)
cp -r $here/theme "$site/theme"
# The examples run in the page if `make wasm` has built the program.
if [ -f "$BUILD/wasm/ltensor.js" ]; then
    cp "$BUILD/wasm/ltensor.js" "$site/theme/assets"
else
    echo "make site: without Run buttons: call make wasm first" >&2
    sed -i '/play\.js/d' "$site/theme/main.html"
    rm "$site/theme/assets/play.js" "$site/pages/play.md"
    sed -i '/play\.md/d' "$site/mkdocs.yml"
fi
mkdocs build --quiet --strict --config-file "$site/mkdocs.yml"

# The search index as a script, loaded by offline.js on pages that are opened as files.
{
    printf '__found_index('
    cat "$site/html/search/search_index.json"
    printf ')\n'
} >"$site/html/search/search_index.js"

$LUA $here/links.lua "$site/html"
echo "the site is $site/html/index.html"
