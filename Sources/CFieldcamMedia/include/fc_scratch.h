// One writable copy of a picture that is only read: lines, rounded corners and a blur are put into it. Its memory grows to the
// largest picture it held and is reused. A scratch belongs to one thread at a time. Errors come back as negative errno.
#ifndef FC_SCRATCH_H
#define FC_SCRATCH_H

#include "fc_jpeg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fc_scratch fc_scratch;

/// A rectangle in a picture's pixels; it may lie partly or wholly outside. `radius` rounds its corners.
typedef struct fc_area {
    int x, y, width, height;
    int radius;
} fc_area;

/// A scratch without memory yet; NULL without memory.
fc_scratch *_Nullable fc_scratch_create(void);
void fc_scratch_destroy(fc_scratch *_Nullable scratch);

/// Copies all of a picture; rows lie end to end. The copy's planes are the scratch's own, valid until its next copy.
/// -EINVAL: no picture; -ENOMEM.
int fc_scratch_copy(fc_scratch *_Nonnull scratch, const fc_picture *_Nonnull picture, fc_picture *_Nonnull copy);

/// Copies the first plane only (luma, or packed RGB), row for row at its own stride; the others stay the picture's.
int fc_scratch_copy_first(fc_scratch *_Nonnull scratch, const fc_picture *_Nonnull picture, fc_picture *_Nonnull copy);

// What follows writes into a copy's planes.

/// Blurs the copy but for an area. The whole is averaged to about 64 rows, smoothed and spread again. -ENOMEM.
int fc_scratch_blur(fc_scratch *_Nonnull scratch, const fc_picture *_Nonnull copy, fc_area sharp);

/// Makes everything outside of an area white.
void fc_scratch_mask(const fc_picture *_Nonnull copy, fc_area area);

// Lines of three strokes, dark, light, dark: in luma, or in red, green and blue.

/// Two lines each way that part the area into nine.
void fc_scratch_thirds(const fc_picture *_Nonnull copy, fc_area area, int stroke);

/// Around an area, wholly outside of it.
void fc_scratch_border(const fc_picture *_Nonnull copy, fc_area area, int stroke);

#ifdef __cplusplus
}
#endif
#endif
