/* device.h - comparison, parsing and formatting of devices. */
#ifndef LT_DEVICE_H
#define LT_DEVICE_H

#include "ltensor.h"

static const lt_device lt_host = {LT_CPU, 0};

static inline bool lt_device_equal(lt_device a, lt_device b)
{
    return a.type == b.type && a.index == b.index;
}

/* Parses "cpu", "cuda" or "cuda:1", strictly: "Invalid device string: 'cuda: 0'". Without an index
 * it is -1. */
lt_status lt_device_parse(const char *text, lt_device *out);
/* Writes "cuda:0" or "cpu", at most n bytes; returns buffer. */
char *lt_format_device(char *buffer, size_t n, lt_device device);

#endif
