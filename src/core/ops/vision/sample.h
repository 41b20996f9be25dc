/* sample.h - what the files of grid_sample share. Included by src/core/ops/vision only. */
#ifndef LT_OPS_VISION_SAMPLE_H
#define LT_OPS_VISION_SAMPLE_H

#include "devices/backend.h"
#include "ops/steps.h"

/* The derivatives by input and grid (NULL: not wanted) in differentiable ops; the results belong to
 * the scope. */
void lt_sample_formula(lt_scope *s, const lt_sampling *how, lt_tensor *grad, lt_tensor *input,
                       lt_tensor *grid, lt_tensor **grad_input, lt_tensor **grad_grid);

#endif
