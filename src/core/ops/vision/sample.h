/* sample.h - shared by the files of grid_sample. Included by src/core/ops/vision only. */
#ifndef LT_OPS_VISION_SAMPLE_H
#define LT_OPS_VISION_SAMPLE_H

#include "devices/backend.h"
#include "ops/steps.h"

/* The derivatives by input and grid (NULL: not requested) in differentiable ops; the scope owns the
 * results. */
void lt_sample_formula(lt_scope *s, const lt_sampling *how, lt_tensor *grad, lt_tensor *input,
                       lt_tensor *grid, lt_tensor **grad_input, lt_tensor **grad_grid);

#endif
