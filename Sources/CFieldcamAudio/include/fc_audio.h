// Capture with ALSA: 16-bit sound with the time of its first sample on CLOCK_MONOTONIC.
// Errors come back as negative errno. A microphone is used by one thread at a time, which may block as said; nothing here
// touches a mixer. No allocation after opening.
#ifndef FC_AUDIO_H
#define FC_AUDIO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fc_microphone fc_microphone;

/// Where the times come from.
enum fc_microphone_clock {
    /// The kernel's stamp of the card's position, on CLOCK_MONOTONIC.
    FC_MICROPHONE_STAMPED = 0,
    /// The same on CLOCK_MONOTONIC_RAW, carried over.
    FC_MICROPHONE_STAMPED_RAW = 1,
    /// No usable stamp: the time of waking less what waits in the buffer.
    FC_MICROPHONE_WOKEN = 2,
};

struct fc_microphone_format {
    /// Samples a second of each channel.
    int rate;
    int channels;
    /// Samples of each channel between two wake-ups, and in the whole buffer.
    int period;
    int buffer;
};

/// Opens an ALSA PCM and starts capturing at the rate and channels nearest to those asked for. Never waits for a device that
/// is held: -EBUSY. -ENOTSUP: it can't give 16-bit interleaved sound. The caller closes it.
int fc_microphone_open(
    const char *_Nonnull device, int rate, int channels, fc_microphone *_Nullable *_Nonnull microphone,
    struct fc_microphone_format *_Nonnull format);
void fc_microphone_close(fc_microphone *_Nonnull microphone);

/// Waits up to `wait_ms` for sound and takes at most `capacity` samples of each channel, interleaved: how many, 0 if none came.
/// `at_ns` is the time of the first; `after_gap` is 1 if sound was lost before it. Overruns and suspends are mended.
/// -ENODEV: the device went away.
int fc_microphone_read(
    fc_microphone *_Nonnull microphone, int16_t *_Nonnull samples, int capacity, int wait_ms, int64_t *_Nonnull at_ns,
    int *_Nonnull after_gap);
/// Of the last piece that was read.
enum fc_microphone_clock fc_microphone_clock(fc_microphone *_Nonnull microphone);

/// What the library last said on this thread since the last call of `fc_microphone_open`; empty if nothing.
const char *_Nonnull fc_audio_message(void);
/// The names of this machine's capture devices, such as "hw:CARD=Loopback,DEV=0", joined by ", "; empty if there is none.
void fc_audio_devices(char *_Nonnull text, size_t size);
/// The names of the programs that capture now, joined by ", "; empty if there is none.
void fc_audio_holders(char *_Nonnull text, size_t size);
/// 1 if sound cards are there that this user may not open.
int fc_audio_is_denied(void);

#ifdef __cplusplus
}
#endif
#endif
