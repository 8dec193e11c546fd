// Reads JPEGs for tests with the system's libjpeg. Any thread; the caller owns what it gets.
#ifndef FC_TEST_JPEG_H
#define FC_TEST_JPEG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Decodes a JPEG's luma: `*width` × `*height` bytes without padding, to be given to `fc_test_jpeg_free`.
/// NULL if it can't be decoded to its end; `message` (200 bytes) then holds libjpeg's words.
uint8_t *_Nullable fc_test_jpeg_luma(const uint8_t *_Nonnull bytes, size_t size, int *_Nonnull width,
                                     int *_Nonnull height, char *_Nonnull message);
void fc_test_jpeg_free(uint8_t *_Nullable luma);

/// A component's (0: Y, 1: U, 2: V) quantised coefficients as they stand in the file: 64 a block, blocks in rows, `*across` by
/// `*down` of them, to be given to `fc_test_jpeg_free_blocks`; `table` gets the component's 64 quantisers. NULL as above.
int16_t *_Nullable fc_test_jpeg_blocks(const uint8_t *_Nonnull bytes, size_t size, int component, int *_Nonnull across,
                                       int *_Nonnull down, uint16_t *_Nonnull table, char *_Nonnull message);
void fc_test_jpeg_free_blocks(int16_t *_Nullable blocks);

/// A plane as it is decoded, without upsampling: component 0 … 2, `*width` × `*height` samples. NULL as above.
uint8_t *_Nullable fc_test_jpeg_plane(const uint8_t *_Nonnull bytes, size_t size, int component, int *_Nonnull width,
                                      int *_Nonnull height, char *_Nonnull message);

/// Encodes packed luma as a grey JPEG of a quality (1 … 100) into `*bytes`, to be given to `fc_test_jpeg_free`; 0 on failure.
size_t fc_test_jpeg_encode(const uint8_t *_Nonnull luma, int width, int height, int quality,
                           uint8_t *_Nullable *_Nonnull bytes);

#ifdef __cplusplus
}
#endif
#endif
