#include "fc_ffmpeg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/bsf.h>
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>

// FFmpeg 6.1 moved side data from the stream to its codec parameters.
#define HAS_CODED_SIDE_DATA (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102))

int64_t fc_av_nopts(void) {
    return AV_NOPTS_VALUE;
}

int fc_av_again(void) {
    return AVERROR(EAGAIN);
}

int fc_av_end(void) {
    return AVERROR_EOF;
}

int fc_av_errno(int code) {
    if (code == AVERROR_INVALIDDATA || code == AVERROR_OPTION_NOT_FOUND) return -EINVAL;
    if (code == AVERROR_ENCODER_NOT_FOUND || code == AVERROR_DECODER_NOT_FOUND || code == AVERROR_MUXER_NOT_FOUND ||
        code == AVERROR_STREAM_NOT_FOUND)
        return -ENOENT;
    // FFmpeg's own codes are four letters; an errno is small.
    return code < 0 && code > -4096 ? code : -EIO;
}

// MARK: Log

static _Thread_local char message[256];

static void keep(void *object, int level, const char *format, va_list arguments) {
    if (level > AV_LOG_WARNING) return;
    int prefix = 0;
    char line[sizeof message];
    av_log_format_line(object, level, format, arguments, line, sizeof line, &prefix);
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == ' ')) line[--length] = 0;
    if (length > 0) memcpy(message, line, length + 1);
}

void fc_av_quiet(void) {
    av_log_set_callback(keep);
}

const char *fc_av_message(void) {
    return message;
}

void fc_av_forget(void) {
    message[0] = 0;
}

// MARK: Frames

static void free_nothing(void *opaque, uint8_t *data) {
    (void)opaque;
    (void)data;
}

AVBufferRef *fc_av_borrowed_buffer(void) {
    static uint8_t nothing[1];
    return av_buffer_create(nothing, sizeof nothing, free_nothing, NULL, AV_BUFFER_FLAG_READONLY);
}

// MARK: Streams

int fc_av_set_matrix(AVStream *stream, const int32_t *matrix) {
    const size_t size = 9 * sizeof *matrix;
#if HAS_CODED_SIDE_DATA
    AVCodecParameters *parameters = stream->codecpar;
    AVPacketSideData *data = av_packet_side_data_new(&parameters->coded_side_data, &parameters->nb_coded_side_data,
                                                     AV_PKT_DATA_DISPLAYMATRIX, size, 0);
    if (!data) return -ENOMEM;
    memcpy(data->data, matrix, size);
#else
    uint8_t *data = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size);
    if (!data) return -ENOMEM;
    memcpy(data, matrix, size);
#endif
    return 0;
}

int fc_av_matrix(const AVStream *stream, int32_t *matrix) {
    const size_t size = 9 * sizeof *matrix;
#if HAS_CODED_SIDE_DATA
    const AVCodecParameters *parameters = stream->codecpar;
    const AVPacketSideData *data = av_packet_side_data_get(
        parameters->coded_side_data, parameters->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    if (!data || data->size < size) return -ENOENT;
    memcpy(matrix, data->data, size);
#else
    size_t found = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &found);
    if (!data || found < size) return -ENOENT;
    memcpy(matrix, data, size);
#endif
    return 0;
}

int fc_av_take_extradata(AVCodecParameters *parameters, const AVPacket *packet) {
    const AVBitStreamFilter *filter = av_bsf_get_by_name("extract_extradata");
    if (!filter) return -ENOENT;
    AVBSFContext *context = NULL;
    AVPacket *copy = NULL;
    int code = av_bsf_alloc(filter, &context);
    if (code >= 0) code = avcodec_parameters_copy(context->par_in, parameters);
    if (code >= 0) code = av_bsf_init(context);
    if (code >= 0) {
        copy = av_packet_clone(packet);
        code = copy ? av_bsf_send_packet(context, copy) : -ENOMEM;
    }
    if (code >= 0) code = av_bsf_receive_packet(context, copy);
    if (code >= 0) {
        size_t size = 0;
        const uint8_t *data = av_packet_get_side_data(copy, AV_PKT_DATA_NEW_EXTRADATA, &size);
        uint8_t *extradata = data ? av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE) : NULL;
        if (extradata) {
            memcpy(extradata, data, size);
            av_freep(&parameters->extradata);
            parameters->extradata = extradata;
            parameters->extradata_size = (int)size;
        } else {
            code = data ? -ENOMEM : -ENOENT;
        }
    }
    av_packet_free(&copy);
    av_bsf_free(&context);
    return code < 0 ? fc_av_errno(code) : 0;
}

// MARK: Sound

int fc_swr_resample(struct SwrContext *resampler, float *first, float *second, int capacity, const int16_t *samples,
                    int count) {
    uint8_t *planes[2] = {(uint8_t *)first, (uint8_t *)second};
    const uint8_t *source[1] = {(const uint8_t *)samples};
    return swr_convert(resampler, planes, capacity, source, count);
}

// MARK: Pictures

void fc_sws_convert(struct SwsContext *scaler, const uint8_t *first, int stride, int top, int rows, AVFrame *frame) {
    const uint8_t *const source[4] = {first, NULL, NULL, NULL};
    const int strides[4] = {stride, 0, 0, 0};
    if (rows > 0) sws_scale(scaler, source, strides, top, rows, frame->data, frame->linesize);
}

void fc_sws_scale(struct SwsContext *scaler, const fc_planes *source, int top, int rows, const fc_planes *into) {
    const uint8_t *const from[4] = {source->plane[0], source->plane[1], source->plane[2], NULL};
    const int from_strides[4] = {source->stride[0], source->stride[1], source->stride[2], 0};
    uint8_t *const to[4] = {into->plane[0], into->plane[1], into->plane[2], NULL};
    const int to_strides[4] = {into->stride[0], into->stride[1], into->stride[2], 0};
    if (rows > 0) sws_scale(scaler, from, from_strides, top, rows, to, to_strides);
}
