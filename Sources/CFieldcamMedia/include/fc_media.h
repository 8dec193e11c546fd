// What Swift can't import of the media libraries: libjpeg's error jumps, FFmpeg's macros and callbacks.
// Each file of ours has its own header; this one names them all.
#ifndef FC_MEDIA_H
#define FC_MEDIA_H

#include "fc_ffmpeg.h"
#include "fc_jpeg.h"
#include "fc_scratch.h"
#include "fc_sink.h"

#endif
