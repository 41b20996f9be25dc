/* plugin.c - lt_plugin_load: opens a shared object with own operations (ltensor_plugin.h). */
#include "ltensor_plugin.h"

#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "error.h"
#include "lock.h"
#include "memory/alloc.h"
#include "system/shared_library.h"

/* ---- the table ------------------------------------------------------------------------------- */

/* The table's types are frozen, also where ltensor.h adds qualifiers. */
static lt_status tensor_item(const lt_tensor *t, lt_scalar *out)
{
    return lt_tensor_item((lt_tensor *)t, out);
}
static lt_status tensor_copy_to(const lt_tensor *t, void *data, size_t bytes)
{
    return lt_tensor_copy_to((lt_tensor *)t, data, bytes);
}
static lt_status tensor_to(const lt_tensor *t, lt_dtype dtype, const lt_device *device,
                           lt_tensor **out)
{
    return lt_tensor_to((lt_tensor *)t, dtype, device, out);
}

static const lt_plugin_api table = {
    .size = sizeof table,
    .abi = LT_PLUGIN_ABI,
    .version = LT_VERSION,
    .error_message = lt_error_message,
    .op_error = lt_op_error,
    .op_register = lt_op_register,
    .op_allocate = lt_op_allocate,
    .call = lt_call,
    .value_release = lt_value_release,
    .tensor_new = lt_tensor_new,
    .tensor_wrap_strided = lt_tensor_wrap_strided,
    .tensor_retain = lt_tensor_retain,
    .tensor_release = lt_tensor_release,
    .tensor_dtype = lt_tensor_dtype,
    .tensor_device = lt_tensor_device,
    .tensor_ndim = lt_tensor_ndim,
    .tensor_sizes = lt_tensor_sizes,
    .tensor_strides = lt_tensor_strides,
    .tensor_numel = lt_tensor_numel,
    .tensor_is_contiguous = lt_tensor_is_contiguous,
    .tensor_layout = lt_tensor_layout,
    .tensor_data = lt_tensor_data,
    .tensor_item = tensor_item,
    .tensor_copy_from = lt_tensor_copy_from,
    .tensor_copy_to = tensor_copy_to,
    .tensor_to = tensor_to,
    .device_synchronize = lt_device_synchronize,
    .tensor_requires_grad = lt_tensor_requires_grad,
    .set_grad_enabled = lt_set_grad_enabled,
    .dtype_size = lt_dtype_size,
    .dtype_name = lt_dtype_name,
};

/* ---- loading --------------------------------------------------------------------------------- */

/* The plugins that were opened; their handles are never closed. Guarded by the lock, which is held
 * while a plugin opens, so that each opens once. */
static void **opened;
static int n_opened;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LT_HOLD_ACROSS_FORK(lock)

static lt_status check_version(void *library, const char *path)
{
    const lt_plugin_info *info = lt_shared_symbol(library, "lt_plugin_declared");
    if (info == NULL || lt_shared_symbol(library, "lt_plugin_open") == NULL)
        return lt_error(LT_ERR_RUNTIME,
                        "%s is not a plugin: it exports no %s; include ltensor_plugin.h, and write "
                        "LT_PLUGIN_DECLARE behind lt_plugin_open",
                        path, info == NULL ? "lt_plugin_declared" : "lt_plugin_open");
    if (info->abi < 1 || info->abi > LT_PLUGIN_ABI)
        return lt_error(LT_ERR_RUNTIME,
                        "%s was built for version %u of the plugin interface, but ltensor %s "
                        "supports versions 1 to %d; build it with the header of this version",
                        path, (unsigned)info->abi, LT_VERSION, LT_PLUGIN_ABI);
    if (info->api_size > sizeof table)
        return lt_error(LT_ERR_RUNTIME,
                        "%s needs functions of a later version of ltensor than %s; install that "
                        "version, or build the plugin with the header of this one",
                        path, LT_VERSION);
    return LT_OK;
}

static bool is_open(const void *library)
{
    for (int i = 0; i < n_opened; i++)
        if (opened[i] == library) return true;
    return false;
}

/* Calls the entry point in the context of the process, where its operations are for all. */
static lt_status open_plugin(void *library)
{
    const uintptr_t open = (uintptr_t)lt_shared_symbol(library, "lt_plugin_open");
    const lt_context_outer outer = lt_context_visit(&lt_process_context);
    void **grown = lt_mem_rearray(opened, n_opened + 1, sizeof *grown);
    lt_status status = grown != NULL ? LT_OK : LT_ERR_MEMORY;
    if (status == LT_OK) {
        opened = grown;
        status = ((lt_status(*)(const lt_plugin_api *))open)(&table);
    }
    lt_context_return(outer);
    if (status == LT_OK) opened[n_opened++] = library;
    return status;
}

lt_status lt_plugin_load(const char *path)
{
    LT_REQUIRE(path);
    LT_TRY(lt_authorize(LT_ACCESS_LIBRARY, path));
    pthread_mutex_lock(&lock);
    void *library = lt_shared_open_bound(path);
    lt_status status = LT_OK;
    if (library == NULL) {
        status =
            lt_error(LT_ERR_IO, "the plugin %s could not be loaded: %s", path, lt_shared_error());
    } else if (!is_open(library)) {
        status = check_version(library, path);
        if (status == LT_OK)
            status = open_plugin(library); /* after a failure, it may have registered operations */
        else
            lt_shared_close(library);
    } else {
        lt_shared_close(library); /* counts the references */
    }
    lt_unlock(&lock);
    return status;
}
