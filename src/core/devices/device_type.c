/* device_type.c - see device_type.h. */
#include "device_type.h"

#include "backend.h"
#include "system/shared_library.h"

const lt_device_type_info lt_device_types[LT_DEVICE_TYPES] = {
    [LT_CPU] = {.name = "cpu", .title = "CPU", .dlpack = 1, .dlpack_pinned = 1},
    [LT_CUDA] = {.name = "cuda",
                 .title = "CUDA",
                 .numbered = true,
                 .dlpack = 2,
                 .dlpack_pinned = 3,
                 .older_library = LT_PLUGIN_NAME("cuda12"),
                 .simulated_library = LT_PLUGIN_NAME("sim"),
                 .simulated_variable = "LTENSOR_SIM_GPUS",
                 .disabled_variable = "LTENSOR_DISABLE_CUDA"},
};

const lt_backend *lt_backends[LT_DEVICE_TYPES];

void lt_backend_register(lt_device_type type, const lt_backend *backend)
{
    lt_backends[type] = backend;
}

lt_device_type lt_accelerator(void)
{
    for (int type = LT_CPU + 1; type < LT_DEVICE_TYPES; type++)
        if (lt_backends[type] != NULL) return (lt_device_type)type;
    return LT_CPU + 1;
}
