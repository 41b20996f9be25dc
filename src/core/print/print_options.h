/* print_options.h - the options of torch.set_printoptions. */
#ifndef LT_PRINT_OPTIONS_H
#define LT_PRINT_OPTIONS_H

#include <stdint.h>

typedef struct lt_print_options {
    int precision;     /* digits after the point; not negative */
    int64_t threshold; /* tensors with more elements are summarized */
    int edgeitems;     /* elements at each end of a summarized dimension; not negative */
    int linewidth;     /* columns */
    int sci_mode;      /* -1 automatic, 0 never, 1 always */
} lt_print_options;

#define LT_PRINT_DEFAULTS                                                                          \
    {                                                                                              \
        4, 1000, 3, 80, -1                                                                         \
    }

#endif
