// Baseline JPEG, 4:2:0, straight from a camera's planes by libjpeg-turbo. libjpeg's longjmp never leaves this file.
// An encoder belongs to one thread at a time. Errors come back as negative errno.
#ifndef FC_JPEG_H
#define FC_JPEG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fc_pixels {
    /// Planes Y, U, V; chroma halved both ways.
    FC_PIXELS_YUV420 = 0,
    /// Planes Y and interleaved U, V; chroma halved both ways.
    FC_PIXELS_NV12 = 1,
    /// One plane, bytes R, G, B.
    FC_PIXELS_RGB = 2,
    /// One plane, bytes B, G, R.
    FC_PIXELS_BGR = 3,
};

enum fc_colour {
    /// BT.601 matrix, full range: what JPEG holds; no conversion.
    FC_COLOUR_SYCC = 0,
    /// BT.601 matrix, limited range.
    FC_COLOUR_SMPTE170M = 1,
    /// BT.709 matrix, limited range.
    FC_COLOUR_REC709 = 2,
};

/// An image that is only read. Rows hold at least `width` samples; nothing beyond them is touched.
typedef struct fc_picture {
    int width;
    int height;
    enum fc_pixels pixels;
    enum fc_colour colour;
    const uint8_t *_Nullable plane[3];
    /// Bytes from one row to the next.
    ptrdiff_t stride[3];
} fc_picture;

typedef struct fc_jpeg fc_jpeg;

/// An encoder without buffers yet; NULL without memory.
fc_jpeg *_Nullable fc_jpeg_create(void);
void fc_jpeg_destroy(fc_jpeg *_Nullable encoder);

/// Encodes a picture at a quality of 1 … 100. `exif` (may be NULL), at most 65533 bytes that begin with "Exif\0\0", becomes the
/// first marker; without it the file begins as JFIF. `*bytes` stays the encoder's own and valid until its next call.
/// -EINVAL: size or quality out of range; -ENOMEM; -EIO: libjpeg refused, see `fc_jpeg_message`.
int fc_jpeg_encode(fc_jpeg *_Nonnull encoder, const fc_picture *_Nonnull picture, int quality,
                   const uint8_t *_Nullable exif, size_t exif_size, const uint8_t *_Nullable *_Nonnull bytes,
                   size_t *_Nonnull size);

/// Makes a small picture whose longer side is at most `longer` pixels by averaging whole boxes; pixels (planar 4:2:0 or packed
/// RGB) and colour stay as they are. The result's planes are the encoder's own and valid until its next call.
int fc_jpeg_thumbnail(fc_jpeg *_Nonnull encoder, const fc_picture *_Nonnull picture, int longer,
                      fc_picture *_Nonnull small);

/// libjpeg's words for the last -EIO.
const char *_Nonnull fc_jpeg_message(const fc_jpeg *_Nonnull encoder);

#ifdef __cplusplus
}
#endif
#endif
