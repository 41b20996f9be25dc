/* docs/guide/embedding.md: Write your first program in C */
#include "block.inc"
