/* device.h - the engine between GPUs (device_engine.h) of the GPUs that there are. */
#ifndef LT_COMM_DEVICE_H
#define LT_COMM_DEVICE_H

#include "devices/device_engine.h"

/* LT_ERR_DEVICE: there is no GPU, or its backend has none. */
lt_status lt_device_engine_get(const lt_device_engine **out);

#endif
