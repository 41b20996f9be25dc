/* README.md: Embed it 2 */
#include "block.inc"
