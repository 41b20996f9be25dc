/* image_encode.c - encodes tensors as PNG with libpng's simplified interface and as JPEG with
 * TurboJPEG; both report errors by return values.
 *
 * The planes of the tensor are interleaved into a temporary block. The libraries are opened when
 * the first image is written, as in image.c. Includes png.h, turbojpeg.h.
 */
#include "image.h"

#include <limits.h>
#include <string.h>

#include "error.h"
#include "libraries/library.h"
#include "memory/block.h"
#include "saturating.h"
#include "system/shared_library.h"
#include "tensor.h"

#if defined(__has_include)
#if __has_include(<png.h>)
#include <png.h>
#endif
#if __has_include(<turbojpeg.h>)
#include <turbojpeg.h>
#endif
#endif

/* Interleaved pixels, and the block for the bytes of the file. */
typedef struct encoding {
    unsigned char *pixels, *file;
    size_t pixels_capacity, file_capacity, length;
    int width, height, channels, quality;
} encoding;

#if defined(PNG_SIMPLIFIED_WRITE_SUPPORTED) || defined(TJFLAG_NOREALLOC)

static lt_status file_alloc(encoding *e, uint64_t n)
{
    if (n > INT64_MAX) return lt_error(LT_ERR_MEMORY, "the encoded image is too large");
    e->file = lt_block_alloc((size_t)n, &e->file_capacity);
    return e->file != NULL ? LT_OK : LT_ERR_MEMORY;
}

#endif

/* ---- PNG ------------------------------------------------------------------------------------- */

#ifdef PNG_SIMPLIFIED_WRITE_SUPPORTED

static __typeof__(&png_image_write_to_memory) png_write;
static __typeof__(&png_image_free) png_release;

static void load_png_writer(const lt_library *self)
{
    (void)self;
    void *library = lt_shared_open(LT_SHARED_NAME("png16", "16"));
    if (library == NULL) return;
    *(void **)&png_release = lt_shared_symbol(library, "png_image_free");
    if (png_release != NULL)
        *(void **)&png_write = lt_shared_symbol(library, "png_image_write_to_memory");
}

static lt_library png_writer = LT_LIBRARY(LT_SHARED_NAME("png16", "16"), load_png_writer);

static lt_status write_png(encoding *e)
{
    static const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                          PNG_FORMAT_RGBA};
    LT_TRY(lt_library_need(&png_writer));
    if (png_write == NULL)
        return lt_error(LT_ERR_IO, "PNG files are written by libpng (libpng16.so.16), which was "
                                   "not found; Debian's package is libpng16-16");
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)e->width,
                       .height = (png_uint_32)e->height,
                       .format = formats[e->channels - 1]};
    const uint64_t n = (uint64_t)e->width * (uint64_t)e->height * (uint64_t)e->channels;
    if (n > UINT32_MAX / 2) /* the size that libpng's simplified interface counts in 32 bits */
        return lt_error(LT_ERR_IO, "PNG: an image of %d x %d pixels is too large to write",
                        e->width, e->height);
    png_alloc_size_t length = PNG_IMAGE_PNG_SIZE_MAX(image);
    LT_TRY(file_alloc(e, length));
    lt_status status = LT_OK;
    if (!png_write(&image, e->file, &length, 0, e->pixels, 0, NULL))
        status = lt_error(LT_ERR_IO, "PNG: %s", image.message);
    e->length = length;
    png_release(&image);
    return status;
}

#else

static lt_status write_png(encoding *e)
{
    (void)e;
    return lt_error(LT_ERR_IO,
                    "PNG files: this ltensor was built without libpng's header (libpng-dev)");
}

#endif

/* ---- JPEG ------------------------------------------------------------------------------------ */

#ifdef TJFLAG_NOREALLOC

static struct {
    __typeof__(&tjInitCompress) init;
    __typeof__(&tjBufSize) bound;
    __typeof__(&tjCompress2) compress;
    __typeof__(&tjGetErrorStr2) message;
    __typeof__(&tjDestroy) destroy;
    bool ready;
} jpeg;

static void load_jpeg_writer(const lt_library *self)
{
    (void)self;
    void *library = lt_shared_open(LT_SHARED_NAME("turbojpeg", "0"));
    if (library == NULL) return;
    *(void **)&jpeg.init = lt_shared_symbol(library, "tjInitCompress");
    *(void **)&jpeg.bound = lt_shared_symbol(library, "tjBufSize");
    *(void **)&jpeg.compress = lt_shared_symbol(library, "tjCompress2");
    *(void **)&jpeg.message = lt_shared_symbol(library, "tjGetErrorStr2");
    *(void **)&jpeg.destroy = lt_shared_symbol(library, "tjDestroy");
    jpeg.ready = jpeg.init != NULL && jpeg.bound != NULL && jpeg.compress != NULL &&
                 jpeg.message != NULL && jpeg.destroy != NULL;
}

static lt_library jpeg_writer = LT_LIBRARY(LT_SHARED_NAME("turbojpeg", "0"), load_jpeg_writer);

/* Colors are stored at half resolution (4:2:0), as by libjpeg's and torchvision's default. */
static lt_status write_jpeg(encoding *e)
{
    LT_TRY(lt_library_need(&jpeg_writer));
    if (!jpeg.ready)
        return lt_error(LT_ERR_IO, "JPEG files are written by TurboJPEG (libturbojpeg.so.0), which "
                                   "was not found; Debian's package is libturbojpeg0");
    const int sampling = e->channels == 1 ? TJSAMP_GRAY : TJSAMP_420;
    const int format = e->channels == 1 ? TJPF_GRAY : TJPF_RGB;
    const unsigned long bound = jpeg.bound(e->width, e->height, sampling);
    if (bound == (unsigned long)-1)
        return lt_error(LT_ERR_IO, "JPEG: an image of %d x %d pixels is too large to write",
                        e->width, e->height);
    LT_TRY(file_alloc(e, bound));
    tjhandle handle = jpeg.init();
    if (handle == NULL) return lt_error(LT_ERR_MEMORY, "JPEG: out of memory");
    lt_status status = LT_OK;
    unsigned long length = bound;
    if (jpeg.compress(handle, e->pixels, e->width, 0, e->height, format, &e->file, &length,
                      sampling, e->quality, TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT) != 0)
        status = lt_error(LT_ERR_IO, "JPEG: %s", jpeg.message(handle));
    e->length = length;
    jpeg.destroy(handle);
    return status;
}

#else

static lt_status write_jpeg(encoding *e)
{
    (void)e;
    return lt_error(
        LT_ERR_IO,
        "JPEG files: this ltensor was built without TurboJPEG's header (libturbojpeg0-dev)");
}

#endif

/* ---- pixels ---------------------------------------------------------------------------------- */

static lt_status interleave(const lt_tensor *image, encoding *e)
{
    const int64_t count = (int64_t)e->width * e->height;
    const unsigned char *from = (const unsigned char *)lt_data(image);
    e->pixels = lt_block_array(lt_mul_sat(count, e->channels), 1, &e->pixels_capacity);
    if (e->pixels == NULL) return LT_ERR_MEMORY;
    for (int c = 0; c < e->channels; c++, from += count)
        for (int64_t i = 0; i < count; i++) e->pixels[i * e->channels + c] = from[i];
    return LT_OK;
}

lt_status lt_image_encode(const lt_tensor *image, lt_image_format format, int quality,
                          lt_tensor **out)
{
    lt_status status = LT_OK;
    const int most = format == LT_IMAGE_PNG ? 4 : 3;
    if (image->dtype != LT_UINT8 || image->ndim != 3 || image->sizes[0] < 1 ||
        image->sizes[0] > most || (most == 3 && image->sizes[0] == 2) || image->sizes[1] < 1 ||
        image->sizes[2] < 1 || image->sizes[1] > INT_MAX || image->sizes[2] > INT_MAX)
        return lt_error(LT_ERR_RUNTIME, "encode_image(): expected a uint8 image of %s channels",
                        format == LT_IMAGE_PNG ? "1 to 4" : "1 or 3");
    encoding e = {.channels = (int)image->sizes[0],
                  .height = (int)image->sizes[1],
                  .width = (int)image->sizes[2],
                  .quality = quality};
    LT_CHECK(interleave(image, &e));
    LT_CHECK(format == LT_IMAGE_PNG ? write_png(&e) : write_jpeg(&e));
    LT_CHECK(lt_tensor_new(LT_UINT8, lt_host, 1, (int64_t[]){(int64_t)e.length}, out));
    memcpy(lt_data(*out), e.file, e.length);
done:
    lt_block_free(e.file, e.file_capacity);
    lt_block_free(e.pixels, e.pixels_capacity);
    return status;
}
