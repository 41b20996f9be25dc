/* device.c - see device.h. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

lt_status lt_device_parse(const char *text, lt_device *out)
{
    if (strcmp(text, "cpu") == 0) {
        *out = lt_host;
        return LT_OK;
    }
    if (strcmp(text, "cuda") == 0) {
        *out = (lt_device){LT_CUDA, -1};
        return LT_OK;
    }
    const char *digits = strncmp(text, "cuda:", 5) == 0 ? text + 5 : strncmp(text, "cpu:", 4) == 0 ? text + 4 : NULL;
    size_t length = digits != NULL ? strspn(digits, "0123456789") : 0;
    bool valid = length > 0 && length <= 3 && digits[length] == '\0' && (length == 1 || digits[0] != '0');
    int index = valid ? atoi(digits) : -1;
    if (!valid || index > INT8_MAX || (text[1] == 'p' && index != 0))
        return lt_error(LT_ERR_RUNTIME,
                        "Invalid device string: '%.100s' (expected 'cpu', 'cuda' or 'cuda:' and a number)",
                        text);
    *out = text[1] == 'p' ? lt_host : (lt_device){LT_CUDA, (int8_t)index};
    return LT_OK;
}

char *lt_format_device(char *buffer, size_t n, lt_device device)
{
    if (device.type == LT_CPU)
        snprintf(buffer, n, "cpu");
    else if (device.index < 0)
        snprintf(buffer, n, "cuda");
    else
        snprintf(buffer, n, "cuda:%d", device.index);
    return buffer;
}
