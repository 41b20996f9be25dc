/* loss.h - shared by the files of losses. Included by src/core/ops/loss only. */
#ifndef LT_OPS_LOSS_H
#define LT_OPS_LOSS_H

#include "ops/compose.h"
#include "step/mean.h"

typedef enum lt_over { LT_OVER_NONE, LT_OVER_MEAN, LT_OVER_SUM } lt_over;

lt_status lt_loss_parse(const char *text, lt_over *out);
lt_status lt_loss_check_float(const char *kernel, const lt_tensor *t);
lt_tensor *do_reduce(lt_scope *s, lt_tensor *a, lt_over how);
/* The gradient of a reduced loss as a factor for the derivatives of its numel elements. */
lt_tensor *do_share(lt_scope *s, lt_tensor *grad, lt_over how, int64_t numel);
/* max(a, least) */
lt_tensor *do_at_least(lt_scope *s, lt_tensor *a, double least);
/* The same with the derivative of a, also below least. */
lt_tensor *do_lifted(lt_scope *s, lt_tensor *a, double least);
/* Targets on a GPU, where the gather kernel reports invalid classes: clears the bit that lets
 * negative indices count from the end. */
lt_tensor *do_no_negative(lt_scope *s, lt_tensor *target);

#endif
