/* catalog.c - enumerates the operations: lt_op_count, lt_op_at and the functions for their
 * arguments and results, over the tables of callables.h. The last two accept own operations, too.
 */
#include "callables.h"
#include "own/own_op.h"

int lt_op_count(void) { return lt_callables_n; }

const lt_op_info *lt_op_at(int i)
{
    return i >= 0 && i < lt_callables_n ? &lt_callables[i]->info : NULL;
}

static const lt_callable *callable_of(const lt_op_info *op)
{
    for (int i = 0; i < lt_callables_n; i++)
        if (&lt_callables[i]->info == op) return lt_callables[i];
    const lt_own_op *own = op != NULL ? lt_own_of_info(op) : NULL;
    return own != NULL ? &own->callable : NULL;
}

const lt_arg_info *lt_op_arg(const lt_op_info *op, int i)
{
    const lt_callable *c = callable_of(op);
    return c != NULL && i >= 0 && i < op->n_args ? &c->args[i].info : NULL;
}

const lt_arg_info *lt_op_result(const lt_op_info *op, int i)
{
    const lt_callable *c = callable_of(op);
    return c != NULL && i >= 0 && i < op->n_results ? &c->results[i] : NULL;
}
