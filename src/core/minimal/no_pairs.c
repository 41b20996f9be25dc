/* no_pairs.c - stands for cpu/common/pairs.c in a library of chosen ops (scripts/make/minimal.mk): the steps of a chain are done one by one, and the
 * library is a megabyte smaller. */
#include "cpu/common/pairs.h"

const lt_pair_loops *lt_pairs(void) { return NULL; }
