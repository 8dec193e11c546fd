#include "fc_sink.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavformat/avformat.h>
#include <libavutil/mem.h>

enum { IO_BUFFER = 65536, PATCHES = 8, PATCH_BYTES = 64 };

// A few bytes to be changed in what is already written.
struct patch {
    int64_t position;
    size_t size;
    uint8_t bytes[PATCH_BYTES];
};

struct fc_sink {
    AVIOContext *io;
    int descriptor;
    size_t limit;
    // The clip's bytes from `base` on; what lies before is in the file.
    uint8_t *bytes;
    size_t capacity;
    size_t used;
    int64_t base;
    // Where the muxer writes next.
    int64_t position;
    struct patch patches[PATCHES];
    int patch_count;
    int error;
};

// The callback's bytes became const with libavformat 61.
#if LIBAVFORMAT_VERSION_MAJOR >= 61
typedef const uint8_t io_byte;
#else
typedef uint8_t io_byte;
#endif

static int fail(fc_sink *sink, int code) {
    if (sink->error == 0) sink->error = code;
    return code;
}

static int gather(void *opaque, io_byte *from, int count) {
    fc_sink *sink = opaque;
    if (sink->error) return sink->error;
    size_t size = (size_t)count;
    if (sink->position < sink->base) {
        if (sink->patch_count == PATCHES || size > PATCH_BYTES || sink->position + count > sink->base)
            return fail(sink, -EIO);
        struct patch *patch = &sink->patches[sink->patch_count++];
        patch->position = sink->position;
        patch->size = size;
        memcpy(patch->bytes, from, size);
        sink->position += count;
        return count;
    }
    size_t place = (size_t)(sink->position - sink->base);
    if (place > sink->used || place + size > sink->limit) return fail(sink, -ENOMEM);
    if (place + size > sink->capacity) {
        size_t wanted = (place + size) * 2;
        uint8_t *grown = realloc(sink->bytes, wanted);
        if (!grown) return fail(sink, -ENOMEM);
        sink->bytes = grown;
        sink->capacity = wanted;
    }
    memcpy(sink->bytes + place, from, size);
    if (place + size > sink->used) sink->used = place + size;
    sink->position += count;
    return count;
}

static int64_t seek(void *opaque, int64_t offset, int whence) {
    fc_sink *sink = opaque;
    int64_t end = sink->base + (int64_t)sink->used;
    int64_t target;
    switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return end;
    case SEEK_SET: target = offset; break;
    case SEEK_CUR: target = sink->position + offset; break;
    case SEEK_END: target = end + offset; break;
    default: return -EINVAL;
    }
    if (target < 0 || target > end) return -EINVAL;
    sink->position = target;
    return target;
}

fc_sink *fc_sink_create(size_t limit) {
    fc_sink *sink = calloc(1, sizeof *sink);
    uint8_t *buffer = av_malloc(IO_BUFFER);
    if (sink && buffer) sink->io = avio_alloc_context(buffer, IO_BUFFER, 1, sink, NULL, gather, seek);
    if (!sink || !sink->io) {
        av_free(buffer);
        free(sink);
        return NULL;
    }
    sink->descriptor = -1;
    sink->limit = limit;
    return sink;
}

void fc_sink_destroy(fc_sink *sink) {
    if (!sink) return;
    av_freep(&sink->io->buffer);
    avio_context_free(&sink->io);
    free(sink->bytes);
    free(sink);
}

AVIOContext *fc_sink_io(fc_sink *sink) {
    return sink->io;
}

void fc_sink_attach(fc_sink *sink, int descriptor) {
    sink->descriptor = descriptor;
}

static int write_at(int descriptor, const uint8_t *bytes, size_t size, int64_t position) {
    while (size > 0) {
        ssize_t written = pwrite(descriptor, bytes, size, position);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -errno;
        if (written == 0) return -EIO;
        bytes += written;
        size -= (size_t)written;
        position += written;
    }
    return 0;
}

int fc_sink_commit(fc_sink *sink) {
    if (sink->error) return sink->error;
    if (sink->descriptor < 0 || (sink->used == 0 && sink->patch_count == 0)) return 0;
    int code = write_at(sink->descriptor, sink->bytes, sink->used, sink->base);
    if (code == 0 && sink->patch_count > 0 && fdatasync(sink->descriptor) < 0) code = -errno;
    for (int i = 0; code == 0 && i < sink->patch_count; i++)
        code = write_at(sink->descriptor, sink->patches[i].bytes, sink->patches[i].size, sink->patches[i].position);
    if (code < 0) {
        // Nothing better can be done if this fails too: a reader finds a cut fragment then, and leaves it out.
        if (ftruncate(sink->descriptor, sink->base) < 0) return fail(sink, code);
        return fail(sink, code);
    }
    sink->base += (int64_t)sink->used;
    sink->used = 0;
    sink->patch_count = 0;
    return 1;
}

int fc_sink_error(const fc_sink *sink) {
    return sink->error;
}

int64_t fc_sink_size(const fc_sink *sink) {
    return sink->base + (int64_t)sink->used;
}
