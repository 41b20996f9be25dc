/* image.h - decodes PNG and JPEG files to tensors, and encodes tensors as such files. */
#ifndef LT_IMAGE_H
#define LT_IMAGE_H

#include "ltensor.h"

/* Decodes the n bytes of a PNG or JPEG file into *out, a new uint8 tensor (channels, height, width)
 * on the host. channels: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha; 0: as in the file.
 * LT_ERR_IO if the bytes are no complete image or the library for its format is not installed. */
lt_status lt_image_decode(const void *bytes, size_t n, int channels, lt_tensor **out);

typedef enum lt_image_format { LT_IMAGE_PNG, LT_IMAGE_JPEG } lt_image_format;

/* Encodes a contiguous uint8 image (channels, height, width) on the host into *out, a new uint8
 * tensor with the bytes of a file. PNG: 1 to 4 channels (gray, gray and alpha, RGB, RGB and alpha);
 * JPEG: 1 or 3, with `quality` 1 to 100. LT_ERR_IO if the library for the format is not installed
 * or the format does not allow the size. */
lt_status lt_image_encode(const lt_tensor *image, lt_image_format format, int quality,
                          lt_tensor **out);

#endif
