/* dlpack.h - the structs of DLPack 1.0 (https://dmlc.github.io/dlpack/latest/c_api.html), which
 * libraries use to share tensors without a copy. Names and layouts are the specification's;
 * lt_tensor_to_dlpack and lt_tensor_from_dlpack are in ltensor.h. */
#ifndef LT_DLPACK_H
#define LT_DLPACK_H

#include "ltensor.h"

enum { LT_DLPACK_MAJOR = 1, LT_DLPACK_MINOR = 0 };

typedef enum DLDeviceType {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3, /* page-locked */
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12, /* vendor-defined by the specification: here a simulated GPU */
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16,
    kDLMAIA = 17
} DLDeviceType;

typedef struct DLDevice {
    int32_t device_type; /* DLDeviceType */
    int32_t device_id;
} DLDevice;

typedef enum DLDataTypeCode {
    kDLInt,
    kDLUInt,
    kDLFloat,
    kDLOpaqueHandle,
    kDLBfloat,
    kDLComplex,
    kDLBool,
    kDLFloat8_e4m3fn = 10, /* DLPack 1.1 */
    kDLFloat8_e4m3fnuz,
    kDLFloat8_e5m2,
    kDLFloat8_e5m2fnuz,
    kDLFloat8_e8m0fnu
} DLDataTypeCode;

typedef struct DLDataType {
    uint8_t code; /* DLDataTypeCode */
    uint8_t bits;
    uint16_t lanes; /* elements per vector */
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: row-major */
    uint64_t byte_offset;
} DLTensor;

/* The struct of DLPack before 1.0. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLPackVersion {
    uint32_t major, minor;
} DLPackVersion;

#define DLPACK_FLAG_BITMASK_READ_ONLY (UINT64_C(1) << 0)
#define DLPACK_FLAG_BITMASK_IS_COPIED (UINT64_C(1) << 1)

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* The DLPack device of t. */
DLDevice lt_dlpack_device(const lt_tensor *t);

/* Calls the deleter, if any, of a managed tensor of lt_tensor_to_dlpack or of another library. */
void lt_dlpack_delete(void *managed, bool versioned);

#endif
