/* image.h - the pixels of PNG and JPEG files as tensors. */
#ifndef LT_IMAGE_H
#define LT_IMAGE_H

#include "ltensor.h"

/* Decodes the n bytes of a PNG or JPEG file into *out, a new uint8 tensor (channels, height, width)
 * on the host. channels: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha; 0: as many as the file
 * has. LT_ERR_IO when the bytes are no whole image or the library that reads them is not
 * installed. */
lt_status lt_image_decode(const void *bytes, size_t n, int channels, lt_tensor **out);

#endif
