/* reduction.h - the kinds of reductions, for those that ask for one and the kernels of either
 * backend. To the table of backend.h they are numbers, so that another one compiles what reduces
 * and nothing else. */
#ifndef LT_REDUCTION_H
#define LT_REDUCTION_H

typedef enum lt_reduction {
    LT_REDUCE_SUM,  /* also of bool and small integers, into int64 */
    LT_REDUCE_MEAN, /* floating only; divides by the number of reduced elements */
    LT_REDUCE_PROD,
    LT_REDUCE_MAX, /* nan wins */
    LT_REDUCE_MIN,
    LT_REDUCE_ANY, /* into bool */
    LT_REDUCE_ALL,
    LT_REDUCE_NORM, /* (sum |x|^p)^(1/p); p = parameter; inf, -inf and 0 as PyTorch has them */
    LT_REDUCE_SUM_NUMBERS, /* floating only: without nan */
    LT_REDUCE_COUNT,       /* of elements that are not 0, into int64 */
    /* floating only: sum of squared deviations from the mean, divided by parameter */
    LT_REDUCE_VAR,
    LT_REDUCE_STD,      /* the root of it */
    LT_REDUCE_LOGSUMEXP /* floating only */
} lt_reduction;

#endif
