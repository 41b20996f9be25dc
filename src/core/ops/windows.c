/* windows.c - see windows.h. */
#include "windows.h"

#include <stdio.h>

bool lt_spread_sizes(const lt_dims *given, int spatial, int64_t fill, int64_t *v)
{
    if (given->n != 1 && given->n != spatial) return false;
    for (int d = 0; d < LT_SPATIAL; d++) {
        int i = d - (LT_SPATIAL - spatial);
        v[d] = i < 0 ? fill : given->v[given->n == 1 ? 0 : i];
    }
    return true;
}

void lt_spatial_sizes(int n, const int64_t *sizes, int spatial, int64_t *v)
{
    for (int d = 0; d < LT_SPATIAL; d++)
        v[d] = d < LT_SPATIAL - spatial ? 1 : sizes[n - LT_SPATIAL + d];
}

char *lt_format_product(char *buffer, size_t n, int spatial, const int64_t *v, const char *sign)
{
    size_t used = 0;
    for (int d = LT_SPATIAL - spatial; d < LT_SPATIAL && used < n; d++)
        used += (size_t)snprintf(buffer + used, n - used, "%s%lld", used > 0 ? sign : "",
                                 (long long)v[d]);
    return buffer;
}

int64_t lt_window_count(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                        int64_t dilation, bool ceil)
{
    int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1 + (ceil ? stride - 1 : 0);
    int64_t count = (room >= 0 ? room / stride : -((-room + stride - 1) / stride)) + 1;
    return ceil && (count - 1) * stride >= in + padding ? count - 1 : count;
}
