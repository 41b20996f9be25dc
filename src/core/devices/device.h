/* device.h - the names of devices. */
#ifndef LT_DEVICE_H
#define LT_DEVICE_H

#include "ltensor.h"

static const lt_device lt_host = {LT_CPU, 0};

static inline bool lt_device_equal(lt_device a, lt_device b)
{
    return a.type == b.type && a.index == b.index;
}

/* "cpu", "cuda", "cuda:1"; strict. "Invalid device string: 'cuda: 0'". index -1 when none is
 * given. */
lt_status lt_device_parse(const char *text, lt_device *out);
/* "cuda:0", "cpu"; writes at most n bytes, returns buffer. */
char *lt_format_device(char *buffer, size_t n, lt_device device);

#endif
