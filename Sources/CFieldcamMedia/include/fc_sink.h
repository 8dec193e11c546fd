// Where a clip's bytes go: into memory until a whole fragment is there, then to the file in one write. Before a file is
// attached everything stays in memory. One thread at a time. Errors come back as negative errno.
#ifndef FC_SINK_H
#define FC_SINK_H

#include <stddef.h>
#include <stdint.h>

#include <libavformat/avio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fc_sink fc_sink;

/// A sink without a file. At most `limit` bytes are gathered; more is -ENOMEM. NULL without memory.
fc_sink *_Nullable fc_sink_create(size_t limit);
/// Frees the sink and its AVIOContext. The file stays open.
void fc_sink_destroy(fc_sink *_Nullable sink);

/// The AVIOContext for a muxer; it stays the sink's.
AVIOContext *_Nonnull fc_sink_io(fc_sink *_Nonnull sink);

/// From now on `fc_sink_commit` writes to this file, from its byte 0 on; nothing is written yet.
void fc_sink_attach(fc_sink *_Nonnull sink, int descriptor);
/// Writes what was gathered in one go; without a file it is kept. If the disk refuses, the file is cut back to what earlier
/// commits wrote, so that it ends with a whole fragment. What the muxer changed in bytes already written (a plain MP4's first
/// box) is written last, after the rest is on the disk: a crash in between leaves the fragments readable.
/// 1: bytes went to the file; 0: nothing to do.
int fc_sink_commit(fc_sink *_Nonnull sink);

/// The first error of any write, 0 if there was none.
int fc_sink_error(const fc_sink *_Nonnull sink);
/// Bytes of the clip so far, gathered and written.
int64_t fc_sink_size(const fc_sink *_Nonnull sink);

#ifdef __cplusplus
}
#endif
#endif
