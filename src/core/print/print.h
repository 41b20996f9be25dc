/* print.h - formats a tensor exactly as PyTorch prints it. */
#ifndef LT_PRINT_H
#define LT_PRINT_H

#include "ltensor.h"
#include "print_options.h"

/* Copies the options of a context, which another thread may set concurrently. */
lt_print_options lt_print_settings(lt_context *c);
void lt_print_set(lt_context *c, const lt_print_options *options);

/* "tensor([[1., 1.]], device='cuda:0', requires_grad=True)"; parameters begin with "Parameter
 * containing:\n". *out is zero-terminated, *n is its length; free it with lt_mem_free. Elements on
 * a GPU are copied to the host once; of a summary only the shown ones. */
lt_status lt_tensor_format(lt_tensor *t, char **out, size_t *n);

#endif
