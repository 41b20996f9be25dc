/* zlib.h - replaces zlib in the amalgamation (make single-file), which links no library. Its only
 * file format, safetensors, has neither compressed sections nor check sums, so nothing calls these
 * functions; starting to inflate fails. */
#ifndef LT_OPENED_ZLIB_H
#define LT_OPENED_ZLIB_H

#include <stddef.h>

#define Z_OK         0
#define Z_STREAM_END 1
#define Z_BUF_ERROR  (-5)
#define Z_MEM_ERROR  (-4)
#define Z_NO_FLUSH   0
#define MAX_WBITS    15

typedef unsigned long uLong;
typedef unsigned int uInt;

typedef struct z_stream {
    unsigned char *next_in, *next_out;
    uInt avail_in, avail_out;
    const char *msg;
} z_stream;

static inline int inflateInit2(z_stream *z, int bits)
{
    (void)z, (void)bits;
    return Z_MEM_ERROR;
}
static inline int inflate(z_stream *z, int flush)
{
    (void)z, (void)flush;
    return Z_MEM_ERROR;
}
static inline void inflateEnd(z_stream *z) { (void)z; }
static inline uLong crc32(uLong sum, const unsigned char *bytes, uInt n)
{
    (void)bytes, (void)n;
    return sum;
}

#endif
