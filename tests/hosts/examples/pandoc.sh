# shellcheck shell=bash disable=SC2034,SC2154
packages=pandoc programs=pandoc lua=5.3

try() { expect 'about 0.2' filter; }
filter() { echo 'about VALUE' | pandoc -t plain --lua-filter values.lua; }
