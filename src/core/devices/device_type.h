/* device_type.h - the types of devices by name: one row each of what core and the binding know of
 * them beside their table of functions (backend.h). A backend for another type is a row here, a
 * value of lt_device_type and a folder. */
#ifndef LT_DEVICE_TYPE_H
#define LT_DEVICE_TYPE_H

#include "ltensor.h"

typedef struct lt_device_type_info {
    const char *name;      /* "cuda" */
    const char *title;     /* in messages: "CUDA" */
    bool numbered;         /* there may be several: "cuda:1" */
    int32_t dlpack;        /* DLPack's number of memory on it (DLDeviceType) */
    int32_t dlpack_pinned; /* and of host memory that is locked for it */

    /* How loader.c, which knows the library, comes to the backend. */
    /* tried where the ordinary one finds no device, as with a driver older than its runtime */
    const char *older_library;
    const char *simulated_library; /* used instead where this variable is a number above 0 */
    const char *simulated_variable;
    /* set: there are no devices of the type; its value may be the option of a program */
    const char *disabled_variable;
} lt_device_type_info;

extern const lt_device_type_info lt_device_types[LT_DEVICE_TYPES];

static inline const char *lt_device_type_name(lt_device device)
{
    return lt_device_types[device.type].name;
}

/* The type that is meant where none is named: memory is locked for it, operations are timed on it,
 * a number alone is one of it. */
lt_device_type lt_accelerator(void);

#endif
