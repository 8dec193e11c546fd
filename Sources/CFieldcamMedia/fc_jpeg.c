#include "fc_jpeg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

// Luma rows of one row of MCUs at 4:2:0.
enum { ROWS = 16, CHROMA_ROWS = 8 };

// Weights of a range and matrix conversion into sYCC, scaled by 2^14.
struct weights {
    int16_t luma, luma_from_u, luma_from_v;
    int16_t u_from_u, u_from_v, v_from_u, v_from_v;
    bool has_matrix;
};

struct fc_jpeg {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf escape;
    bool is_created;
    char message[JMSG_LENGTH_MAX];
    // The file being made; grows, never shrinks.
    uint8_t *file;
    size_t file_capacity;
    size_t file_size;
    // The rows that are being encoded.
    uint8_t *rows;
    size_t rows_capacity;
    uint8_t *small;
    size_t small_capacity;
    uint32_t *sums;
    size_t sums_capacity;
};

static bool reserve(uint8_t **memory, size_t *capacity, size_t wanted) {
    if (wanted <= *capacity) return true;
    uint8_t *grown = realloc(*memory, wanted);
    if (!grown) return false;
    *memory = grown;
    *capacity = wanted;
    return true;
}

// MARK: libjpeg's callbacks

static void on_error(j_common_ptr common) {
    fc_jpeg *encoder = common->client_data;
    (*common->err->format_message)(common, encoder->message);
    longjmp(encoder->escape, 1);
}

static void on_message(j_common_ptr common) {
    (void)common;
}

static void begin_file(j_compress_ptr jpeg) {
    fc_jpeg *encoder = jpeg->client_data;
    encoder->destination.next_output_byte = encoder->file;
    encoder->destination.free_in_buffer = encoder->file_capacity;
}

static boolean grow_file(j_compress_ptr jpeg) {
    fc_jpeg *encoder = jpeg->client_data;
    size_t used = encoder->file_capacity;
    if (!reserve(&encoder->file, &encoder->file_capacity, used * 2)) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    encoder->destination.next_output_byte = encoder->file + used;
    encoder->destination.free_in_buffer = encoder->file_capacity - used;
    return TRUE;
}

static void end_file(j_compress_ptr jpeg) {
    fc_jpeg *encoder = jpeg->client_data;
    encoder->file_size = encoder->file_capacity - encoder->destination.free_in_buffer;
}

// MARK: Life

fc_jpeg *fc_jpeg_create(void) {
    fc_jpeg *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->jpeg.err = jpeg_std_error(&encoder->errors);
    encoder->errors.error_exit = on_error;
    encoder->errors.output_message = on_message;
    encoder->jpeg.client_data = encoder;
    if (setjmp(encoder->escape)) {
        fc_jpeg_destroy(encoder);
        return NULL;
    }
    jpeg_create_compress(&encoder->jpeg);
    encoder->is_created = true;
    encoder->destination.init_destination = begin_file;
    encoder->destination.empty_output_buffer = grow_file;
    encoder->destination.term_destination = end_file;
    encoder->jpeg.dest = &encoder->destination;
    return encoder;
}

void fc_jpeg_destroy(fc_jpeg *encoder) {
    if (!encoder) return;
    if (encoder->is_created) jpeg_destroy_compress(&encoder->jpeg);
    free(encoder->file);
    free(encoder->rows);
    free(encoder->small);
    free(encoder->sums);
    free(encoder);
}

const char *fc_jpeg_message(const fc_jpeg *encoder) {
    return encoder->message;
}

// MARK: Colour

static int16_t scaled(double value) {
    return (int16_t)(value * (1 << 14) + (value < 0 ? -0.5 : 0.5));
}

// Limited range to full; with BT.709 also its matrix to BT.601's, both of them linear, in one step.
static struct weights weights_for(enum fc_colour colour) {
    const double luma = 255.0 / 219.0, chroma = 255.0 / 224.0;
    struct weights w = {.luma = scaled(luma), .u_from_u = scaled(chroma), .v_from_v = scaled(chroma)};
    if (colour != FC_COLOUR_REC709) return w;
    // Of ITU-R BT.709 and BT.601: the weights of red and blue in luma.
    const double red = 0.2126, blue = 0.0722, red601 = 0.299, blue601 = 0.114;
    const double green = 1 - red - blue, green601 = 1 - red601 - blue601;
    // R, G, B less luma, per unit of U and V (normalised to ±0.5).
    const double r_v = 2 * (1 - red), b_u = 2 * (1 - blue);
    const double g_u = -blue * b_u / green, g_v = -red * r_v / green;
    const double y_u = green601 * g_u + blue601 * b_u, y_v = red601 * r_v + green601 * g_v;
    const double to_u = 1 / (2 * (1 - blue601)), to_v = 1 / (2 * (1 - red601));
    w.has_matrix = true;
    w.luma_from_u = scaled(y_u * chroma);
    w.luma_from_v = scaled(y_v * chroma);
    w.u_from_u = scaled((b_u - y_u) * to_u * chroma);
    w.u_from_v = scaled((0 - y_v) * to_u * chroma);
    w.v_from_u = scaled((0 - y_u) * to_v * chroma);
    w.v_from_v = scaled((r_v - y_v) * to_v * chroma);
    return w;
}

// A sample's deviation times a weight, with five bits after the point: all in 16 bits, so that a compiler makes vector code of
// it that multiplies eight samples at once on any machine.
static inline int16_t times(int16_t deviation, int16_t weight) {
    return (int16_t)(((int32_t)(int16_t)(deviation * 128) * weight) >> 16);
}

// Rounds away the five bits.
static inline uint8_t rounded(int16_t value) {
    int16_t whole = (int16_t)((int16_t)(value + 16) >> 5);
    return (uint8_t)(whole < 0 ? 0 : whole > 255 ? 255 : whole);
}

static void convert_chroma(uint8_t *restrict u, uint8_t *restrict v, int count, const struct weights *w) {
    const struct weights k = *w;
    for (int i = 0; i < count; i++) {
        int16_t a = (int16_t)(u[i] - 128), b = (int16_t)(v[i] - 128);
        u[i] = rounded((int16_t)(128 * 32 + times(a, k.u_from_u) + times(b, k.u_from_v)));
        v[i] = rounded((int16_t)(128 * 32 + times(a, k.v_from_u) + times(b, k.v_from_v)));
    }
}

static void convert_luma(uint8_t *restrict to, const uint8_t *restrict from, int count, const struct weights *w) {
    const int16_t luma = w->luma;
    for (int i = 0; i < count; i++) to[i] = rounded(times((int16_t)(from[i] - 16), luma));
}

// What a chroma row adds to the luma of the two rows that share it; `u`, `v`: before their own conversion.
static void weigh_chroma(int16_t *restrict shift, const uint8_t *restrict u, const uint8_t *restrict v, int count,
                         const struct weights *w) {
    const int16_t from_u = w->luma_from_u, from_v = w->luma_from_v;
    for (int i = 0; i < count; i++) {
        int16_t sum = (int16_t)(times((int16_t)(u[i] - 128), from_u) + times((int16_t)(v[i] - 128), from_v));
        shift[2 * i] = sum;
        shift[2 * i + 1] = sum;
    }
}

static void convert_luma_by_chroma(uint8_t *restrict to, const uint8_t *restrict from, const int16_t *restrict shift,
                                   int count, const struct weights *w) {
    const int16_t luma = w->luma;
    for (int i = 0; i < count; i++)
        to[i] = rounded((int16_t)(shift[i] + times((int16_t)(from[i] - 16), luma)));
}

static void split(uint8_t *restrict u, uint8_t *restrict v, const uint8_t *restrict pairs, int count) {
    // As 16-bit words, which compilers make vector code of on any machine. U is the lower byte: our machines are little-endian.
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "U and V would change places");
    for (int i = 0; i < count; i++) {
        uint16_t pair;
        memcpy(&pair, pairs + 2 * (ptrdiff_t)i, sizeof pair);
        u[i] = (uint8_t)pair;
        v[i] = (uint8_t)(pair >> 8);
    }
}

static void pad(uint8_t *row, int count, int padded) {
    memset(row + count, row[count - 1], (size_t)(padded - count));
}

// MARK: Encoding

static void encode_planes(fc_jpeg *encoder, const fc_picture *picture) {
    j_compress_ptr jpeg = &encoder->jpeg;
    const int width = picture->width, height = picture->height;
    const int chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    const int padded = (width + 15) / 16 * 16, chroma_padded = padded / 2;
    const bool is_nv12 = picture->pixels == FC_PIXELS_NV12;
    const bool is_converted = picture->colour != FC_COLOUR_SYCC;
    const bool is_padded = padded != width;
    const struct weights w = weights_for(picture->colour);

    // libjpeg reads whole blocks, beyond a row's end where the width isn't a multiple of them, and what lies there would ring
    // into the picture's edge: rows are copied and their last sample repeated. All other rows are copied too: a block's
    // eight rows lie far apart in the camera's memory, and fetching rows whole is faster by more than the copy costs.
    uint8_t *luma = encoder->rows;
    uint8_t *u = luma + (size_t)padded * ROWS;
    uint8_t *v = u + (size_t)chroma_padded * CHROMA_ROWS;
    int16_t *shift = (int16_t *)(v + (size_t)chroma_padded * CHROMA_ROWS);
    JSAMPROW luma_rows[ROWS], u_rows[CHROMA_ROWS], v_rows[CHROMA_ROWS];
    JSAMPARRAY planes[3] = {luma_rows, u_rows, v_rows};

    for (int top = 0; top < height; top += ROWS) {
        for (int i = 0; i < CHROMA_ROWS; i++) {
            int y = top / 2 + i;
            if (y >= chroma_height) {
                u_rows[i] = u_rows[i - 1];
                v_rows[i] = v_rows[i - 1];
                continue;
            }
            const uint8_t *from = picture->plane[1] + y * picture->stride[1];
            u_rows[i] = u + (size_t)chroma_padded * (size_t)i;
            v_rows[i] = v + (size_t)chroma_padded * (size_t)i;
            if (is_nv12) {
                split(u_rows[i], v_rows[i], from, chroma_width);
            } else {
                memcpy(u_rows[i], from, (size_t)chroma_width);
                memcpy(v_rows[i], picture->plane[2] + y * picture->stride[2], (size_t)chroma_width);
            }
        }
        for (int i = 0; i < ROWS; i++) {
            int y = top + i;
            if (y >= height) {
                luma_rows[i] = luma_rows[i - 1];
                continue;
            }
            const uint8_t *from = picture->plane[0] + y * picture->stride[0];
            luma_rows[i] = luma + (size_t)padded * (size_t)i;
            if (w.has_matrix && i % 2 == 0) weigh_chroma(shift, u_rows[i / 2], v_rows[i / 2], chroma_width, &w);
            if (w.has_matrix)
                convert_luma_by_chroma(luma_rows[i], from, shift, width, &w);
            else if (is_converted)
                convert_luma(luma_rows[i], from, width, &w);
            else
                memcpy(luma_rows[i], from, (size_t)width);
            if (is_padded) pad(luma_rows[i], width, padded);
        }
        for (int i = 0; i < CHROMA_ROWS && top / 2 + i < chroma_height; i++) {
            if (is_converted) convert_chroma(u_rows[i], v_rows[i], chroma_width, &w);
            if (is_padded) {
                pad(u_rows[i], chroma_width, chroma_padded);
                pad(v_rows[i], chroma_width, chroma_padded);
            }
        }
        jpeg_write_raw_data(jpeg, planes, ROWS);
    }
}

static void encode_rows(fc_jpeg *encoder, const fc_picture *picture) {
    JSAMPROW rows[ROWS];
    for (int top = 0; top < picture->height; top += ROWS) {
        int count = picture->height - top < ROWS ? picture->height - top : ROWS;
        for (int i = 0; i < count; i++) rows[i] = (JSAMPROW)(picture->plane[0] + (top + i) * picture->stride[0]);
        jpeg_write_scanlines(&encoder->jpeg, rows, (JDIMENSION)count);
    }
}

static bool is_planar(const fc_picture *picture) {
    return picture->pixels == FC_PIXELS_YUV420 || picture->pixels == FC_PIXELS_NV12;
}

static bool is_sound(const fc_picture *picture) {
    if (picture->width < 1 || picture->height < 1 || picture->width > JPEG_MAX_DIMENSION ||
        picture->height > JPEG_MAX_DIMENSION || !picture->plane[0])
        return false;
    if (is_planar(picture) && !picture->plane[1]) return false;
    return picture->pixels != FC_PIXELS_YUV420 || picture->plane[2];
}

int fc_jpeg_encode(fc_jpeg *encoder, const fc_picture *picture, int quality, const uint8_t *exif, size_t exif_size,
                   const uint8_t **bytes, size_t *size) {
    if (!is_sound(picture) || quality < 1 || quality > 100 || exif_size > 65533) return -EINVAL;
    j_compress_ptr jpeg = &encoder->jpeg;
    size_t padded = ((size_t)picture->width + 15) / 16 * 16;
    // A quarter byte a pixel is what a detailed scene takes at quality 92; the buffer keeps what it grew to.
    size_t guess = exif_size + (size_t)picture->width * (size_t)picture->height / 4 + 65536;
    if (!reserve(&encoder->rows, &encoder->rows_capacity, padded * (ROWS + CHROMA_ROWS + sizeof(int16_t))) ||
        !reserve(&encoder->file, &encoder->file_capacity, guess))
        return -ENOMEM;
    if (setjmp(encoder->escape)) {
        int code = jpeg->err->msg_code == JERR_OUT_OF_MEMORY ? -ENOMEM : -EIO;
        jpeg_abort_compress(jpeg);
        return code;
    }
    jpeg->image_width = (JDIMENSION)picture->width;
    jpeg->image_height = (JDIMENSION)picture->height;
    jpeg->input_components = 3;
    jpeg->in_color_space = is_planar(picture)                    ? JCS_YCbCr
                           : picture->pixels == FC_PIXELS_BGR ? JCS_EXT_BGR
                                                              : JCS_EXT_RGB;
    // Defaults: 4:2:0, the standard's Huffman tables, the accurate transform.
    jpeg_set_defaults(jpeg);
    jpeg_set_colorspace(jpeg, JCS_YCbCr);
    jpeg_set_quality(jpeg, quality, TRUE);
    jpeg->dct_method = JDCT_ISLOW;
    jpeg->raw_data_in = is_planar(picture);
    // Exif wants its marker first, in JFIF's place.
    jpeg->write_JFIF_header = exif == NULL;
    jpeg_start_compress(jpeg, TRUE);
    if (exif) jpeg_write_marker(jpeg, JPEG_APP0 + 1, exif, (unsigned)exif_size);
    if (is_planar(picture))
        encode_planes(encoder, picture);
    else
        encode_rows(encoder, picture);
    jpeg_finish_compress(jpeg);
    *bytes = encoder->file;
    *size = encoder->file_size;
    return 0;
}

// MARK: Thumbnail

// Averages boxes of `box` by `box` pixels of `channels` interleaved samples; boxes at the far edges may be cut short.
static void shrink(uint8_t *to, ptrdiff_t to_stride, int to_width, int to_height, int channels, const uint8_t *from,
                   ptrdiff_t from_stride, int width, int height, int box, uint32_t *sums) {
    for (int row = 0; row < to_height; row++) {
        int top = row * box, bottom = top + box < height ? top + box : height;
        int used = to_width * box < width ? to_width * box : width;
        memset(sums, 0, sizeof *sums * (size_t)(used * channels));
        for (int y = top; y < bottom; y++) {
            const uint8_t *line = from + y * from_stride;
            for (int x = 0; x < used * channels; x++) sums[x] += line[x];
        }
        for (int column = 0; column < to_width; column++) {
            int left = column * box, right = left + box < width ? left + box : width;
            uint32_t area = (uint32_t)((right - left) * (bottom - top));
            for (int channel = 0; channel < channels; channel++) {
                uint32_t sum = 0;
                for (int x = left; x < right; x++) sum += sums[x * channels + channel];
                to[row * to_stride + column * channels + channel] = (uint8_t)((sum + area / 2) / area);
            }
        }
    }
}

int fc_jpeg_thumbnail(fc_jpeg *encoder, const fc_picture *picture, int longer, fc_picture *small) {
    if (!is_sound(picture) || longer < 1) return -EINVAL;
    const int width = picture->width, height = picture->height;
    const int longest = width > height ? width : height;
    const int box = (longest + longer - 1) / longer;
    const int small_width = width / box > 0 ? width / box : 1, small_height = height / box > 0 ? height / box : 1;
    const int chroma_width = (small_width + 1) / 2, chroma_height = (small_height + 1) / 2;
    const size_t luma = (size_t)small_width * (size_t)small_height;
    const size_t chroma = (size_t)chroma_width * (size_t)chroma_height;
    if (!reserve(&encoder->small, &encoder->small_capacity, luma * 3 + chroma * 4)) return -ENOMEM;
    size_t sums = sizeof(uint32_t) * (size_t)width * 3;
    uint8_t *memory = (uint8_t *)encoder->sums;
    if (!reserve(&memory, &encoder->sums_capacity, sums)) return -ENOMEM;
    encoder->sums = (uint32_t *)memory;

    *small = *picture;
    small->width = small_width;
    small->height = small_height;
    small->plane[0] = encoder->small;
    if (!is_planar(picture)) {
        small->stride[0] = (ptrdiff_t)small_width * 3;
        shrink(encoder->small, small->stride[0], small_width, small_height, 3, picture->plane[0], picture->stride[0],
               width, height, box, encoder->sums);
        return 0;
    }
    small->stride[0] = small_width;
    shrink(encoder->small, small_width, small_width, small_height, 1, picture->plane[0], picture->stride[0], width,
           height, box, encoder->sums);
    const int from_width = (width + 1) / 2, from_height = (height + 1) / 2;
    uint8_t *u = encoder->small + luma;
    small->plane[1] = u;
    if (picture->pixels == FC_PIXELS_NV12) {
        small->stride[1] = (ptrdiff_t)chroma_width * 2;
        shrink(u, small->stride[1], chroma_width, chroma_height, 2, picture->plane[1], picture->stride[1], from_width,
               from_height, box, encoder->sums);
        return 0;
    }
    small->stride[1] = small->stride[2] = chroma_width;
    small->plane[2] = u + chroma;
    shrink(u, chroma_width, chroma_width, chroma_height, 1, picture->plane[1], picture->stride[1], from_width,
           from_height, box, encoder->sums);
    shrink(u + chroma, chroma_width, chroma_width, chroma_height, 1, picture->plane[2], picture->stride[2], from_width,
           from_height, box, encoder->sums);
    return 0;
}
