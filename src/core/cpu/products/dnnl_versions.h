/* dnnl_versions.h - the functions of oneDNN and wrappers over the differences between versions 2
 * and 3: in version 3 a memory descriptor is an object, and a primitive descriptor is created in
 * one step. Included by dnnl_plan.c only, after oneDNN's header. */
#ifndef LT_CPU_DNNL_VERSIONS_H
#define LT_CPU_DNNL_VERSIONS_H

/* clang-format off */
#define FUNCTIONS(X) \
    X(engine_create) \
    X(stream_create) \
    X(stream_destroy) \
    X(memory_desc_equal) \
    X(memory_desc_get_size) \
    X(primitive_attr_create) \
    X(primitive_attr_destroy) \
    X(primitive_attr_set_scratchpad_mode) \
    X(primitive_desc_destroy) \
    X(primitive_desc_query_md) \
    X(primitive_create) \
    X(primitive_destroy) \
    X(primitive_execute) \
    X(reorder_primitive_desc_create) \
    X(memory_create) \
    X(memory_destroy)
/* clang-format on */

#if DNNL_VERSION_MAJOR == 2
/* clang-format off */
#define FUNCTIONS_OF_VERSION(X) \
    X(memory_desc_init_by_tag) \
    X(memory_desc_init_by_strides) \
    X(primitive_desc_create) \
    X(dilated_convolution_forward_desc_init) \
    X(dilated_convolution_backward_data_desc_init) \
    X(dilated_convolution_backward_weights_desc_init)
/* clang-format on */
#else
/* clang-format off */
#define FUNCTIONS_OF_VERSION(X) \
    X(memory_desc_create_with_tag) \
    X(memory_desc_create_with_strides) \
    X(memory_desc_destroy) \
    X(convolution_forward_primitive_desc_create) \
    X(convolution_backward_data_primitive_desc_create) \
    X(convolution_backward_weights_primitive_desc_create)
/* clang-format on */
#endif

static struct {
#define X(name) __typeof__(&dnnl_##name) name;
    FUNCTIONS(X)
    FUNCTIONS_OF_VERSION(X)
#undef X
    dnnl_engine_t engine;
    lt_openmp openmp;
    bool ready;
} lib;

static void load_dnnl(const lt_library *self)
{
    void *library = lt_openmp_dlopen(self->name, &lib.openmp);
    bool complete = library != NULL;
    if (library == NULL) return;
#define X(name)                                                                                    \
    complete = complete && (*(void **)&lib.name = dlsym(library, "dnnl_" #name)) != NULL;
    FUNCTIONS(X)
    FUNCTIONS_OF_VERSION(X)
#undef X
    lib.ready = complete && lib.engine_create(&lib.engine, dnnl_cpu, 0) == dnnl_success;
}

/* ---- layouts: owned memory descriptors (zero: none), and the type that the functions take ---- */

typedef dnnl_memory_desc_t layout;

#if DNNL_VERSION_MAJOR == 2

typedef const dnnl_memory_desc_t *known_layout;

static known_layout layout_known(const layout *made) { return made; }

static bool layout_make(layout *made, int ndim, const dnnl_dims_t dims, dnnl_data_type_t dtype,
                        dnnl_format_tag_t tag)
{
    return lib.memory_desc_init_by_tag(made, ndim, dims, dtype, tag) == dnnl_success;
}

static bool layout_make_strided(layout *made, int ndim, const dnnl_dims_t dims,
                                dnnl_data_type_t dtype, const dnnl_dims_t strides)
{
    return lib.memory_desc_init_by_strides(made, ndim, dims, dtype, strides) == dnnl_success;
}

static void layout_free(layout *made) { (void)made; }

#else

typedef const_dnnl_memory_desc_t known_layout;

static known_layout layout_known(const layout *made) { return *made; }

static bool layout_make(layout *made, int ndim, const dnnl_dims_t dims, dnnl_data_type_t dtype,
                        dnnl_format_tag_t tag)
{
    return lib.memory_desc_create_with_tag(made, ndim, dims, dtype, tag) == dnnl_success;
}

static bool layout_make_strided(layout *made, int ndim, const dnnl_dims_t dims,
                                dnnl_data_type_t dtype, const dnnl_dims_t strides)
{
    return lib.memory_desc_create_with_strides(made, ndim, dims, dtype, strides) == dnnl_success;
}

static void layout_free(layout *made)
{
    if (*made != NULL) lib.memory_desc_destroy(*made);
    *made = NULL;
}

#endif

/* ---- primitive descriptors of a convolution; NULL: not supported ----------------------------- */

typedef struct convolution {
    const layout *x, *w, *bias, *y; /* bias may be NULL */
    const int64_t *strides, *dilates, *low, *high;
} convolution;

#if DNNL_VERSION_MAJOR == 2

static dnnl_primitive_desc_t primitive_of(const void *description, dnnl_primitive_attr_t attributes,
                                          dnnl_primitive_desc_t hint)
{
    dnnl_primitive_desc_t made = NULL;
    return lib.primitive_desc_create(&made, description, attributes, lib.engine, hint) ==
                   dnnl_success
               ? made
               : NULL;
}

static dnnl_primitive_desc_t forward_desc(const convolution *c, dnnl_primitive_attr_t attributes)
{
    dnnl_convolution_desc_t d;
    if (lib.dilated_convolution_forward_desc_init(
            &d, dnnl_forward_training, dnnl_convolution_direct, c->x, c->w, c->bias, c->y,
            c->strides, c->dilates, c->low, c->high) != dnnl_success)
        return NULL;
    return primitive_of(&d, attributes, NULL);
}

static dnnl_primitive_desc_t backward_data_desc(const convolution *c, dnnl_primitive_desc_t hint,
                                                dnnl_primitive_attr_t attributes)
{
    dnnl_convolution_desc_t d;
    if (lib.dilated_convolution_backward_data_desc_init(&d, dnnl_convolution_direct, c->x, c->w,
                                                        c->y, c->strides, c->dilates, c->low,
                                                        c->high) != dnnl_success)
        return NULL;
    return primitive_of(&d, attributes, hint);
}

static dnnl_primitive_desc_t backward_weights_desc(const convolution *c, dnnl_primitive_desc_t hint,
                                                   dnnl_primitive_attr_t attributes)
{
    dnnl_convolution_desc_t d;
    if (lib.dilated_convolution_backward_weights_desc_init(&d, dnnl_convolution_direct, c->x, c->w,
                                                           NULL, c->y, c->strides, c->dilates,
                                                           c->low, c->high) != dnnl_success)
        return NULL;
    return primitive_of(&d, attributes, hint);
}

#else

static dnnl_primitive_desc_t forward_desc(const convolution *c, dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t made = NULL;
    return lib.convolution_forward_primitive_desc_create(
               &made, lib.engine, dnnl_forward_training, dnnl_convolution_direct, *c->x, *c->w,
               c->bias != NULL ? *c->bias : NULL, *c->y, c->strides, c->dilates, c->low, c->high,
               attributes) == dnnl_success
               ? made
               : NULL;
}

static dnnl_primitive_desc_t backward_data_desc(const convolution *c, dnnl_primitive_desc_t hint,
                                                dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t made = NULL;
    return lib.convolution_backward_data_primitive_desc_create(
               &made, lib.engine, dnnl_convolution_direct, *c->x, *c->w, *c->y, c->strides,
               c->dilates, c->low, c->high, hint, attributes) == dnnl_success
               ? made
               : NULL;
}

static dnnl_primitive_desc_t backward_weights_desc(const convolution *c, dnnl_primitive_desc_t hint,
                                                   dnnl_primitive_attr_t attributes)
{
    dnnl_primitive_desc_t made = NULL;
    return lib.convolution_backward_weights_primitive_desc_create(
               &made, lib.engine, dnnl_convolution_direct, *c->x, *c->w, NULL, *c->y, c->strides,
               c->dilates, c->low, c->high, hint, attributes) == dnnl_success
               ? made
               : NULL;
}

#endif

#endif
