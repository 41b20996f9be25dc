/* image.c - decodes PNG with libpng's simplified interface and JPEG with TurboJPEG; both report
 * errors by return values.
 *
 * The libraries are opened when the first image is read; if one is missing (or its header was
 * missing at build time), the error names the package to install. The pixels are decoded
 * interleaved and then copied to the planes of the tensor, which also converts between gray and
 * color.
 *
 * libpng receives only the chunks that define pixels, after all checksums were verified: gamma
 * corrections are ignored and damage is detected. The size of an image is limited to 2^31 elements,
 * and to the maximum that the file's size can unpack to. Includes zlib (crc32), png.h, turbojpeg.h.
 */
#include "image.h"

#include <string.h>
#include <zlib.h>

#include "error.h"
#include "libraries/library.h"
#include "memory/block.h"
#include "saturating.h"
#include "system/shared_library.h"
#include "system/threads.h"
#include "tensor.h"

#if defined(__has_include)
#if __has_include(<png.h>)
#include <png.h>
#endif
#if __has_include(<turbojpeg.h>)
#include <turbojpeg.h>
#endif
#endif

/* Interleaved pixels. Four channels are RGBA, or inverted CMYK. */
typedef struct pixels {
    unsigned char *data;
    size_t capacity;
    int64_t width, height;
    int channels;
    bool cmyk;
} pixels;

#define MOST_PIXELS (INT64_C(1) << 29) /* of four channels: 2 GiB */

/* Checks and stores the size in a header. A damaged header is reported only as damaged. */
static lt_status set_size(pixels *p, const char *kind, int64_t width, int64_t height)
{
    if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX)
        return lt_error(
            LT_ERR_IO,
            "%s: the file is damaged: its header has the size %lld x %lld, expected 1 to %d each",
            kind, (long long)width, (long long)height, INT32_MAX);
    if (width * height > MOST_PIXELS)
        return lt_error(LT_ERR_IO,
                        "%s: the header claims an image of %lld x %lld pixels, more than the %lld "
                        "that are read",
                        kind, (long long)width, (long long)height, (long long)MOST_PIXELS);
    p->width = width;
    p->height = height;
    return LT_OK;
}

static lt_status pixels_alloc(pixels *p)
{
    p->data =
        lt_block_array(lt_mul_sat(lt_mul_sat(p->width, p->height), p->channels), 1, &p->capacity);
    return p->data ? LT_OK : LT_ERR_MEMORY;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

#ifdef PNG_SIMPLIFIED_READ_SUPPORTED

static struct {
    __typeof__(&png_image_begin_read_from_memory) begin;
    __typeof__(&png_image_finish_read) finish;
    __typeof__(&png_image_free) free;
    bool ready;
} png;

static void load_png(const lt_library *self)
{
    (void)self;
    void *library = lt_shared_open(LT_SHARED_NAME("png16", "16"));
    if (library == NULL) return;
    *(void **)&png.begin = lt_shared_symbol(library, "png_image_begin_read_from_memory");
    *(void **)&png.finish = lt_shared_symbol(library, "png_image_finish_read");
    *(void **)&png.free = lt_shared_symbol(library, "png_image_free");
    png.ready = png.begin != NULL && png.finish != NULL && png.free != NULL;
}

static lt_library png_library = LT_LIBRARY(LT_SHARED_NAME("png16", "16"), load_png);

enum {
    SIGNATURE = 8,
    AROUND = 12,             /* length, type and checksum of a chunk */
    DEFLATE_MAX_RATIO = 1032 /* zlib's documentation: the maximum compression ratio of deflate */
};

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static bool is_type(const unsigned char *chunk, const char *type)
{
    return memcmp(chunk + 4, type, 4) == 0;
}

/* Copies the chunks that define pixels to `kept`; *length: their bytes, *packed: the bytes of pixel
 * data in them. */
static lt_status keep_chunks(const unsigned char *bytes, size_t n, unsigned char *kept,
                             size_t *length, size_t *packed)
{
    size_t at = SIGNATURE;
    memcpy(kept, bytes, SIGNATURE);
    *length = SIGNATURE;
    *packed = 0;
    for (;;) {
        const unsigned char *chunk = bytes + at;
        if (n - at < AROUND) return lt_error(LT_ERR_IO, "PNG: the file ends early");
        const size_t inside = big_endian(chunk);
        if (inside > INT32_MAX || inside > n - at - AROUND)
            return lt_error(LT_ERR_IO, "PNG: the file ends early");
        if (crc32(crc32(0, Z_NULL, 0), chunk + 4, (uInt)(inside + 4)) !=
            big_endian(chunk + 8 + inside))
            return lt_error(LT_ERR_IO, "PNG: a checksum is wrong: the file is damaged");
        if ((at == SIGNATURE) != is_type(chunk, "IHDR") || (at == SIGNATURE && inside != 13))
            return lt_error(LT_ERR_IO, "PNG: the header is wrong");
        const bool data = is_type(chunk, "IDAT"), end = is_type(chunk, "IEND");
        if (data) *packed += inside;
        if (data || end || at == SIGNATURE || is_type(chunk, "PLTE") || is_type(chunk, "tRNS")) {
            memcpy(kept + *length, chunk, inside + AROUND);
            *length += inside + AROUND;
        }
        at += inside + AROUND;
        if (end) return LT_OK;
    }
}

static lt_status read_png(const unsigned char *bytes, size_t n, pixels *p)
{
    lt_status status = LT_OK;
    png_image image = {.version = PNG_IMAGE_VERSION};
    size_t capacity, length, packed;
    LT_TRY(lt_library_need(&png_library));
    if (!png.ready)
        return lt_error(LT_ERR_IO, "PNG files are read by libpng (libpng16.so.16), which was not "
                                   "found; Debian's package is libpng16-16");
    unsigned char *kept = lt_block_alloc(n, &capacity);
    if (kept == NULL) return LT_ERR_MEMORY;
    LT_CHECK(keep_chunks(bytes, n, kept, &length, &packed));
    const unsigned char *header = kept + SIGNATURE + 8;
    LT_CHECK(set_size(p, "PNG", big_endian(header), big_endian(header + 4)));
    const double bits = (double)big_endian(header) * big_endian(header + 4) * header[8] *
                        (header[9] == 2   ? 3
                         : header[9] == 4 ? 2
                         : header[9] == 6 ? 4
                                          : 1);
    if (bits / 8 > (double)packed * DEFLATE_MAX_RATIO) {
        status = lt_error(LT_ERR_IO, "PNG: the data end early");
        goto done;
    }
    if (!png.begin(&image, kept, length)) {
        status = lt_error(LT_ERR_IO, "PNG: %s", image.message);
        goto done;
    }
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16 bits are scaled to 8, nothing else */
    image.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
    p->channels = (int)PNG_IMAGE_PIXEL_CHANNELS(image.format);
    LT_CHECK(pixels_alloc(p));
    if (!png.finish(&image, NULL, p->data, 0, NULL) || PNG_IMAGE_FAILED(image))
        status = lt_error(LT_ERR_IO, "PNG: %s", image.message);
done:
    png.free(&image);
    lt_block_free(kept, capacity);
    return status;
}

#else

static lt_status read_png(const unsigned char *bytes, size_t n, pixels *p)
{
    (void)bytes, (void)n, (void)p;
    return lt_error(LT_ERR_IO,
                    "PNG files: this ltensor was built without libpng's header (libpng-dev)");
}

#endif

/* ---- JPEG ------------------------------------------------------------------------------------ */

#ifdef TJFLAG_LIMITSCANS

static struct {
    __typeof__(&tjInitDecompress) init;
    __typeof__(&tjDecompressHeader3) header;
    __typeof__(&tjDecompress2) decompress;
    __typeof__(&tjGetErrorStr2) message;
    __typeof__(&tjGetErrorCode) code;
    __typeof__(&tjDestroy) destroy;
    bool ready;
} jpeg;

static void load_jpeg(const lt_library *self)
{
    (void)self;
    void *library = lt_shared_open(LT_SHARED_NAME("turbojpeg", "0"));
    if (library == NULL) return;
    *(void **)&jpeg.init = lt_shared_symbol(library, "tjInitDecompress");
    *(void **)&jpeg.header = lt_shared_symbol(library, "tjDecompressHeader3");
    *(void **)&jpeg.decompress = lt_shared_symbol(library, "tjDecompress2");
    *(void **)&jpeg.message = lt_shared_symbol(library, "tjGetErrorStr2");
    *(void **)&jpeg.code = lt_shared_symbol(library, "tjGetErrorCode");
    *(void **)&jpeg.destroy = lt_shared_symbol(library, "tjDestroy");
    jpeg.ready = jpeg.init != NULL && jpeg.header != NULL && jpeg.decompress != NULL &&
                 jpeg.message != NULL && jpeg.code != NULL && jpeg.destroy != NULL;
}

static lt_library jpeg_library = LT_LIBRARY(LT_SHARED_NAME("turbojpeg", "0"), load_jpeg);

/* A block of 64 samples takes at least one bit: 512 pixels per byte, and 4 times as many if the
 * file lacks the channel of full size. */
#define MOST_PIXELS_A_BYTE 2048

/* wanted: the requested channels. Gray is read from the luma channel that color JPEG files store.
 */
static lt_status read_jpeg(const unsigned char *bytes, size_t n, int wanted, pixels *p)
{
    lt_status status = LT_OK;
    int width = 0, height = 0, sampling = 0, space = 0;
    LT_TRY(lt_library_need(&jpeg_library));
    if (!jpeg.ready)
        return lt_error(LT_ERR_IO, "JPEG files are read by TurboJPEG (libturbojpeg.so.0), which "
                                   "was not found; Debian's package is libturbojpeg0");
    tjhandle handle = jpeg.init();
    if (handle == NULL) return lt_error(LT_ERR_MEMORY, "JPEG: out of memory");
    if (jpeg.header(handle, bytes, (unsigned long)n, &width, &height, &sampling, &space) != 0) {
        status = lt_error(LT_ERR_IO, "JPEG: %s", jpeg.message(handle));
        goto done;
    }
    LT_CHECK(set_size(p, "JPEG", width, height));
    if (p->width * p->height / MOST_PIXELS_A_BYTE > (int64_t)n) {
        status = lt_error(LT_ERR_IO, "JPEG: the data end early");
        goto done;
    }
    p->cmyk = space == TJCS_CMYK || space == TJCS_YCCK;
    p->channels = p->cmyk                                                                   ? 4
                  : space == TJCS_GRAY || (space == TJCS_YCbCr && wanted > 0 && wanted < 3) ? 1
                                                                                            : 3;
    LT_CHECK(pixels_alloc(p));
    const int format = p->cmyk ? TJPF_CMYK : p->channels == 1 ? TJPF_GRAY : TJPF_RGB;
    /* Meaningless bytes before a marker are common; every reader skips them. */
    if (jpeg.decompress(handle, bytes, (unsigned long)n, p->data, width, 0, height, format,
                        TJFLAG_LIMITSCANS) != 0 &&
        (jpeg.code(handle) != TJERR_WARNING ||
         strstr(jpeg.message(handle), "extraneous bytes") == NULL))
        status = lt_error(LT_ERR_IO, "JPEG: %s", jpeg.message(handle));
done:
    jpeg.destroy(handle);
    return status;
}

#else

static lt_status read_jpeg(const unsigned char *bytes, size_t n, int wanted, pixels *p)
{
    (void)bytes, (void)n, (void)wanted, (void)p;
    return lt_error(
        LT_ERR_IO,
        "JPEG files: this ltensor was built without TurboJPEG's header (libturbojpeg0-dev)");
}

#endif

/* ---- planes ---------------------------------------------------------------------------------- */

/* Converts inverted CMYK to RGB in place. */
static void inks_to_colours(pixels *p)
{
    const int64_t count = p->width * p->height;
    unsigned char *to = p->data;
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            *to++ = (unsigned char)((p->data[4 * i + c] * p->data[4 * i + 3] + 127) / 255);
    p->channels = 3;
}

/* Luminance of ITU-R 601-2, as 16-bit fixed point, rounded. */
static unsigned char gray_of(const unsigned char *rgb)
{
    return (unsigned char)((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

static void expand_channels(const pixels *p, int channels, unsigned char *to)
{
    const int64_t count = p->width * p->height;
    const int step = p->channels;
    const bool has_alpha = step % 2 == 0;
    for (int c = 0; c < channels; c++, to += count) {
        const unsigned char *from = p->data;
        if (channels % 2 == 0 && c == channels - 1) { /* alpha: opaque if the image has none */
            if (!has_alpha)
                memset(to, 255, (size_t)count);
            else
                for (int64_t i = 0; i < count; i++) to[i] = from[i * step + step - 1];
        } else if (channels < 3 && step > 2) {
            for (int64_t i = 0; i < count; i++) to[i] = gray_of(from + i * step);
        } else {
            from += step > 2 ? c : 0;
            for (int64_t i = 0; i < count; i++) to[i] = from[i * step];
        }
    }
}

lt_status lt_image_decode(const void *bytes, size_t n, int channels, lt_tensor **out)
{
    lt_status status = LT_OK;
    pixels p = {0};
    if (n >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        LT_CHECK(read_png(bytes, n, &p));
    else if (n >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        LT_CHECK(read_jpeg(bytes, n, channels, &p));
    else
        return lt_error(LT_ERR_IO, "neither a PNG nor a JPEG file");
    if (p.cmyk) inks_to_colours(&p);
    if (channels == 0) channels = p.channels;
    LT_CHECK(lt_tensor_new(LT_UINT8, lt_host, 3, (int64_t[]){channels, p.height, p.width}, out));
    expand_channels(&p, channels, (unsigned char *)lt_data(*out));
done:
    if (p.data != NULL) lt_block_free(p.data, p.capacity);
    return status;
}
