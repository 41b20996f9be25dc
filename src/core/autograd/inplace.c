/* inplace.c - rebases the history of a base after an in-place op on one of its views.
 *
 * The base becomes an output of a CopySlices node. Its derivative passes the gradient of the
 * written part through the op's own node, and the rest of the gradient to the base's previous
 * history. Other views of the base get a new grad_fn when it is next read (history.c). */
#include <stddef.h>

#include "assertion.h"
#include "autograd/dual.h"
#include "saturating.h"
#include "autograd/internal.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "op/clone.h"
#include "op/contiguous.h"
#include "op/copy_.h"
#include "op/fill_.h"
#include "op/zeros.h"

/* The grad_fn of a base after a write to a part of it. */
typedef struct copy_slices {
    lt_node node;
    /* counted: the node of the op that wrote the part; NULL after the graph's memory was freed */
    lt_node *op;
    lt_geometry base, part;
    bool dense;        /* the base is contiguous */
    int8_t part_dtype; /* may differ: the real or imaginary part of a complex base */
} copy_slices;

/* View of memory with the given geometry, relative to the base's offset. */
static lt_status shown(const copy_slices *c, lt_tensor *memory, const lt_geometry *geometry,
                       lt_tensor **out)
{
    const lt_dtype dtype = geometry == &c->part ? (lt_dtype)c->part_dtype : (lt_dtype)memory->dtype;
    return lt_strided_view(memory, dtype, geometry, c->base.offset, memory->offset, out);
}

/* New reference: the base's gradient in memory with the base's strides. */
static lt_status laid_out(const copy_slices *c, lt_tensor *grad, lt_tensor **out)
{
    if (c->dense) return lt_contiguous(grad, out);
    int64_t length = 1;
    for (int d = 0; d < c->base.ndim; d++) {
        if (c->base.sizes[d] == 0) length = 0;
        if (length > 0)
            length = lt_add_within(length, lt_mul_within(c->base.sizes[d] - 1, c->base.strides[d]));
    }
    lt_dims line = {.n = 1, .v = {length}};
    lt_tensor *memory = NULL, *as_base = NULL;
    lt_status status;
    LT_CHECK(lt_zeros(&line, (lt_dtype)grad->dtype, &grad->device, &memory));
    LT_CHECK(shown(c, memory, &c->base, &as_base));
    LT_CHECK(lt_copy_(as_base, grad, false));
    *out = memory;
    memory = NULL;
done:
    lt_tensor_release(memory);
    lt_tensor_release(as_base);
    return status;
}

/* New reference: a copy of memory, viewed as the base, with the part replaced by the op's gradient
 * (NULL: zeros). */
static lt_status with_part(const copy_slices *c, lt_tensor *memory, lt_tensor *given,
                           lt_tensor **out)
{
    lt_tensor *copy = NULL, *part = NULL;
    lt_status status;
    LT_CHECK(lt_clone(memory, &copy));
    LT_CHECK(shown(c, copy, &c->part, &part));
    LT_CHECK(given != NULL ? lt_copy_(part, given, false) : lt_fill_(part, lt_scalar_from_int(0)));
    if (c->dense) {
        *out = lt_tensor_retain(copy);
    } else {
        LT_CHECK(shown(c, copy, &c->base, out));
    }
done:
    lt_tensor_release(copy);
    lt_tensor_release(part);
    return status;
}

static lt_status copy_slices_apply(lt_node *node, lt_tensor *const *grads, lt_tensor **results,
                                   const bool *needs)
{
    copy_slices *c = (copy_slices *)node;
    lt_tensor *memory = NULL, *part = NULL, *whole = NULL;
    LT_ASSERT(c->part.ndim <= LT_MAX_DIMS && c->base.ndim <= LT_MAX_DIMS);
    lt_status status;
    if (c->op == NULL) return lt_saved_is_freed();
    LT_CHECK(laid_out(c, grads[0], &memory));
    LT_CHECK(shown(c, memory, &c->part, &part));
    LT_CHECK(lt_node_apply(c->op, &part, results, needs));
    if (needs[0]) {
        LT_CHECK(with_part(c, memory, results[0], &whole));
        lt_tensor_release(results[0]);
        results[0] = whole;
    }
done:
    lt_tensor_release(memory);
    lt_tensor_release(part);
    return status;
}

/* Releases op without freeing its saved values: the graph of a second derivative may use them. */
static void copy_slices_release(lt_node *node)
{
    copy_slices *c = (copy_slices *)node;
    lt_node *op = c->op;
    c->op = NULL;
    lt_node_release(op);
}

static const lt_owned copy_slices_owned[] = {{offsetof(copy_slices, op), LT_OWNED_NODE},
                                             {0, LT_OWNED_NODE}};
static const lt_node_class copy_slices_class = {"CopySlices",
                                                sizeof(copy_slices),
                                                copy_slices_apply,
                                                copy_slices_release,
                                                NULL,
                                                copy_slices_owned,
                                                false,
                                                false};

lt_status lt_node_attach_inplace(lt_node *node, lt_tensor *t)
{
    lt_tensor *base = lt_base_of(t);
    t->storage->writer = base == NULL ? node->class->name : copy_slices_class.name;
    if (base == NULL) return lt_node_attach(node, 0, t);
    lt_node *rebased;
    LT_TRY(lt_node_new(&copy_slices_class, 1, node->outputs, &rebased));
    LT_ASSERT(base->view_base == NULL || lt_is_batched(base), "a base is no view");
    copy_slices *c = (copy_slices *)rebased;
    lt_like_of(&node->meta[0], t);
    c->op = lt_node_retain(node);
    c->dense = lt_is_contiguous(base);
    lt_geometry_of(&c->base, base);
    lt_geometry_of(&c->part, t);
    c->part_dtype = t->dtype;
    for (int i = 1; i < node->outputs; i++) {
        rebased->edges[i] = node->edges[i];
        if (node->edges[i].node != NULL) lt_node_retain(node->edges[i].node);
    }
    lt_status status = lt_node_connect(rebased, 0, base);
    if (status == LT_OK) status = lt_node_attach(rebased, 0, base);
    lt_node_release(rebased);
    return status;
}

lt_status lt_become_view(lt_tensor *t, lt_tensor *view, const lt_node_class *class)
{
    LT_ASSERT(view->storage == t->storage && view->dtype == t->dtype, "dtypes %d, %d", view->dtype,
              t->dtype);
    lt_node *node = view->autograd != NULL ? view->autograd->grad_fn : NULL;
    t->ndim = view->ndim;
    t->offset = view->offset;
    t->numel = view->numel;
    t->sizes[0] = t->strides[0] = 1;
    for (int d = 0; d < view->ndim; d++)
        t->sizes[d] = view->sizes[d], t->strides[d] = view->strides[d];
    t->flags = (uint16_t)((t->flags & ~LT_FLAG_CONTIGUOUS) | (view->flags & LT_FLAG_CONTIGUOUS));
    lt_bump_version(t);
    if (__builtin_expect(lt_tls.duals != 0, 0)) LT_TRY(lt_dual_share(view, t));
    if (node == NULL) return LT_OK;
    node->class = class;
    return lt_node_attach(node, 0, t);
}
