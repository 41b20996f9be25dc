/* image.h - decodes PNG and JPEG files to tensors. */
#ifndef LT_IMAGE_H
#define LT_IMAGE_H

#include "ltensor.h"

/* Decodes the n bytes of a PNG or JPEG file into *out, a new uint8 tensor (channels, height, width)
 * on the host. channels: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha; 0: as in the file.
 * LT_ERR_IO if the bytes are no complete image or the library for its format is not installed. */
lt_status lt_image_decode(const void *bytes, size_t n, int channels, lt_tensor **out);

#endif
