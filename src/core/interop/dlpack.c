/* dlpack.c - see dlpack.h: exports tensors to other libraries and imports theirs. */
#include "dlpack.h"

#include <string.h>

#include "assertion.h"
#include "autograd/autograd.h"
#include "compile/trace.h"
#include "devices/backend.h"
#include "devices/device_type.h"
#include "dtypes/dtype.h"
#include "error.h"
#include "compile/deferred.h"
#include "memory/alloc.h"
#include "sparse.h"
#include "tensor.h"

static const DLDataType types[LT_DTYPE_COUNT] = {
    [LT_BOOL] = {kDLBool, 8, 1},
    [LT_UINT8] = {kDLUInt, 8, 1},
    [LT_INT8] = {kDLInt, 8, 1},
    [LT_INT16] = {kDLInt, 16, 1},
    [LT_INT32] = {kDLInt, 32, 1},
    [LT_INT64] = {kDLInt, 64, 1},
    [LT_FLOAT16] = {kDLFloat, 16, 1},
    [LT_BFLOAT16] = {kDLBfloat, 16, 1},
    [LT_FLOAT32] = {kDLFloat, 32, 1},
    [LT_FLOAT64] = {kDLFloat, 64, 1},
    [LT_COMPLEX32] = {kDLComplex, 32, 1},
    [LT_COMPLEX64] = {kDLComplex, 64, 1},
    [LT_COMPLEX128] = {kDLComplex, 128, 1},
    [LT_UINT16] = {kDLUInt, 16, 1},
    [LT_UINT32] = {kDLUInt, 32, 1},
    [LT_UINT64] = {kDLUInt, 64, 1},
    [LT_FLOAT8_E5M2] = {kDLFloat8_e5m2, 8, 1},
    [LT_FLOAT8_E4M3FN] = {kDLFloat8_e4m3fn, 8, 1},
    [LT_FLOAT8_E5M2FNUZ] = {kDLFloat8_e5m2fnuz, 8, 1},
    [LT_FLOAT8_E4M3FNUZ] = {kDLFloat8_e4m3fnuz, 8, 1},
    [LT_FLOAT8_E8M0FNU] = {kDLFloat8_e8m0fnu, 8, 1},
};

/* ---- exporting ------------------------------------------------------------------------------- */

/* An exported tensor. The alias keeps the memory alive independently of the original tensor. */
typedef struct dlpack_export {
    union {
        DLManagedTensorVersioned versioned;
        DLManagedTensor plain;
    } managed;
    lt_tensor *alias;
    int64_t sizes[LT_MAX_DIMS], strides[LT_MAX_DIMS];
} dlpack_export;

static void end_loan(dlpack_export *l)
{
    LT_ASSERT(l->alias != NULL && l->alias->refs > 0, "the loan was ended before");
    lt_tensor_release(l->alias);
    lt_mem_free(l);
}

static void delete_versioned(DLManagedTensorVersioned *self) { end_loan(self->manager_ctx); }
static void delete_plain(DLManagedTensor *self) { end_loan(self->manager_ctx); }

DLDevice lt_dlpack_device(const lt_tensor *t)
{
    const lt_device_type type =
        t->device.type != LT_CPU ? (lt_device_type)t->device.type : lt_accelerator();
    const lt_device_type_info *info = &lt_device_types[type];
    const bool simulated = lt_backends[type] == NULL || lt_backends[type]->simulated;
    if (t->device.type == LT_CPU)
        return (DLDevice){t->storage->pinned && !simulated ? info->dlpack_pinned : kDLCPU, 0};
    return (DLDevice){simulated ? kDLExtDev : info->dlpack, t->device.index};
}

lt_status lt_tensor_to_dlpack(const lt_tensor *t, bool versioned, void **out)
{
    LT_REQUIRE(t);
    LT_REQUIRE(out);
    LT_TRY(lt_require_strided("to_dlpack", t));
    if (lt_requires_grad(t))
        return lt_error(LT_ERR_RUNTIME,
                        "Can't export tensors that require gradient, use tensor.detach()");
    if (t->storage->read_only && !versioned)
        return lt_error(LT_ERR_RUNTIME,
                        "Can't export a tensor with read-only memory to a library that requests "
                        "DLPack before 1.0, which has no read-only flag: clone() the tensor first");
    LT_TRY(lt_materialize("to_dlpack", t));
    dlpack_export *l = lt_mem_zalloc(sizeof *l);
    if (l == NULL) return LT_ERR_MEMORY;
    const lt_status status = lt_tensor_alias(t, &l->alias);
    if (status != LT_OK) {
        lt_mem_free(l);
        return status;
    }
    LT_ASSERT(t->ndim <= LT_MAX_DIMS && types[t->dtype].bits != 0, "ndim %d, dtype %d", t->ndim,
              t->dtype);
    memcpy(l->sizes, t->sizes, t->ndim * sizeof *t->sizes);
    memcpy(l->strides, t->strides, t->ndim * sizeof *t->strides);
    const DLTensor lent = {.data = t->numel > 0 ? lt_data(t) : NULL,
                           .device = lt_dlpack_device(t),
                           .ndim = t->ndim,
                           .dtype = types[t->dtype],
                           .shape = l->sizes,
                           .strides = l->strides};
    if (versioned)
        l->managed.versioned = (DLManagedTensorVersioned){
            .version = {LT_DLPACK_MAJOR, LT_DLPACK_MINOR},
            .manager_ctx = l,
            .deleter = delete_versioned,
            .flags = t->storage->read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0,
            .dl_tensor = lent};
    else
        l->managed.plain =
            (DLManagedTensor){.dl_tensor = lent, .manager_ctx = l, .deleter = delete_plain};
    *out = &l->managed;
    return LT_OK;
}

void lt_dlpack_delete(void *managed, bool versioned)
{
    DLManagedTensorVersioned *v = managed;
    DLManagedTensor *p = managed;
    if (versioned && v->deleter != NULL) v->deleter(v);
    if (!versioned && p->deleter != NULL) p->deleter(p);
}

/* ---- importing ------------------------------------------------------------------------------- */

static const char *device_name(int32_t type)
{
    static const char *const names[] = {
        [kDLOpenCL] = "OpenCL",       [kDLVulkan] = "Vulkan",
        [kDLMetal] = "Metal",         [kDLVPI] = "VPI",
        [kDLROCM] = "ROCm",           [kDLROCMHost] = "ROCm host memory",
        [kDLExtDev] = "an extension", [kDLCUDAManaged] = "CUDA managed memory",
        [kDLOneAPI] = "oneAPI",       [kDLWebGPU] = "WebGPU",
        [kDLHexagon] = "Hexagon",     [kDLMAIA] = "MAIA"};
    const char *name =
        type >= 0 && type < (int32_t)(sizeof names / sizeof *names) ? names[type] : NULL;
    return name != NULL ? name : "unknown";
}

/* The type of a DLPack device: LT_CPU also for page-locked host memory; LT_DEVICE_TYPES:
 * unsupported. */
static lt_device_type device_type_of(int32_t dlpack)
{
    for (int type = 0; type < LT_DEVICE_TYPES; type++) {
        if (lt_device_types[type].dlpack == dlpack) return (lt_device_type)type;
        if (lt_device_types[type].dlpack_pinned == dlpack) return LT_CPU;
    }
    return LT_DEVICE_TYPES;
}

static lt_status find_device(DLDevice from, lt_device *out)
{
    const lt_device_type type = device_type_of(from.device_type);
    *out = lt_host;
    if (type == LT_CPU) return LT_OK;
    if (type == LT_DEVICE_TYPES)
        return lt_error(LT_ERR_DEVICE, "from_dlpack: device type %d (%s) is not supported",
                        (int)from.device_type, device_name(from.device_type));
    const lt_device_type_info *info = &lt_device_types[type];
    const lt_backend *gpus = lt_backend_get(type);
    if (gpus == NULL) return LT_ERR_DEVICE;
    if (gpus->simulated)
        return lt_error(LT_ERR_DEVICE,
                        "from_dlpack: memory of a %s device, but the GPUs here are simulated",
                        info->title);
    if (from.device_id < 0 || from.device_id >= gpus->device_count())
        return lt_error(LT_ERR_DEVICE,
                        "from_dlpack: invalid device %s:%d, the number of devices is %d",
                        info->name, (int)from.device_id, gpus->device_count());
    *out = (lt_device){(int8_t)type, (int8_t)from.device_id};
    return LT_OK;
}

static lt_status find_dtype(DLDataType from, lt_dtype *out)
{
    static const char *const kinds[] = {"int",    "uint",    "float", "opaque handle of bits ",
                                        "bfloat", "complex", "bool"};
    if (from.lanes != 1)
        return lt_error(LT_ERR_RUNTIME,
                        "from_dlpack: elements of %d lanes are not supported, only of 1",
                        from.lanes);
    for (int d = 0; d < LT_DTYPE_COUNT; d++) {
        if (types[d].code != from.code || types[d].bits != from.bits) continue;
        *out = (lt_dtype)d;
        return LT_OK;
    }
    if (from.code < sizeof kinds / sizeof *kinds)
        return lt_error(LT_ERR_RUNTIME, "from_dlpack: dtype %s%d is not supported",
                        kinds[from.code], from.bits);
    return lt_error(LT_ERR_RUNTIME,
                    "from_dlpack: dtype with the code %d of %d bits is not supported", from.code,
                    from.bits);
}

/* The address of the first element; NULL without elements. */
static lt_status find_data(const DLTensor *from, lt_dtype dtype, void **out)
{
    int64_t numel;
    *out = NULL;
    if (from->ndim < 0 || from->ndim > LT_MAX_DIMS)
        return lt_error(LT_ERR_RUNTIME, "from_dlpack: a tensor has at most %d dimensions, got %d",
                        LT_MAX_DIMS, (int)from->ndim);
    if (from->ndim > 0 && from->shape == NULL)
        return lt_error(LT_ERR_RUNTIME, "from_dlpack: shape is NULL");
    LT_TRY(lt_check_sizes(from->ndim, from->shape, &numel));
    if (numel == 0) return LT_OK;
    if (from->data == NULL)
        return lt_error(LT_ERR_RUNTIME, "from_dlpack: data is NULL for %lld elements",
                        (long long)numel);
    uintptr_t address;
    if (__builtin_add_overflow((uintptr_t)from->data, from->byte_offset, &address))
        return lt_error(LT_ERR_RUNTIME, "from_dlpack: byte_offset %llu exceeds the address space",
                        (unsigned long long)from->byte_offset);
    if (address % lt_dtype_size(dtype) != 0)
        return lt_error(LT_ERR_RUNTIME, "from_dlpack: data are not aligned to the %d bytes of a %s",
                        (int)lt_dtype_size(dtype), lt_dtype_name(dtype));
    *out = (void *)address;
    return LT_OK;
}

static void release_versioned(void *managed) { lt_dlpack_delete(managed, true); }
static void release_plain(void *managed) { lt_dlpack_delete(managed, false); }

/* Kernels may still be using GPU memory when its last tensor is freed: synchronizes before the
 * owner gets it back. */
static void wait_for_gpu(const DLTensor *from)
{
    const lt_backend *gpus = lt_backends[device_type_of(from->device.device_type)];
    if (!gpus->graph_recording()) (void)gpus->synchronize(from->device.device_id);
}

static void release_gpu_versioned(void *managed)
{
    wait_for_gpu(&((DLManagedTensorVersioned *)managed)->dl_tensor);
    lt_dlpack_delete(managed, true);
}

static void release_gpu_plain(void *managed)
{
    wait_for_gpu(&((DLManagedTensor *)managed)->dl_tensor);
    lt_dlpack_delete(managed, false);
}

/* The loan behind a tensor that this library exported, if unchanged; else NULL. */
static dlpack_export *own_loan(void *managed, bool versioned)
{
    const DLManagedTensorVersioned *v = managed;
    const DLManagedTensor *p = managed;
    dlpack_export *l = versioned ? v->deleter == delete_versioned ? v->manager_ctx : NULL
                       : p->deleter == delete_plain ? p->manager_ctx
                                                    : NULL;
    return l != NULL &&
                   (!versioned ||
                    v->flags == (l->alias->storage->read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0))
               ? l
               : NULL;
}

lt_status lt_tensor_from_dlpack(void *managed, bool versioned, lt_tensor **out)
{
    LT_REQUIRE(managed);
    LT_REQUIRE(out);
    const DLManagedTensorVersioned *v = managed;
    if (versioned && v->version.major != LT_DLPACK_MAJOR)
        return lt_error(LT_ERR_RUNTIME,
                        "from_dlpack: DLPack version %u.%u is not supported, only 1.x",
                        v->version.major, v->version.minor);
    dlpack_export *own = own_loan(managed, versioned);
    if (own != NULL) { /* an alias shares the storage and its version counter */
        LT_TRY(lt_tensor_alias(own->alias, out));
        end_loan(own);
        return LT_OK;
    }
    const DLTensor *from =
        versioned ? &v->dl_tensor : &((const DLManagedTensor *)managed)->dl_tensor;
    lt_foreign memory = {.read_only = versioned && (v->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0,
                         .ctx = managed};
    lt_dtype dtype;
    LT_TRY(find_dtype(from->dtype, &dtype));
    LT_TRY(find_device(from->device, &memory.device));
    LT_TRY(find_data(from, dtype, &memory.data));
    if (memory.device.type == LT_CPU)
        memory.release = versioned ? release_versioned : release_plain;
    else
        memory.release = versioned ? release_gpu_versioned : release_gpu_plain;
    return lt_tensor_over(&memory, dtype, from->ndim, from->shape, from->strides, out);
}

bool lt_tensor_is_read_only(const lt_tensor *t) { return t != NULL && t->storage->read_only; }

lt_status lt_tensor_ready_for(const lt_tensor *t, uint64_t stream)
{
    LT_REQUIRE(t);
    if (t->device.type == LT_CPU) return LT_OK;
    const lt_backend *gpus = lt_backend_of(t);
    const int device = t->device.index;
    uint64_t event;
    LT_TRY(lt_trace_flush());
    LT_TRY(gpus->event_new(device, false, &event));
    lt_status status = gpus->event_record(event, device, gpus->current_stream(device));
    if (status == LT_OK) status = gpus->stream_wait_event(device, stream, event);
    gpus->event_free(event);
    return status;
}
