/* byte_source.h - reads a file in sections, stored or deflated; NumPy's and PyTorch's files consist
 * of such sections.
 *
 * A section is a range of the file that unpacks to a known number of bytes. It is opened, read
 * sequentially, and finished; finishing returns the CRC-32 of its bytes if requested. Reading past
 * the end of the section, of the file or of the deflated data is an error. The length of a section
 * is limited to the file's size times the maximum ratio of deflate, so that allocations for it are
 * proportional to the file. Errors are LT_ERR_IO with the path. Includes zlib and core. */
#ifndef LT_BYTE_SOURCE_H
#define LT_BYTE_SOURCE_H

#include <zlib.h>

#include "ltensor.h"

struct lt_reader;

typedef struct lt_byte_source {
    int fd; /* -1 when closed, or if the file is not one of the system */
    /* the bytes of a file in memory, borrowed; NULL: fd is read */
    const unsigned char *memory;
    const struct lt_reader *reader; /* of the host (ltensor_files.h), borrowed; NULL: none */
    const char *path;               /* for messages, borrowed */
    int64_t size;                   /* of the file */
    int64_t at, end;                /* the unread range of the section in the file */
    int64_t packed_end;             /* end of the section's bytes in the file */
    int64_t left;                   /* bytes of the section that were not returned yet */
    uint32_t crc;                   /* of the returned bytes, if summed */
    bool summed;
    bool deflated;
    bool inflating; /* z is initialized */
    z_stream z;
    unsigned char *buffer; /* deflated bytes; NULL until needed */
} lt_byte_source;

/* Opens a file as one stored section, without a CRC-32. After LT_OK, close it. */
lt_status lt_byte_source_open(lt_byte_source *s, const char *path);
/* The same for a file of n bytes in memory, borrowed until it is closed. */
void lt_byte_source_open_memory(lt_byte_source *s, const void *bytes, int64_t n);
/* The same for a file that the host reads; bytes must not be negative. */
void lt_byte_source_open_reader(lt_byte_source *s, const struct lt_reader *reader);
/* Starts a section: `packed` bytes of the file at `offset` that unpack to `length` bytes. summed:
 * compute their CRC-32. */
lt_status lt_byte_source_section(lt_byte_source *s, int64_t offset, int64_t packed, int64_t length,
                                 bool deflated, bool summed);
/* Reads the next n bytes. Can be interrupted. */
lt_status lt_byte_source_read(lt_byte_source *s, void *to, int64_t n);
/* Error unless the section and its deflated data have been read to their end. */
lt_status lt_byte_source_finish(lt_byte_source *s, uint32_t *crc);
/* A new one-dimensional tensor on the host of the next n elements; swap: convert from big-endian.
 */
lt_status lt_byte_source_tensor(lt_byte_source *s, lt_dtype dtype, int64_t n, bool swap,
                                lt_tensor **out);
void lt_byte_source_close(lt_byte_source *s);

/* Updates crc, the CRC-32 of the preceding bytes (0: none), with n bytes. */
uint32_t lt_crc32(uint32_t crc, const void *data, int64_t n);

#endif
