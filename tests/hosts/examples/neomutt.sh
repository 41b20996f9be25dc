# shellcheck shell=bash disable=SC2034,SC2154
packages=neomutt programs=neomutt lua=5.4

try() { expect 'sidebar_width = 2' neomutt -n -F neomuttrc -Q sidebar_width; }
