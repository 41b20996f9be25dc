/* loader.c - loads backends: the CUDA one, or the simulated one, when a GPU is first used. If that
 * fails, the error is stored and reported to the user. A loaded backend is never unloaded. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertion.h"
#include "backend.h"
#include "backend_abi.h"
#include "copies.h"
#include "system/shared_library.h"
#include "system/threads.h"
#include "user_index.h"
#include "error.h"
#include "device.h"
#include "device_type.h"
#include "context/interrupt.h"
#include "libraries/library.h"
#include "memory/limit.h"
#include "memory/pressure.h"
#include "op_name.h"
#include "tensor.h"
#include "user_kernel.h"

static char missing_reason[LT_DEVICE_TYPES][512];
static void *loaded_library; /* of the GPU backend */

static bool core_interrupted(void) { return lt_interrupted(); }

static void core_record_wait(int device, const char *cause, double seconds)
{
    lt_copy_cause previous = lt_copies_set_cause((lt_copy_cause){cause, true});
    const lt_device gpu = {(int8_t)lt_accelerator(), (int8_t)device};
    lt_copies_record(gpu, lt_host, 0, seconds);
    lt_copies_set_cause(previous);
}

static const char *core_op_name(void) { return lt_op_name; }

void lt_set_allow_tf32(bool on)
{
    atomic_store_explicit(&lt_tls.context->tf32, on, memory_order_relaxed);
}
bool lt_allow_tf32(void)
{
    return atomic_load_explicit(&lt_tls.context->tf32, memory_order_relaxed);
}
void lt_set_allow_convolution_tf32(bool on)
{
    atomic_store_explicit(&lt_tls.context->exact_convolutions, !on, memory_order_relaxed);
}
bool lt_allow_convolution_tf32(void)
{
    return !atomic_load_explicit(&lt_tls.context->exact_convolutions, memory_order_relaxed);
}

void lt_set_cudnn_enabled(bool on)
{
    atomic_store_explicit(&lt_tls.context->without_cudnn, !on, memory_order_relaxed);
}
bool lt_cudnn_enabled(void)
{
    return !atomic_load_explicit(&lt_tls.context->without_cudnn, memory_order_relaxed);
}

void lt_set_attention_allowed(lt_attention_algorithm way, bool on)
{
    if (on)
        atomic_fetch_and_explicit(&lt_tls.context->attention_without, ~(1 << way),
                                  memory_order_relaxed);
    else
        atomic_fetch_or_explicit(&lt_tls.context->attention_without, 1 << way,
                                 memory_order_relaxed);
}
bool lt_attention_allowed(lt_attention_algorithm way)
{
    LT_ASSERT((unsigned)way < 31, "way %d", (int)way);
    return !(atomic_load_explicit(&lt_tls.context->attention_without, memory_order_relaxed) >> way &
             1);
}

void lt_set_deterministic(bool on, bool warn_only)
{
    lt_context *c = lt_tls.context;
    atomic_store_explicit(&c->deterministic, on, memory_order_relaxed);
    atomic_store_explicit(&c->deterministic_warns, on && warn_only, memory_order_relaxed);
}
bool lt_deterministic(void)
{
    return atomic_load_explicit(&lt_tls.context->deterministic, memory_order_relaxed);
}
bool lt_deterministic_warn_only(void)
{
    return atomic_load_explicit(&lt_tls.context->deterministic_warns, memory_order_relaxed);
}

static __attribute__((noinline, cold)) void find_device_size(int device)
{
    size_t available, all = 0;
    if (lt_backends[LT_CUDA]->memory_info(device, &available, &all) != LT_OK) all = 0;
    lt_mem_set_device_size(LT_USE_DEVICE(device), (int64_t)all);
}
static bool core_charge(int device, int64_t bytes)
{
    LT_ASSERT(device >= 0 && device < LT_MAX_DEVICES, "device %d", device);
    if (__builtin_expect(!lt_mem_has_device_size(LT_USE_DEVICE(device)), 0))
        find_device_size(device);
    return lt_mem_charge(LT_USE_DEVICE(device), bytes);
}
static lt_status core_refuse(int device, int64_t bytes)
{
    return lt_mem_limit_error(LT_USE_DEVICE(device), bytes);
}
static lt_status core_authorize_library(const char *name)
{
    return lt_authorize(LT_ACCESS_LIBRARY, name);
}

static const lt_core_services services = {
    .error = lt_error_set,
    .index_error = lt_index_error,
    .interrupted = core_interrupted,
    .reclaim = lt_mem_reclaim,
    .stopped = lt_stopped,
    .charge = core_charge,
    .refuse = core_refuse,
    .authorize_library = core_authorize_library,
    .record_wait = core_record_wait,
    .op_name = core_op_name,
    .allow_tf32 = lt_allow_tf32,
    .allow_convolution_tf32 = lt_allow_convolution_tf32,
    .cudnn_enabled = lt_cudnn_enabled,
    .attention_allowed = lt_attention_allowed,
    .deterministic = lt_deterministic,
    .origin = lt_copies_origin,
    .default_generator = lt_default_generator,
};

static bool are_simulated(const lt_device_type_info *type)
{
    const char *text = getenv(type->simulated_variable);
    return text != NULL && atoi(text) > 0;
}

/* Whether the library has the ABI of this program; else `reason` names the library's version. */
static bool made_for_us(void *library, const char *name, char *reason, size_t n)
{
    static const lt_backend_abi ours = LT_BACKEND_ABI_HERE;
    const lt_backend_abi *theirs = lt_shared_symbol(library, LT_BACKEND_ABI);
    if (theirs != NULL && theirs->size == ours.size && memcmp(theirs, &ours, sizeof ours) == 0)
        return true;
    char made_for[80] = "an unknown version";
    if (theirs != NULL && theirs->size == ours.size)
        snprintf(made_for, sizeof made_for, "ltensor %.19s (interface %.19s)", theirs->version,
                 theirs->hash);
    snprintf(
        reason, n,
        "%s was built for %s, this is ltensor %s (interface %s): build or install both together",
        name, made_for, ours.version, ours.hash);
    return false;
}

/* The backend of an open library; NULL: unusable, with the reason. */
static const lt_backend *open_backend(void *library, const char *name, char *reason, size_t n)
{
    if (!made_for_us(library, name, reason, n)) {
        lt_shared_close(library);
        return NULL;
    }
    lt_backend_open_fn open =
        (lt_backend_open_fn)(uintptr_t)lt_shared_symbol(library, LT_BACKEND_OPEN);
    snprintf(reason, n, "%s exports no %s", name, LT_BACKEND_OPEN);
    const lt_backend *backend = open != NULL ? open(&services, reason, n) : NULL;
    if (backend != NULL) loaded_library = library;
    return backend;
}

/* The backend for older drivers, if it is installed; NULL: it is not, or finds no device either. */
static const lt_backend *open_older(const lt_device_type_info *type)
{
    char unused[512];
    void *library = lt_library_open_ours(type->older_library);
    return library != NULL ? open_backend(library, type->older_library, unused, sizeof unused)
                           : NULL;
}

/* Loads the backend of a type; NULL with the reason. */
static const lt_backend *load_backend(const lt_device_type_info *type, const char *library_name,
                                      char *reason, size_t n)
{
    const char *disabled = getenv(type->disabled_variable);
    if (disabled != NULL) {
        snprintf(reason, n, "%s was disabled by %s", type->title,
                 disabled[0] == '-' ? disabled : type->disabled_variable);
        return NULL;
    }
    const bool simulated = are_simulated(type);
    const char *name = simulated ? type->simulated_library : library_name;
    void *library = lt_library_open_ours(name);
    if (library == NULL) {
        const char *why = lt_shared_error();
        if (simulated)
            snprintf(
                reason, n,
                "the simulated %s backend %s could not be loaded: %s; set LTENSOR_LIB_DIR to the "
                "folder of %s",
                type->title, name, why, name);
        else
            snprintf(reason, n,
                     "ltensor was built without %s, or its backend %s could not be loaded (%s)",
                     type->title, name, why);
        return NULL;
    }
    const lt_backend *backend = open_backend(library, name, reason, n);
    return backend == NULL && !simulated ? open_older(type) : backend;
}

static void load_type(const lt_library *self);
/* The libraries of backends that are not linked into core. */
static lt_library libraries[LT_DEVICE_TYPES] = {[LT_CUDA] =
                                                    LT_LIBRARY(LT_PLUGIN_NAME("cuda"), load_type)};

static void load_type(const lt_library *self)
{
    const int type = (int)(self - libraries);
    LT_ASSERT(type > LT_CPU && type < LT_DEVICE_TYPES, "device type %d", type);
    LT_ASSERT(lt_backends[type] == NULL, "%s is loaded", self->name);
    lt_backend_register((lt_device_type)type,
                        load_backend(&lt_device_types[type], self->name, missing_reason[type],
                                     sizeof missing_reason[type]));
}

/* Loads the backend of a type once. LT_ERR_PERMISSION if the context does not permit it. */
static lt_status need(lt_device_type type)
{
    return libraries[type].name != NULL ? lt_library_need(&libraries[type]) : LT_OK;
}

const lt_backend *lt_backend_probe(lt_device_type type)
{
    return (unsigned)type < LT_DEVICE_TYPES && need(type) == LT_OK ? lt_backends[type] : NULL;
}

const lt_user_kernels *lt_backend_user_kernels(void)
{
    return loaded_library != NULL ? lt_shared_symbol(loaded_library, LT_USER_KERNELS) : NULL;
}

const char *lt_backend_missing_reason(void)
{
    const lt_device_type type = lt_accelerator();
    return need(type) == LT_OK ? missing_reason[type] : lt_error_message();
}

/* The table of a type; an error if there is none. */
static lt_status find_backend(lt_device_type type, const lt_backend **out)
{
    if ((unsigned)type >= LT_DEVICE_TYPES)
        return lt_error(LT_ERR_TYPE, "%d is not a type of device", (int)type);
    LT_TRY(need(type));
    *out = lt_backends[type];
    if (*out != NULL) return LT_OK;
    const lt_device_type_info *info = &lt_device_types[type];
    if (getenv(info->disabled_variable) != NULL || are_simulated(info))
        return lt_error(LT_ERR_DEVICE, "no %s GPUs are available: %s", info->title,
                        missing_reason[type]);
    return lt_error(LT_ERR_DEVICE,
                    "no %s GPUs are available: %s; to simulate N GPUs, start ltensor with "
                    "--sim-gpus N or set %s=N in the environment",
                    info->title, missing_reason[type], info->simulated_variable);
}

const lt_backend *lt_backend_get(lt_device_type type)
{
    const lt_backend *backend = NULL;
    return find_backend(type, &backend) == LT_OK ? backend : NULL;
}

lt_status lt_device_resolve(lt_device *device)
{
    if (device->type == LT_CPU) {
        device->index = 0;
        return LT_OK;
    }
    const lt_backend *backend;
    LT_TRY(find_backend((lt_device_type)device->type, &backend));
    if (device->index < 0) device->index = (int8_t)backend->current_device();
    char name[16]; /* formatted only where needed: this runs for each new tensor */
    if (lt_has_authorizer())
        LT_TRY(lt_refuse_access(LT_ACCESS_DEVICE, lt_format_device(name, sizeof name, *device)));
    LT_ASSERT(device->index >= 0, "index %d", device->index);
    int count = backend->device_count();
    if (device->index >= count)
        return lt_error(LT_ERR_DEVICE,
                        "%s error: invalid device ordinal: %s was requested, but there %s %d GPU%s "
                        "(device numbers count from 0)",
                        lt_device_types[device->type].title,
                        lt_format_device(name, sizeof name, *device), count == 1 ? "is" : "are",
                        count, count == 1 ? "" : "s");
    return LT_OK;
}
