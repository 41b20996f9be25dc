/* docs/guide/extending.md: Build a plugin */
#include "block.inc"

static lt_status twice(void *user, const lt_value *args, int nargs, lt_value *results, int nresults)
{
    const lt_value operands[] = {args[0], args[0]};
    (void)user, (void)nargs;
    return lt->call("add", operands, 2, NULL, 0, results, &nresults);
}
