/* ltensor_plugin.h - plugins: shared objects with operations, which a program loads at run time.
 *
 *   #include "ltensor_plugin.h"
 *   static lt_status run(void *user, const lt_value *args, int nargs, lt_value *results, ...
 *   LT_PLUGIN lt_status lt_plugin_open(const lt_plugin_api *api)
 *   {
 *       lt_op_definition definition =
 *           lt_op_definition_of("myops::twice(Tensor x) -> Tensor", run);
 *       definition.user = (void *)api;
 *       return api->op_register(&definition);
 *   }
 *   LT_PLUGIN_DECLARE
 *
 *   cc -O2 -shared -fPIC -I/usr/local/include myops.c -o myops.so
 *   torch.ops.load_library('./myops.so')
 *
 * A plugin calls the library through the table that lt_plugin_open receives, so it is linked with
 * nothing. The interface is frozen: a plugin that was compiled with this header loads in every
 * later version of the library. Later versions append functions to the table and raise
 * LT_PLUGIN_ABI only if a plugin could not work otherwise. The library rejects a plugin that needs
 * more functions than it has. */
#ifndef LTENSOR_PLUGIN_H
#define LTENSOR_PLUGIN_H

#ifndef LT_OPS_BY_NAME
#define LT_OPS_BY_NAME /* without the functions of the operations, which need the library */
#endif
#include "ltensor.h"

#ifdef __cplusplus
extern "C" {
#define LT_PLUGIN extern "C" LT_API
#else
#define LT_PLUGIN LT_API
#endif

#define LT_PLUGIN_ABI 1

/* The functions of the library; each is documented with its name in ltensor.h or
 * ltensor_register.h: api->tensor_new is lt_tensor_new. Valid until the process ends; any thread
 * may call them. */
typedef struct lt_plugin_api {
    uint32_t size;       /* bytes of this struct in the library: only so many may be read */
    uint32_t abi;        /* LT_PLUGIN_ABI of the library */
    const char *version; /* "0.2.0" */

    const char *(*error_message)(void);
    lt_status (*op_error)(lt_status status, const char *message);
    lt_status (*op_register)(const lt_op_definition *definition);
    lt_tensor **(*op_allocate)(int64_t n);

    lt_status (*call)(const char *name, const lt_value *args, int nargs,
                      const lt_named_value *named, int nnamed, lt_value *results, int *nresults);
    void (*value_release)(lt_value *value);

    lt_status (*tensor_new)(lt_dtype dtype, lt_device device, int ndim, const int64_t *sizes,
                            lt_tensor **out);
    lt_status (*tensor_wrap_strided)(void *data, lt_dtype dtype, lt_device device, int ndim,
                                     const int64_t *sizes, const int64_t *strides,
                                     void (*release)(void *ctx), void *ctx, lt_tensor **out);
    lt_tensor *(*tensor_retain)(lt_tensor *t);
    void (*tensor_release)(lt_tensor *t);
    lt_dtype (*tensor_dtype)(const lt_tensor *t);
    lt_device (*tensor_device)(const lt_tensor *t);
    int (*tensor_ndim)(const lt_tensor *t);
    const int64_t *(*tensor_sizes)(const lt_tensor *t);
    const int64_t *(*tensor_strides)(const lt_tensor *t);
    int64_t (*tensor_numel)(const lt_tensor *t);
    bool (*tensor_is_contiguous)(const lt_tensor *t);
    lt_layout (*tensor_layout)(const lt_tensor *t);
    void *(*tensor_data)(const lt_tensor *t);
    lt_status (*tensor_item)(const lt_tensor *t, lt_scalar *out);
    lt_status (*tensor_copy_from)(lt_tensor *t, const void *data, size_t bytes);
    lt_status (*tensor_copy_to)(const lt_tensor *t, void *data, size_t bytes);
    lt_status (*tensor_to)(const lt_tensor *t, lt_dtype dtype, const lt_device *device,
                           lt_tensor **out);
    lt_status (*device_synchronize)(lt_device device);
    bool (*tensor_requires_grad)(const lt_tensor *t);
    bool (*set_grad_enabled)(bool on);
    size_t (*dtype_size)(lt_dtype dtype);
    const char *(*dtype_name)(lt_dtype dtype);
} lt_plugin_api;

/* Written by LT_PLUGIN_DECLARE, which stands once in a plugin, behind lt_plugin_open. */
typedef struct lt_plugin_info {
    uint32_t abi, api_size; /* of the header that the plugin was compiled with */
} lt_plugin_info;
#ifdef __cplusplus
}
#define LT_PLUGIN_DECLARE                                                                          \
    extern "C" LT_API const lt_plugin_info lt_plugin_declared;                                     \
    const lt_plugin_info lt_plugin_declared = {LT_PLUGIN_ABI, (uint32_t)sizeof(lt_plugin_api)};
#else
#define LT_PLUGIN_DECLARE                                                                          \
    LT_API const lt_plugin_info lt_plugin_declared = {LT_PLUGIN_ABI,                               \
                                                      (uint32_t)sizeof(lt_plugin_api)};
#endif

/* The entry point of a plugin: registers its operations. The library calls it once. After a failure,
 * the plugin and the operations that it has registered stay. */
LT_PLUGIN lt_status lt_plugin_open(const lt_plugin_api *api);

#endif
