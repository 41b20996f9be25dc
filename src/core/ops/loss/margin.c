/* margin.c - margin losses, and the distances that they use, as formulas. */
#include "loss.h"
#include "user_index.h"
#include "context/interrupt.h"
#include "devices/copies.h"
#include "memory/alloc.h"
#include "saturating.h"
#include "ops/pointwise.h"
#include "ops/steps.h"
#include "iter.h"
#include "op/cosine_embedding_loss.h"
#include "op/cosine_similarity.h"
#include "op/hinge_embedding_loss.h"
#include "op/margin_ranking_loss.h"
#include "op/multi_margin_loss.h"
#include "op/multilabel_margin_loss.h"
#include "op/norm.h"
#include "op/normalize.h"
#include "op/pairwise_distance.h"
#include "op/pdist.h"
#include "op/triplet_margin_loss.h"

static lt_tensor *do_norm(lt_scope *s, lt_tensor *a, double p, int64_t dim, bool keepdim)
{
    lt_tensor *out = NULL;
    if (s->status != LT_OK) return NULL;
    lt_status status =
        lt_norm(a, lt_scalar_from_float(p), &(lt_dims){1, {dim}}, keepdim, LT_DTYPE_NONE, &out);
    return lt_scope_hold(s, status, out);
}

static lt_tensor *do_distance(lt_scope *s, lt_tensor *a, lt_tensor *b, double p, double eps)
{
    return do_norm(s, plus(s, do_sub(s, a, b), eps), p, -1, false);
}

/* ---- distances ------------------------------------------------------------------------------- */

lt_status lt_pairwise_distance_impl(lt_tensor *x1, lt_tensor *x2, double p, double eps,
                                    bool keepdim, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(pairwise_distance));
    return lt_scope_return(&s, do_norm(&s, plus(&s, do_sub(&s, x1, x2), eps), p, -1, keepdim), out);
}

lt_status lt_cosine_similarity_impl(lt_tensor *x1, lt_tensor *x2, int64_t dim, double eps,
                                    lt_tensor **out)
{
    lt_scope s;
    if (!lt_dtype_is_float((lt_dtype)x1->dtype) || !lt_dtype_is_float((lt_dtype)x2->dtype))
        return lt_error(LT_ERR_RUNTIME,
                        "expected common dtype to be floating point, yet common dtype is %s",
                        lt_dtype_scalar_name((lt_dtype)x1->dtype));
    lt_dims shape;
    LT_TRY(lt_broadcast_shape((lt_tensor *[]){x1, x2}, 2, &shape.n, shape.v));
    lt_scope_open(&s, LT_COMPOSITE(cosine_similarity));
    /* expand before the norm: a vector with one element along dim stands for a full-length one */
    x1 = do_expand(&s, x1, &shape);
    x2 = do_expand(&s, x2, &shape);
    lt_tensor *length1 = do_lifted(&s, do_norm(&s, x1, 2, dim, true), eps);
    lt_tensor *length2 = do_lifted(&s, do_norm(&s, x2, 2, dim, true), eps);
    lt_tensor *product = do_mul(&s, do_div(&s, x1, length1), do_div(&s, x2, length2));
    return lt_scope_return(&s, do_sum_dim(&s, product, dim, false), out);
}

lt_status lt_normalize_impl(lt_tensor *input, double p, int64_t dim, double eps, lt_tensor **out)
{
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(normalize));
    lt_tensor *length = do_at_least(&s, do_norm(&s, input, p, dim, true), eps);
    return lt_scope_return(&s, do_div(&s, input, length), out);
}

lt_status lt_pdist_impl(lt_tensor *input, double p, lt_tensor **out)
{
    if (input->ndim != 2)
        return lt_error(LT_ERR_RUNTIME, "pdist only supports 2D tensors, got: %dD", input->ndim);
    if (!lt_dtype_is_float((lt_dtype)input->dtype))
        return lt_error(LT_ERR_RUNTIME, "pdist only supports floating-point dtypes");
    if (!(p >= 0)) return lt_error(LT_ERR_RUNTIME, "pdist only supports non-negative p values");
    const int64_t n = input->sizes[0], pairs = lt_mul_sat(n, n - 1) / 2;
    int64_t *first = lt_mem_array(pairs, sizeof *first),
            *second = lt_mem_array(pairs, sizeof *second);
    for (int64_t i = 0, k = 0; i < n && first != NULL && second != NULL && !lt_interrupted(); i++)
        for (int64_t j = i + 1; j < n; j++, k++) {
            first[k] = i;
            second[k] = j;
        }
    lt_scope s;
    lt_scope_open(&s, LT_COMPOSITE(pdist));
    if (lt_interrupted()) s.status = lt_stopped();
    const lt_dims line = {1, {pairs}};
    const lt_copy_cause previous = lt_copies_imply("pdist");
    lt_tensor *rows = do_positions(&s, first, &line, input->device),
              *others = do_positions(&s, second, &line, input->device);
    lt_copies_set_cause(previous);
    lt_tensor *difference =
        do_sub(&s, do_index_select(&s, input, 0, rows), do_index_select(&s, input, 0, others));
    return lt_scope_return(&s, do_norm(&s, difference, p, -1, false), out);
}

/* ---- pairs with a sign ----------------------------------------------------------------------- */

static lt_tensor *do_equals(lt_scope *s, lt_tensor *a, int64_t value)
{
    return do_eq(s, a, do_scalar(s, lt_scalar_from_int(value)));
}

lt_status lt_hinge_embedding_loss_impl(lt_tensor *input, lt_tensor *target, double margin,
                                       const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    lt_scope_open(&s, LT_COMPOSITE(hinge_embedding_loss));
    /* For integers the loss is an integer, with a truncated margin. */
    bool whole = !lt_dtype_is_float((lt_dtype)input->dtype);
    lt_tensor *least = do_scalar(
                  &s, whole ? lt_scalar_from_int(lt_scalar_int(lt_scalar_from_float(margin)))
                            : lt_scalar_from_float(margin)),
              *zero = do_scalar(&s, lt_scalar_from_int(0));
    lt_tensor *rest = do_at_least(&s, do_sub(&s, least, input), 0);
    lt_tensor *apart = do_where(&s, do_equals(&s, target, 1), zero, rest);
    lt_tensor *together = do_where(&s, do_equals(&s, target, -1), zero, input);
    return lt_scope_return(&s, do_reduce(&s, do_add(&s, apart, together), how), out);
}

lt_status lt_margin_ranking_loss_impl(lt_tensor *input1, lt_tensor *input2, lt_tensor *target,
                                      double margin, const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    if (input1->ndim != input2->ndim || input1->ndim != target->ndim)
        return lt_error(LT_ERR_RUNTIME,
                        "margin_ranking_loss : All input tensors should have same dimension but "
                        "got sizes: input1: %dD, input2: %dD, target: %dD",
                        input1->ndim, input2->ndim, target->ndim);
    lt_scope_open(&s, LT_COMPOSITE(margin_ranking_loss));
    lt_tensor *order = do_mul(&s, do_neg(&s, target), do_sub(&s, input1, input2));
    return lt_scope_return(&s, do_reduce(&s, do_at_least(&s, plus(&s, order, margin), 0), how),
                           out);
}

#define COSINE_EPS 1e-12

lt_status lt_cosine_embedding_loss_impl(lt_tensor *input1, lt_tensor *input2, lt_tensor *target,
                                        double margin, const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    char a[256], b[256];
    if (target->ndim > 1)
        return lt_error(LT_ERR_RUNTIME,
                        "0D or 1D target tensor expected, multi-target not supported");
    if (input1->ndim != target->ndim + 1 || input2->ndim != target->ndim + 1)
        return lt_error(
            LT_ERR_RUNTIME,
            "%dD target tensor expects %dD input tensors, but found inputs with sizes %s and %s.",
            target->ndim, target->ndim + 1,
            lt_format_sizes(a, sizeof a, input1->ndim, input1->sizes),
            lt_format_sizes(b, sizeof b, input2->ndim, input2->sizes));
    lt_scope_open(&s, LT_COMPOSITE(cosine_embedding_loss));
    lt_tensor *product = do_sum_dim(&s, do_mul(&s, input1, input2), -1, false);
    lt_tensor *square1 =
        plus(&s, do_sum_dim(&s, do_mul(&s, input1, input1), -1, false), COSINE_EPS);
    lt_tensor *square2 =
        plus(&s, do_sum_dim(&s, do_mul(&s, input2, input2), -1, false), COSINE_EPS);
    lt_tensor *cosine = do_div(&s, product, do_sqrt(&s, do_mul(&s, square1, square2)));
    lt_tensor *zero = do_number(&s, 0), *gap = plus(&s, do_neg(&s, cosine), 1);
    lt_tensor *together = do_where(&s, do_equals(&s, target, 1), gap, zero);
    lt_tensor *apart = do_where(&s, do_equals(&s, target, -1),
                                do_at_least(&s, plus(&s, cosine, -margin), 0), zero);
    return lt_scope_return(&s, do_reduce(&s, do_add(&s, together, apart), how), out);
}

lt_status lt_triplet_margin_loss_impl(lt_tensor *anchor, lt_tensor *positive, lt_tensor *negative,
                                      double margin, double p, double eps, bool swap,
                                      const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    LT_TRY(lt_loss_parse(reduction, &how));
    if (!(margin > 0))
        return lt_error(LT_ERR_RUNTIME, "margin must be greater than 0, got %g", margin);
    if (anchor->ndim != positive->ndim || anchor->ndim != negative->ndim)
        return lt_error(
            LT_ERR_RUNTIME,
            "The anchor, positive, and negative tensors are expected to have the same number of "
            "dimensions, but got: anchor %dD, positive %dD, and negative %dD inputs",
            anchor->ndim, positive->ndim, negative->ndim);
    lt_scope_open(&s, LT_COMPOSITE(triplet_margin_loss));
    lt_tensor *near = do_distance(&s, anchor, positive, p, eps),
              *far = do_distance(&s, anchor, negative, p, eps);
    if (swap) far = do_minimum(&s, far, do_distance(&s, positive, negative, p, eps));
    return lt_scope_return(
        &s, do_reduce(&s, do_at_least(&s, plus(&s, do_sub(&s, near, far), margin), 0), how), out);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Host targets: each must be a class. If negative ones end a row, only classes before them count:
 * -1, and from Lua also 0, which is no position. */
static lt_status check_classes(lt_scope *s, const lt_tensor *target, int64_t classes, bool ends)
{
    if (s->status != LT_OK || target->device.type != LT_CPU) return s->status;
    const int64_t *v = (const int64_t *)lt_data(target);
    for (int64_t i = 0; i < target->numel; i++) {
        if (ends && v[i] < 0 && (lt_user_index(v[i]) == -1 || lt_user_index(v[i]) == 0)) continue;
        if (v[i] < 0 || v[i] >= classes)
            return s->status = lt_error(
                       LT_ERR_INDEX, "target out of range: %lld is none of %lld classes%s",
                       lt_user_index(v[i]), (long long)classes, lt_user_index_reason(v[i]));
    }
    return LT_OK;
}

/* [n, classes], also for an input of one sample. */
static lt_tensor *do_rows(lt_scope *s, lt_tensor *a)
{
    return a->ndim < 2 ? do_reshape(s, a, &(lt_dims){2, {1, a->numel}}) : a;
}

/* The scores: one per class, or rows of them. */
static lt_status check_scores(const lt_tensor *input)
{
    char sizes[256];
    if (input->ndim <= 2 && (input->ndim == 0 || input->sizes[input->ndim - 1] > 0)) return LT_OK;
    return lt_error(
        LT_ERR_RUNTIME,
        "Expected non-empty vector or matrix with optional 0-dim batch size, but got: %s",
        lt_format_sizes(sizes, sizeof sizes, input->ndim, input->sizes));
}

lt_status lt_multi_margin_loss_impl(lt_tensor *input, lt_tensor *target, double p, double margin,
                                    lt_tensor *weight, const char *reduction, lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    char a[256];
    LT_TRY(lt_loss_parse(reduction, &how));
    if (p != 1 && p != 2) return lt_error(LT_ERR_RUNTIME, "only p == 1 and p == 2 supported");
    LT_TRY(check_scores(input));
    const int64_t n = input->ndim == 2 ? input->sizes[0] : 1,
                  classes = input->ndim == 2 ? input->sizes[1] : input->numel;
    if (target->ndim > 1 || target->numel != n)
        return lt_error(
            LT_ERR_RUNTIME,
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            "samples (batch size). Expected target size [%lld], but got %s. Input has shape %s.",
            (long long)n, lt_format_sizes(a, 128, target->ndim, target->sizes),
            lt_format_sizes(a + 128, 128, input->ndim, input->sizes));
    if (weight != NULL && weight->numel != classes)
        return lt_error(LT_ERR_RUNTIME, "inconsistent weight size, expected %lld but got %s",
                        (long long)classes,
                        lt_format_sizes(a, sizeof a, weight->ndim, weight->sizes));
    lt_scope_open(&s, LT_COMPOSITE(multi_margin_loss));
    lt_tensor *classes_of = do_contiguous(&s, do_cast(&s, target, LT_INT64));
    check_classes(&s, classes_of, classes, false);
    if (s.status == LT_OK && classes_of->device.type != LT_CPU)
        classes_of = do_no_negative(&s, classes_of);
    lt_tensor *line = do_reshape(&s, classes_of, &(lt_dims){1, {n}}),
              *column = do_reshape(&s, classes_of, &(lt_dims){2, {n, 1}});
    lt_tensor *x = do_rows(&s, input), *own = do_gather(&s, x, 1, column);
    lt_tensor *loss = do_at_least(&s, plus(&s, do_sub(&s, x, own), margin), 0);
    if (p == 2) loss = do_square(&s, loss);
    if (weight != NULL)
        loss = do_mul(&s, loss, do_unsqueeze(&s, do_index_select(&s, weight, 0, line), 1));
    lt_tensor *others = do_ne(&s, do_range(&s, classes, input->device), column); /* [n, classes] */
    loss = do_where(&s, others, loss, do_number(&s, 0));
    loss = times(&s, do_sum_dim(&s, loss, 1, false), 1.0 / (double)classes);
    if (input->ndim < 2 && target->ndim == 0) loss = do_squeeze_dim(&s, loss, 0);
    return lt_scope_return(&s, do_reduce(&s, loss, how), out);
}

lt_status lt_multilabel_margin_loss_impl(lt_tensor *input, lt_tensor *target, const char *reduction,
                                         lt_tensor **out)
{
    lt_over how;
    lt_scope s;
    char a[256], b[256];
    LT_TRY(lt_loss_parse(reduction, &how));
    LT_TRY(check_scores(input));
    if (!lt_same_sizes(input, target))
        return lt_error(LT_ERR_RUNTIME, "inconsistent target size: %s for input of size: %s",
                        lt_format_sizes(a, sizeof a, target->ndim, target->sizes),
                        lt_format_sizes(b, sizeof b, input->ndim, input->sizes));
    const int64_t classes = input->ndim > 0 ? input->sizes[input->ndim - 1] : 1;
    lt_scope_open(&s, LT_COMPOSITE(multilabel_margin_loss));
    lt_tensor *given = do_contiguous(&s, do_cast(&s, target, LT_INT64));
    check_classes(&s, given, classes, true);
    lt_tensor *t = s.status == LT_OK ? do_rows(&s, given) : NULL, *x = do_rows(&s, input),
              *zero = do_number(&s, 0);
    /* The labels of a row end before its first negative entry. */
    lt_tensor *label = do_ge(&s, t, do_scalar(&s, lt_scalar_from_int(0))),
              *ended = do_cumsum(&s, do_logical_not(&s, label), 1);
    label = do_equals(&s, ended, 0);
    lt_tensor *safe = do_where(&s, label, t, do_scalar(&s, lt_scalar_from_int(0)));
    lt_tensor *own = do_unsqueeze(&s, do_gather(&s, x, 1, safe), 2), *all = do_unsqueeze(&s, x, 1);
    lt_tensor *loss = do_at_least(&s, plus(&s, do_sub(&s, all, own), 1), 0); /* [n, label, class] */
    lt_tensor *column = do_unsqueeze(&s, label, 2), *named = NULL;
    if (s.status == LT_OK) { /* the classes that are labels */
        lt_tensor *hit = do_logical_and(
            &s, do_eq(&s, do_unsqueeze(&s, safe, 2), do_range(&s, classes, input->device)), column);
        named = do_gt(&s, do_sum_dim(&s, hit, 1, true), do_scalar(&s, lt_scalar_from_int(0)));
    }
    lt_tensor *counts = do_logical_and(&s, column, do_logical_not(&s, named));
    loss = do_sum_dims(&s, do_where(&s, counts, loss, zero), &(lt_dims){2, {1, 2}}, false);
    loss = times(&s, loss, 1.0 / (double)classes);
    if (input->ndim < 2) loss = do_squeeze_dim(&s, loss, 0);
    return lt_scope_return(&s, do_reduce(&s, loss, how), out);
}
