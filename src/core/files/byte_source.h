/* byte_source.h - reading a file piece by piece, stored or deflated: what NumPy's and PyTorch's
 * files are made of.
 *
 * A section is a range of the file that unpacks to a known number of bytes. A section is opened,
 * read from its beginning to its end in pieces, and finished, which tells the CRC-32 of all its
 * bytes where one was asked for. Reading past the end of the section, of the file or of the
 * deflated data is an error. What a section can promise is bounded by the file's size times what
 * deflate can reach, so that whoever allocates for it allocates in proportion to the file. Errors
 * are LT_ERR_IO with the path. Includes zlib and core. */
#ifndef LT_BYTE_SOURCE_H
#define LT_BYTE_SOURCE_H

#include <zlib.h>

#include "ltensor.h"

typedef struct lt_byte_source {
    int fd;             /* -1 when closed */
    const char *path;   /* for messages, borrowed */
    int64_t size;       /* of the file */
    int64_t at, end;    /* of the section in the file: what was not read yet */
    int64_t packed_end; /* where the section's bytes in the file end */
    int64_t left;       /* bytes of the section that were not handed out yet */
    uint32_t crc;       /* of those that were, when it is asked for */
    bool summed;
    bool deflated;
    bool inflating; /* z is initialized */
    z_stream z;
    unsigned char *buffer; /* deflated bytes; NULL until needed */
} lt_byte_source;

/* The whole file is the first section, of which no CRC-32 is taken. After LT_OK, close must
 * follow. */
lt_status lt_byte_source_open(lt_byte_source *s, const char *path);
/* Another section: `packed` bytes of the file at `offset` that are `length` bytes. summed: a CRC-32
 * of them is taken. */
lt_status lt_byte_source_section(lt_byte_source *s, int64_t offset, int64_t packed, int64_t length,
                                 bool deflated, bool summed);
/* The next n bytes. Can be interrupted. */
lt_status lt_byte_source_read(lt_byte_source *s, void *to, int64_t n);
/* Error unless the section was read to its end and its deflated data end there too. */
lt_status lt_byte_source_finish(lt_byte_source *s, uint32_t *crc);
/* A new one-dimensional tensor on the host of the next n elements; swap: they are big-endian. */
lt_status lt_byte_source_tensor(lt_byte_source *s, lt_dtype dtype, int64_t n, bool swap,
                                lt_tensor **out);
void lt_byte_source_close(lt_byte_source *s);

/* The CRC-32 of n more bytes after some whose CRC-32 was crc (0: none). */
uint32_t lt_crc32(uint32_t crc, const void *data, int64_t n);

#endif
