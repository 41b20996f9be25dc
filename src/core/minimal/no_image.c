/* no_image.c - replaces files/image.c and files/image_encode.c in a library with selected ops
 * (mk/minimal.mk): decoding and encoding are errors. */
#include "error.h"
#include "files/image.h"

lt_status lt_image_decode(const void *bytes, size_t n, int channels, lt_tensor **out)
{
    (void)bytes, (void)n, (void)channels, (void)out;
    return lt_error(LT_ERR_IO, "this ltensor was built without image formats (make MINIMAL=1)");
}

lt_status lt_image_encode(const lt_tensor *image, lt_image_format format, int quality,
                          lt_tensor **out)
{
    (void)image, (void)format, (void)quality, (void)out;
    return lt_error(LT_ERR_IO, "this ltensor was built without image formats (make MINIMAL=1)");
}
