/* device.c - see device.h. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assertion.h"
#include "device_type.h"
#include "error.h"

/* The length of the name of a type of devices that the text is, or begins with before a colon; 0:
 * none. */
static size_t match_type(const char *text, int *type)
{
    const size_t n = strcspn(text, ":");
    for (*type = 0; *type < LT_DEVICE_TYPES; ++*type)
        if (strlen(lt_device_types[*type].name) == n &&
            memcmp(text, lt_device_types[*type].name, n) == 0)
            return n;
    return 0;
}

lt_status lt_device_parse(const char *text, lt_device *out)
{
    int type, index = -1;
    const size_t name = match_type(text, &type);
    bool valid = name > 0;
    if (valid && text[name] == ':') {
        const char *digits = text + name + 1;
        const size_t length = strspn(digits, "0123456789");
        valid = length > 0 && length <= 3 && digits[length] == '\0' &&
                (length == 1 || digits[0] != '0');
        index = valid ? atoi(digits) : -1;
    }
    if (!valid || index > INT8_MAX || (!lt_device_types[type].numbered && index > 0))
        return lt_error(
            LT_ERR_RUNTIME,
            "Invalid device string: '%.100s' (expected 'cpu', 'cuda' or 'cuda:' and a number)",
            text);
    *out = type == LT_CPU ? lt_host : (lt_device){(int8_t)type, (int8_t)index};
    return LT_OK;
}

char *lt_format_device(char *buffer, size_t n, lt_device device)
{
    LT_ASSERT((unsigned)device.type < LT_DEVICE_TYPES, "device type %d", device.type);
    if (device.index < 0 || !lt_device_types[device.type].numbered)
        snprintf(buffer, n, "%s", lt_device_type_name(device));
    else
        snprintf(buffer, n, "%s:%d", lt_device_type_name(device), device.index);
    return buffer;
}
