/* print.h - the text of a tensor, as PyTorch prints it to the character. */
#ifndef LT_PRINT_H
#define LT_PRINT_H

#include "ltensor.h"

typedef struct lt_print_options {
    int precision;     /* digits after the point; not negative */
    int64_t threshold; /* more elements than this are summarized */
    int edgeitems;     /* of a summary: elements shown at either end of a dimension; not negative */
    int linewidth;     /* columns */
    int sci_mode;      /* -1 automatic, 0 never, 1 always */
} lt_print_options;
extern lt_print_options lt_print_settings; /* torch.set_printoptions; 4, 1000, 3, 80, -1 */

/* "tensor([[1., 1.]], device='cuda:0', requires_grad=True)"; parameters begin with "Parameter
 * containing:\n". *out ends with a zero, *n is its length without it; freed by lt_mem_free. Elements on
 * a GPU are copied to the host once, of a summary only those that are shown. */
lt_status lt_tensor_format(lt_tensor *t, char **out, size_t *n);

#endif
