#include "fc_scratch.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct fc_scratch {
    uint8_t *memory;
    size_t capacity;
    // The shrunken plane of a blur, samples with eight bits after the point, then one row of it.
    uint16_t *small;
    size_t small_capacity;
};

// One plane as blurring and masking see it.
struct plane {
    uint8_t *base;
    ptrdiff_t stride;
    int width, height;
    // Interleaved samples, and how many pixels one stands for each way.
    int channels, scale;
    // White, per channel.
    uint8_t white[3];
};

fc_scratch *fc_scratch_create(void) { return calloc(1, sizeof(fc_scratch)); }

void fc_scratch_destroy(fc_scratch *scratch) {
    if (!scratch) return;
    free(scratch->memory);
    free(scratch->small);
    free(scratch);
}

static bool is_planar(const fc_picture *picture) {
    return picture->pixels == FC_PIXELS_YUV420 || picture->pixels == FC_PIXELS_NV12;
}

// Fills in the planes there are; returns how many.
static int planes_of(const fc_picture *picture, struct plane planes[3]) {
    const bool is_limited = is_planar(picture) && picture->colour != FC_COLOUR_SYCC;
    const uint8_t white = is_limited ? 235 : 255;
    planes[0] = (struct plane){.base = (uint8_t *)picture->plane[0],
                               .stride = picture->stride[0],
                               .width = picture->width,
                               .height = picture->height,
                               .channels = is_planar(picture) ? 1 : 3,
                               .scale = 1,
                               .white = {white, white, white}};
    if (!is_planar(picture)) return 1;
    const int count = picture->pixels == FC_PIXELS_NV12 ? 2 : 3;
    for (int i = 1; i < count; i++)
        planes[i] = (struct plane){.base = (uint8_t *)picture->plane[i],
                                   .stride = picture->stride[i],
                                   .width = (picture->width + 1) / 2,
                                   .height = (picture->height + 1) / 2,
                                   .channels = count == 2 ? 2 : 1,
                                   .scale = 2,
                                   .white = {128, 128, 128}};
    return count;
}

static bool reserve(fc_scratch *scratch, size_t wanted) {
    if (wanted <= scratch->capacity) return true;
    // The old content is of no use: freed first, so that there are never two.
    free(scratch->memory);
    scratch->memory = malloc(wanted);
    scratch->capacity = scratch->memory ? wanted : 0;
    return scratch->memory != NULL;
}

int fc_scratch_copy(fc_scratch *scratch, const fc_picture *picture, fc_picture *copy) {
    if (picture->width < 1 || picture->height < 1 || !picture->plane[0]) return -EINVAL;
    struct plane planes[3];
    const int count = planes_of(picture, planes);
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += (size_t)planes[i].width * (size_t)planes[i].channels * (size_t)planes[i].height;
    if (!reserve(scratch, size)) return -ENOMEM;
    *copy = *picture;
    uint8_t *to = scratch->memory;
    for (int i = 0; i < count; i++) {
        const size_t row = (size_t)planes[i].width * (size_t)planes[i].channels;
        copy->plane[i] = to;
        copy->stride[i] = (ptrdiff_t)row;
        for (int y = 0; y < planes[i].height; y++, to += row)
            memcpy(to, planes[i].base + y * planes[i].stride, row);
    }
    return 0;
}

int fc_scratch_copy_first(fc_scratch *scratch, const fc_picture *picture, fc_picture *copy) {
    if (picture->width < 1 || picture->height < 1 || !picture->plane[0]) return -EINVAL;
    struct plane planes[3];
    planes_of(picture, planes);
    const size_t row = (size_t)planes[0].width * (size_t)planes[0].channels;
    // Vector code reads a little beyond the last row.
    if (!reserve(scratch, (size_t)planes[0].stride * (size_t)planes[0].height + 64)) return -ENOMEM;
    *copy = *picture;
    copy->plane[0] = scratch->memory;
    for (int y = 0; y < planes[0].height; y++)
        memcpy(scratch->memory + y * planes[0].stride, planes[0].base + y * planes[0].stride, row);
    return 0;
}

// MARK: Areas

// How much of a sample lies in an area, 0 … 256: its edge is one sample wide where it is round.
static int covered(const struct plane *plane, fc_area area, int x, int y) {
    const double scale = plane->scale;
    const double px = (x + 0.5) * scale - area.x, py = (y + 0.5) * scale - area.y;
    const double r = area.radius;
    if (px < 0 || py < 0 || px > area.width || py > area.height) return 0;
    const double dx = px < r ? r - px : px > area.width - r ? px - (area.width - r) : 0;
    const double dy = py < r ? r - py : py > area.height - r ? py - (area.height - r) : 0;
    if (dx == 0 || dy == 0) return 256;
    const double inside = (r - sqrt(dx * dx + dy * dy)) / scale + 0.5;
    return inside <= 0 ? 0 : inside >= 1 ? 256 : (int)(inside * 256 + 0.5);
}

// The samples of a row that lie in an area for sure: from `*from` to before `*to`.
static void core(const struct plane *plane, fc_area area, int y, int *from, int *to) {
    const int top = (area.y + plane->scale - 1) / plane->scale, bottom = (area.y + area.height) / plane->scale;
    const int round_top = (area.y + area.radius + plane->scale - 1) / plane->scale;
    const int round_bottom = (area.y + area.height - area.radius) / plane->scale;
    const int in = y >= round_top && y < round_bottom ? 0 : area.radius;
    *from = (area.x + in + plane->scale - 1) / plane->scale;
    *to = (area.x + area.width - in) / plane->scale;
    if (*from < 0) *from = 0;
    if (*to > plane->width) *to = plane->width;
    if (y < top || y >= bottom || *to <= *from) *from = *to = plane->width;
}

static uint8_t mixed(int below, int above, int weight) {
    return (uint8_t)((below * (256 - weight) + above * weight + 128) >> 8);
}

void fc_scratch_mask(const fc_picture *copy, fc_area area) {
    struct plane planes[3];
    const int count = planes_of(copy, planes);
    for (int i = 0; i < count; i++) {
        const struct plane *plane = &planes[i];
        for (int y = 0; y < plane->height; y++) {
            uint8_t *row = plane->base + y * plane->stride;
            int from, to;
            core(plane, area, y, &from, &to);
            for (int x = 0; x < plane->width; x++) {
                if (x == from && to > from) x = to;
                if (x >= plane->width) break;
                const int weight = covered(plane, area, x, y);
                if (weight == 256) continue;
                for (int c = 0; c < plane->channels; c++) {
                    uint8_t *sample = row + x * plane->channels + c;
                    *sample = mixed(plane->white[c], *sample, weight);
                }
            }
        }
    }
}

// MARK: Blur

static void shrink(uint16_t *small, int small_width, int small_height, const struct plane *plane, int box) {
    for (int row = 0; row < small_height; row++) {
        const int top = row * box, bottom = top + box < plane->height ? top + box : plane->height;
        for (int column = 0; column < small_width; column++) {
            const int left = column * box, right = left + box < plane->width ? left + box : plane->width;
            for (int c = 0; c < plane->channels; c++) {
                uint64_t sum = 0;
                for (int y = top; y < bottom; y++) {
                    const uint8_t *from = plane->base + y * plane->stride + c;
                    for (int x = left; x < right; x++) sum += from[x * plane->channels];
                }
                const uint64_t area = (uint64_t)(right - left) * (uint64_t)(bottom - top);
                small[(row * small_width + column) * plane->channels + c] = (uint16_t)((sum * 256 + area / 2) / area);
            }
        }
    }
}

// A box of three samples along a line, in place; the ends repeat.
static void smooth(uint16_t *line, int count, ptrdiff_t step) {
    uint32_t before = line[0];
    for (int i = 0; i < count; i++, line += step) {
        const uint32_t here = line[0], after = i + 1 < count ? line[step] : here;
        line[0] = (uint16_t)((before + here + after + 1) / 3);
        before = here;
    }
}

// Spreads the small plane over the large one again, but for the area.
static void spread(const struct plane *plane, const uint16_t *small, int small_width, int small_height, uint16_t *line,
                   int box, fc_area sharp) {
    const int channels = plane->channels;
    for (int y = 0; y < plane->height; y++) {
        // Where the sample's middle lies between the middles of boxes, with eight bits after the point.
        int place = (2 * y + 1) * 128 / box - 128;
        if (place < 0) place = 0;
        int above = place >> 8, weight = place & 255;
        int below = above + 1 < small_height ? above + 1 : small_height - 1;
        if (above >= small_height) above = small_height - 1;
        for (int i = 0; i < small_width * channels; i++)
            line[i] = (uint16_t)((small[above * small_width * channels + i] * (uint32_t)(256 - weight) +
                                  small[below * small_width * channels + i] * (uint32_t)weight) >>
                                 8);
        uint8_t *row = plane->base + y * plane->stride;
        int from, to;
        core(plane, sharp, y, &from, &to);
        for (int x = 0; x < plane->width; x++) {
            if (x == from && to > from) x = to;
            if (x >= plane->width) break;
            const int kept = covered(plane, sharp, x, y);
            if (kept == 256) continue;
            int across = (2 * x + 1) * 128 / box - 128;
            if (across < 0) across = 0;
            int left = across >> 8;
            const uint32_t part = (uint32_t)(across & 255);
            int right = left + 1 < small_width ? left + 1 : small_width - 1;
            if (left >= small_width) left = small_width - 1;
            for (int c = 0; c < channels; c++) {
                const uint32_t value = line[left * channels + c] * (256 - part) + line[right * channels + c] * part;
                uint8_t *sample = row + x * channels + c;
                *sample = mixed((int)((value + 32768) >> 16), *sample, kept);
            }
        }
    }
}

int fc_scratch_blur(fc_scratch *scratch, const fc_picture *copy, fc_area sharp) {
    struct plane planes[3];
    const int count = planes_of(copy, planes);
    const int shorter = copy->width < copy->height ? copy->width : copy->height;
    // Even, so that chroma's boxes are halves.
    int box = shorter / 64 / 2 * 2;
    if (box < 4) box = 4;
    for (int i = 0; i < count; i++) {
        const struct plane *plane = &planes[i];
        const int own = box / plane->scale;
        const int width = (plane->width + own - 1) / own, height = (plane->height + own - 1) / own;
        const size_t row = (size_t)width * (size_t)plane->channels;
        const size_t wanted = row * ((size_t)height + 1) * sizeof(uint16_t);
        if (wanted > scratch->small_capacity) {
            free(scratch->small);
            scratch->small = malloc(wanted);
            scratch->small_capacity = scratch->small ? wanted : 0;
            if (!scratch->small) return -ENOMEM;
        }
        shrink(scratch->small, width, height, plane, own);
        for (int pass = 0; pass < 2; pass++) {
            for (int y = 0; y < height; y++)
                for (int c = 0; c < plane->channels; c++)
                    smooth(scratch->small + (size_t)y * row + c, width, plane->channels);
            for (size_t x = 0; x < row; x++) smooth(scratch->small + x, height, (ptrdiff_t)row);
        }
        spread(plane, scratch->small, width, height, scratch->small + row * (size_t)height, own, sharp);
    }
    return 0;
}

// MARK: Lines

// Strokes cover seven tenths of what lies below.
enum { STROKE_WEIGHT = 180 };

struct pen {
    uint8_t *base;
    ptrdiff_t stride;
    int width, height, channels;
    uint8_t dark, light;
};

static struct pen pen_for(const fc_picture *copy) {
    const bool is_limited = is_planar(copy) && copy->colour != FC_COLOUR_SYCC;
    return (struct pen){.base = (uint8_t *)copy->plane[0],
                        .stride = copy->stride[0],
                        .width = copy->width,
                        .height = copy->height,
                        .channels = is_planar(copy) ? 1 : 3,
                        .dark = is_limited ? 16 : 0,
                        .light = is_limited ? 235 : 255};
}

static void stroke_row(const struct pen *pen, int y, int from, int to, uint8_t value) {
    if (y < 0 || y >= pen->height) return;
    if (from < 0) from = 0;
    if (to > pen->width) to = pen->width;
    uint8_t *row = pen->base + y * pen->stride;
    for (int i = from * pen->channels; i < to * pen->channels; i++) row[i] = mixed(row[i], value, STROKE_WEIGHT);
}

// Three strokes side by side in one row.
static void cross_line(const struct pen *pen, int y, int x, int stroke) {
    stroke_row(pen, y, x, x + stroke, pen->dark);
    stroke_row(pen, y, x + stroke, x + 2 * stroke, pen->light);
    stroke_row(pen, y, x + 2 * stroke, x + 3 * stroke, pen->dark);
}

void fc_scratch_thirds(const fc_picture *copy, fc_area area, int stroke) {
    const struct pen pen = pen_for(copy);
    const int half = 3 * stroke / 2;
    const int lines[2] = {area.y + (area.height + 1) / 3 - half, area.y + (2 * area.height + 1) / 3 - half};
    const int columns[2] = {area.x + (area.width + 1) / 3 - half, area.x + (2 * area.width + 1) / 3 - half};
    for (int y = area.y; y < area.y + area.height; y++) {
        bool is_line = false;
        for (int i = 0; i < 2; i++) {
            if (y < lines[i] || y >= lines[i] + 3 * stroke) continue;
            is_line = true;
            const bool is_light = (y - lines[i]) / stroke == 1;
            stroke_row(&pen, y, area.x, area.x + area.width, is_light ? pen.light : pen.dark);
        }
        // Where lines cross one of them is drawn.
        for (int i = 0; i < 2 && !is_line; i++) cross_line(&pen, y, columns[i], stroke);
    }
}

// One quarter of a ring's row: pixels from `from` to before `to`, the ring's middle at (`cx`, `cy`), in half pixels.
static void stroke_arc(const struct pen *pen, int y, int from, int to, int cx, int cy, int radius, int stroke) {
    if (y < 0 || y >= pen->height) return;
    if (from < 0) from = 0;
    if (to > pen->width) to = pen->width;
    const int64_t dy = 2 * (int64_t)y + 1 - cy;
    int64_t edge[4];
    for (int i = 0; i < 4; i++) {
        const int64_t r = 2 * ((int64_t)radius + i * (int64_t)stroke);
        edge[i] = r * r;
    }
    for (int x = from; x < to; x++) {
        const int64_t dx = 2 * (int64_t)x + 1 - cx, far = dx * dx + dy * dy;
        if (far <= edge[0] || far > edge[3]) continue;
        stroke_row(pen, y, x, x + 1, far > edge[1] && far <= edge[2] ? pen->light : pen->dark);
    }
}

void fc_scratch_border(const fc_picture *copy, fc_area area, int stroke) {
    const struct pen pen = pen_for(copy);
    const int wide = 3 * stroke, r = area.radius;
    const int left = area.x, right = area.x + area.width, top = area.y, bottom = area.y + area.height;
    for (int y = top - wide; y < bottom + wide; y++) {
        const int outside = y < top ? top - 1 - y : y >= bottom ? y - bottom : -1;
        if (outside >= 0) {
            const bool is_light = outside / stroke == 1;
            stroke_row(&pen, y, left + r, right - r, is_light ? pen.light : pen.dark);
        }
        if (y >= top + r && y < bottom - r) {
            cross_line(&pen, y, left - wide, stroke);
            cross_line(&pen, y, right, stroke);
            continue;
        }
        const int cy = 2 * (y < top + r ? top + r : bottom - r);
        stroke_arc(&pen, y, left - wide, left + r, 2 * (left + r), cy, r, stroke);
        stroke_arc(&pen, y, right - r, right + wide, 2 * (right - r), cy, r, stroke);
    }
}
