// FFmpeg's macros, and what differs between 5.1 and 7.1, as functions. Any thread may call these on objects it owns.
#ifndef FC_FFMPEG_H
#define FC_FFMPEG_H

#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

#ifdef __cplusplus
extern "C" {
#endif

/// AV_NOPTS_VALUE.
int64_t fc_av_nopts(void);
/// AVERROR(EAGAIN): output must be taken, or input given, first.
int fc_av_again(void);
/// AVERROR_EOF.
int fc_av_end(void);
/// A negative errno for an AVERROR: itself where it is one, else -EIO, -EINVAL or -ENOENT by its meaning.
int fc_av_errno(int code);

/// Keeps FFmpeg's and its encoders' messages from stderr; the last error or warning of each thread is kept for `fc_av_message`.
void fc_av_quiet(void);
/// What FFmpeg last complained about on this thread; empty after `fc_av_forget`. Valid until the next complaint.
const char *_Nonnull fc_av_message(void);
void fc_av_forget(void);

/// A buffer reference that owns nothing: it lets a frame point at memory of ours without being copied. The caller frees it with
/// `av_buffer_unref` after every frame and encoder that may have taken a reference.
AVBufferRef *_Nullable fc_av_borrowed_buffer(void);

/// Makes the matrix (9 numbers, ISO 14496-12) the stream's display matrix. 0, or a negative errno.
int fc_av_set_matrix(AVStream *_Nonnull stream, const int32_t *_Nonnull matrix);
/// The stream's display matrix into 9 numbers; 0, or -ENOENT where it has none.
int fc_av_matrix(const AVStream *_Nonnull stream, int32_t *_Nonnull matrix);

/// Takes H.264's parameter sets out of an Annex B packet into `parameters->extradata`, for encoders that send them with the
/// first picture only. 0, or a negative errno; -ENOENT: the packet holds none.
int fc_av_take_extradata(AVCodecParameters *_Nonnull parameters, const AVPacket *_Nonnull packet);

/// Resamples interleaved 16-bit sound into one plane of floats a channel (two at most); gives the samples made of each channel, or
/// an AVERROR. (The type of swr_convert's input differs from one FFmpeg to the next.)
int fc_swr_resample(struct SwrContext *_Nonnull resampler, float *_Nonnull first, float *_Nonnull second, int capacity,
                    const int16_t *_Nonnull samples, int count);

/// Converts `rows` rows of packed RGB from `top` on, which lie at `first`, into the frame of the same size. Rows are given from top
/// to bottom, in even numbers.
void fc_sws_convert(struct SwsContext *_Nonnull scaler, const uint8_t *_Nonnull first, int stride, int top, int rows,
                    AVFrame *_Nonnull frame);

/// Where the rows of a picture's planes begin, and the bytes from one row to the next; unused planes have stride 0.
typedef struct fc_planes {
    uint8_t *_Nullable plane[3];
    int stride[3];
} fc_planes;

/// Scales `rows` rows from `top` on, whose first lies at `source`, into the picture at `into`, of the scaler's sizes and formats.
/// Rows are given from top to bottom, in even numbers. `source` is only read; both stay the caller's.
void fc_sws_scale(struct SwsContext *_Nonnull scaler, const fc_planes *_Nonnull source, int top, int rows,
                  const fc_planes *_Nonnull into);

#ifdef __cplusplus
}
#endif
#endif
