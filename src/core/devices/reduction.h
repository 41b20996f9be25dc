/* reduction.h - the reductions, for their callers and the kernels of both backends. backend.h
 * declares them as int, so that a new reduction recompiles only files that use this header. */
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
    LT_REDUCE_NORM,        /* (sum |x|^p)^(1/p); p = parameter; inf, -inf and 0 as in PyTorch */
    LT_REDUCE_SUM_NUMBERS, /* floating only: ignores nan (nansum) */
    LT_REDUCE_COUNT,       /* number of non-zero elements, int64 */
    /* floating only: sum of squared deviations from the mean, divided by parameter */
    LT_REDUCE_VAR,
    LT_REDUCE_STD,      /* square root of the variance */
    LT_REDUCE_LOGSUMEXP /* floating only */
} lt_reduction;

#endif
