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
