/* device_type.h - properties of the device types that core and the binding need besides the
 * function table (backend.h). A backend for a new type needs a row here, a value of lt_device_type
 * and a folder. */
#ifndef LT_DEVICE_TYPE_H
#define LT_DEVICE_TYPE_H

#include "ltensor.h"

typedef struct lt_device_type_info {
    const char *name;      /* "cuda" */
    const char *title;     /* in messages: "CUDA" */
    bool numbered;         /* there can be several devices: "cuda:1" */
    int32_t dlpack;        /* DLPack's code for its memory (DLDeviceType) */
    int32_t dlpack_pinned; /* and for page-locked host memory */

    /* How loader.c finds the backend; the name of its library is there. */
    /* tried if the normal library finds no device, for example with an older driver */
    const char *older_library;
    const char *simulated_library; /* used instead if this variable is a number above 0 */
    const char *simulated_variable;
    /* if set, no devices are available; value: the program's option, or anything */
    const char *disabled_variable;
} lt_device_type_info;

extern const lt_device_type_info lt_device_types[LT_DEVICE_TYPES];

static inline const char *lt_device_type_name(lt_device device)
{
    return lt_device_types[device.type].name;
}

/* The type to use where none is given: for page-locked memory, timing, and a device index alone. */
lt_device_type lt_accelerator(void);

#endif
