/* print.h - the text of a tensor, as PyTorch prints it to the character. */
#ifndef LT_PRINT_H
#define LT_PRINT_H

#include "ltensor.h"
#include "print_options.h"

/* A copy of the options of a context, which another thread may set at the same time. */
lt_print_options lt_print_settings(lt_context *c);
void lt_print_set(lt_context *c, const lt_print_options *options);

/* "tensor([[1., 1.]], device='cuda:0', requires_grad=True)"; parameters begin with "Parameter
 * containing:\n". *out ends with a zero, *n is its length without it; freed by lt_mem_free.
 * Elements on a GPU are copied to the host once, of a summary only those that are shown. */
lt_status lt_tensor_format(lt_tensor *t, char **out, size_t *n);

#endif
