/* no_image.c - replaces files/image.c in a library with selected ops (mk/minimal.mk): decoding is
 * an error. */
#include "error.h"
#include "files/image.h"

lt_status lt_image_decode(const void *bytes, size_t n, int channels, lt_tensor **out)
{
    (void)bytes, (void)n, (void)channels, (void)out;
    return lt_error(LT_ERR_IO, "this ltensor was built without image formats (make MINIMAL=1)");
}
