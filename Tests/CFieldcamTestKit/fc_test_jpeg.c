#include "fc_test_jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

struct failure {
    struct jpeg_error_mgr base;
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

static void fail(j_common_ptr info) {
    struct failure *failure = (struct failure *)info->err;
    info->err->format_message(info, failure->message);
    longjmp(failure->back, 1);
}

// A file that was cut short only warns; for a test it is broken.
static void warn(j_common_ptr info, int level) {
    if (level < 0) fail(info);
}

uint8_t *fc_test_jpeg_luma(const uint8_t *bytes, size_t size, int *width, int *height, char *message) {
    struct jpeg_decompress_struct info;
    struct failure failure;
    uint8_t *volatile luma = NULL;
    memset(&info, 0, sizeof info);
    memset(&failure, 0, sizeof failure);
    info.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = fail;
    failure.base.emit_message = warn;
    if (setjmp(failure.back)) {
        snprintf(message, 200, "%s", failure.message);
        jpeg_destroy_decompress(&info);
        free(luma);
        return NULL;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, size);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&info);
    *width = (int)info.output_width;
    *height = (int)info.output_height;
    luma = malloc((size_t)info.output_width * info.output_height);
    if (!luma) {
        snprintf(message, 200, "no memory");
        jpeg_destroy_decompress(&info);
        return NULL;
    }
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = luma + (size_t)info.output_scanline * info.output_width;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return luma;
}

int16_t *fc_test_jpeg_blocks(const uint8_t *bytes, size_t size, int component, int *across, int *down, uint16_t *table,
                             char *message) {
    struct jpeg_decompress_struct info;
    struct failure failure;
    int16_t *volatile blocks = NULL;
    memset(&info, 0, sizeof info);
    memset(&failure, 0, sizeof failure);
    info.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = fail;
    failure.base.emit_message = warn;
    if (setjmp(failure.back)) {
        snprintf(message, 200, "%s", failure.message);
        jpeg_destroy_decompress(&info);
        free(blocks);
        return NULL;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, size);
    jpeg_read_header(&info, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&info);
    const jpeg_component_info *part = &info.comp_info[component];
    *across = (int)part->width_in_blocks;
    *down = (int)part->height_in_blocks;
    for (int i = 0; i < DCTSIZE2; i++) table[i] = part->quant_table->quantval[i];
    const size_t row = (size_t)*across * DCTSIZE2;
    blocks = malloc(row * (size_t)*down * sizeof(int16_t));
    for (int y = 0; blocks && y < *down; y++) {
        JBLOCKARRAY line = info.mem->access_virt_barray((j_common_ptr)&info, arrays[component], (JDIMENSION)y, 1, FALSE);
        memcpy(blocks + row * (size_t)y, line[0], row * sizeof(int16_t));
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return blocks;
}

void fc_test_jpeg_free_blocks(int16_t *blocks) { free(blocks); }

uint8_t *fc_test_jpeg_plane(const uint8_t *bytes, size_t size, int component, int *width, int *height, char *message) {
    struct jpeg_decompress_struct info;
    struct failure failure;
    uint8_t *volatile plane = NULL, *volatile rows = NULL;
    memset(&info, 0, sizeof info);
    memset(&failure, 0, sizeof failure);
    info.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = fail;
    failure.base.emit_message = warn;
    if (setjmp(failure.back)) {
        snprintf(message, 200, "%s", failure.message);
        jpeg_destroy_decompress(&info);
        free(plane);
        free(rows);
        return NULL;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, bytes, size);
    jpeg_read_header(&info, TRUE);
    info.raw_data_out = TRUE;
    info.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&info);
    const int padded = ((int)info.output_width + 15) / 16 * 16;
    const int scale = component == 0 ? 1 : 2;
    *width = ((int)info.output_width + scale - 1) / scale;
    *height = ((int)info.output_height + scale - 1) / scale;
    plane = malloc((size_t)*width * (size_t)*height);
    rows = malloc((size_t)padded * 32);
    if (!plane || !rows) {
        snprintf(message, 200, "no memory");
        longjmp(failure.back, 1);
    }
    JSAMPROW lines[32];
    for (int i = 0; i < 32; i++) lines[i] = rows + (size_t)padded * (size_t)i;
    JSAMPARRAY arrays[3] = {lines, lines + 16, lines + 24};
    for (int top = 0; info.output_scanline < info.output_height; top += 16 / scale) {
        jpeg_read_raw_data(&info, arrays, 16);
        for (int i = 0; i < 16 / scale && top + i < *height; i++)
            memcpy(plane + (size_t)(top + i) * (size_t)*width, arrays[component][i], (size_t)*width);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    free(rows);
    return plane;
}

void fc_test_jpeg_free(uint8_t *luma) { free(luma); }

size_t fc_test_jpeg_encode(const uint8_t *luma, int width, int height, int quality, uint8_t **bytes) {
    struct jpeg_compress_struct info;
    struct failure failure;
    unsigned char *file = NULL;
    unsigned long size = 0;
    memset(&info, 0, sizeof info);
    memset(&failure, 0, sizeof failure);
    info.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = fail;
    *bytes = NULL;
    if (setjmp(failure.back)) {
        jpeg_destroy_compress(&info);
        return 0;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &file, &size);
    info.image_width = (JDIMENSION)width;
    info.image_height = (JDIMENSION)height;
    info.input_components = 1;
    info.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = (JSAMPROW)(luma + (size_t)info.next_scanline * (size_t)width);
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    *bytes = file;
    return size;
}
