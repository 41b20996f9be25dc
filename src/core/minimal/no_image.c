/* no_image.c - stands for files/image.c in a library of chosen ops (mk/minimal.mk), which
 * reads no pictures. */
#include "error.h"
#include "files/image.h"

lt_status lt_image_decode(const void *bytes, size_t n, int channels, lt_tensor **out)
{
    (void)bytes, (void)n, (void)channels, (void)out;
    return lt_error(LT_ERR_IO, "this ltensor was built without image formats (make MINIMAL=1)");
}
