/* dnnl_versions.h - wrappers over the differences between oneDNN 2 and 3: in version 3 a memory
 * descriptor is an object, and a primitive descriptor is created in one step. Included by
 * dnnl_plan.c only. */
#ifndef LT_CPU_DNNL_VERSIONS_H
#define LT_CPU_DNNL_VERSIONS_H

#include "libraries/dnnl.h"

/* ---- layouts: owned memory descriptors (zero: none), and the type that the functions take ---- */

static known_layout layout_known(const layout *made)
{
    return lt_dnnl.major == 2 ? (known_layout)made : made->object;
}

static bool layout_make(layout *made, int ndim, const dnnl_dims_t dims, dnnl_data_type_t dtype,
                        dnnl_format_tag_t tag)
{
    if (lt_dnnl.major == 2)
        return lt_dnnl.memory_desc_init_by_tag(made, ndim, dims, dtype, tag) == dnnl_success;
    return lt_dnnl.memory_desc_create_with_tag(&made->object, ndim, dims, dtype, tag) ==
           dnnl_success;
}

static bool layout_make_strided(layout *made, int ndim, const dnnl_dims_t dims,
                                dnnl_data_type_t dtype, const dnnl_dims_t strides)
{
    if (lt_dnnl.major == 2)
        return lt_dnnl.memory_desc_init_by_strides(made, ndim, dims, dtype, strides) ==
               dnnl_success;
    return lt_dnnl.memory_desc_create_with_strides(&made->object, ndim, dims, dtype, strides) ==
           dnnl_success;
}

static void layout_free(layout *made)
{
    if (lt_dnnl.major == 3 && made->object != NULL) lt_dnnl.memory_desc_destroy(made->object);
    made->object = NULL;
}

/* ---- primitive descriptors of a convolution; NULL: not supported ----------------------------- */

typedef struct convolution {
    known_layout x, w, bias, y; /* bias may be NULL */
    const int64_t *strides, *dilates, *low, *high;
} convolution;

/* Version 2: the descriptor of the convolution that `status` has initialized. */
static dnnl_primitive_desc_t primitive_of(dnnl_status_t status, const dnnl_convolution_desc_t *d,
                                          dnnl_primitive_attr_t attributes,
                                          dnnl_primitive_desc_t hint)
{
    dnnl_primitive_desc_t made = NULL;
    if (status != dnnl_success ||
        lt_dnnl.primitive_desc_create(&made, d, attributes, lt_dnnl.engine, hint) != dnnl_success)
        return NULL;
    return made;
}

static dnnl_primitive_desc_t forward_desc(const convolution *c, dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t made = NULL;
    if (lt_dnnl.major == 2) {
        dnnl_convolution_desc_t d;
        const dnnl_status_t status = lt_dnnl.dilated_convolution_forward_desc_init(
            &d, dnnl_forward_training, dnnl_convolution_direct, c->x, c->w, c->bias, c->y,
            c->strides, c->dilates, c->low, c->high);
        return primitive_of(status, &d, attributes, NULL);
    }
    return lt_dnnl.convolution_forward_primitive_desc_create(
               &made, lt_dnnl.engine, dnnl_forward_training, dnnl_convolution_direct, c->x, c->w,
               c->bias, c->y, c->strides, c->dilates, c->low, c->high, attributes) == dnnl_success
               ? made
               : NULL;
}

static dnnl_primitive_desc_t backward_data_desc(const convolution *c, dnnl_primitive_desc_t hint,
                                                dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t made = NULL;
    if (lt_dnnl.major == 2) {
        dnnl_convolution_desc_t d;
        const dnnl_status_t status = lt_dnnl.dilated_convolution_backward_data_desc_init(
            &d, dnnl_convolution_direct, c->x, c->w, c->y, c->strides, c->dilates, c->low, c->high);
        return primitive_of(status, &d, attributes, hint);
    }
    return lt_dnnl.convolution_backward_data_primitive_desc_create(
               &made, lt_dnnl.engine, dnnl_convolution_direct, c->x, c->w, c->y, c->strides,
               c->dilates, c->low, c->high, hint, attributes) == dnnl_success
               ? made
               : NULL;
}

static dnnl_primitive_desc_t backward_weights_desc(const convolution *c, dnnl_primitive_desc_t hint,
                                                   dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t made = NULL;
    if (lt_dnnl.major == 2) {
        dnnl_convolution_desc_t d;
        const dnnl_status_t status = lt_dnnl.dilated_convolution_backward_weights_desc_init(
            &d, dnnl_convolution_direct, c->x, c->w, NULL, c->y, c->strides, c->dilates, c->low,
            c->high);
        return primitive_of(status, &d, attributes, hint);
    }
    return lt_dnnl.convolution_backward_weights_primitive_desc_create(
               &made, lt_dnnl.engine, dnnl_convolution_direct, c->x, c->w, NULL, c->y, c->strides,
               c->dilates, c->low, c->high, hint, attributes) == dnnl_success
               ? made
               : NULL;
}

#endif
