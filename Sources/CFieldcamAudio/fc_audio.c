#include "fc_audio.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A wake-up each 20 ms costs little; 400 ms of room outlast any stall that a clip survives.
#define FC_PERIOD_US 20000
#define FC_BUFFER_US 400000

struct fc_microphone {
    snd_pcm_t *pcm;
    int rate;
    snd_pcm_uframes_t buffer;
    snd_pcm_tstamp_type_t stamps;
    enum fc_microphone_clock clock;
    int gap;
};

static __thread char message[256];

// The library's own handler would write to stderr.
static void keep_message(const char *file, int line, const char *function, int error, const char *format, va_list list) {
    (void)file, (void)line, (void)function, (void)error;
    vsnprintf(message, sizeof message, format, list);
}

const char *fc_audio_message(void) { return message; }

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int set_hardware(fc_microphone *microphone, int rate, int channels, struct fc_microphone_format *format) {
    snd_pcm_t *pcm = microphone->pcm;
    snd_pcm_hw_params_t *params;
    snd_pcm_hw_params_alloca(&params);
    unsigned int near_rate = (unsigned)rate, near_channels = (unsigned)channels;
    unsigned int period = FC_PERIOD_US, buffer = FC_BUFFER_US;
    snd_pcm_uframes_t period_size = 0, buffer_size = 0;
    int error = snd_pcm_hw_params_any(pcm, params);
    if (error < 0) return error;
    if (snd_pcm_hw_params_set_access(pcm, params, SND_PCM_ACCESS_RW_INTERLEAVED) < 0 ||
        snd_pcm_hw_params_set_format(pcm, params, SND_PCM_FORMAT_S16) < 0)
        return -ENOTSUP;
    if ((error = snd_pcm_hw_params_set_channels_near(pcm, params, &near_channels)) < 0 ||
        (error = snd_pcm_hw_params_set_rate_near(pcm, params, &near_rate, NULL)) < 0)
        return error;
    // Wishes: a device that others share keeps its own sizes.
    snd_pcm_hw_params_set_buffer_time_near(pcm, params, &buffer, NULL);
    snd_pcm_hw_params_set_period_time_near(pcm, params, &period, NULL);
    if ((error = snd_pcm_hw_params(pcm, params)) < 0 ||
        (error = snd_pcm_hw_params_get_period_size(params, &period_size, NULL)) < 0 ||
        (error = snd_pcm_hw_params_get_buffer_size(params, &buffer_size)) < 0)
        return error;
    if (near_channels > 2) return -ENOTSUP;
    *format = (struct fc_microphone_format){(int)near_rate, (int)near_channels, (int)period_size, (int)buffer_size};
    microphone->rate = (int)near_rate;
    microphone->buffer = buffer_size;
    return 0;
}

static int set_software(fc_microphone *microphone, int period) {
    snd_pcm_t *pcm = microphone->pcm;
    snd_pcm_sw_params_t *params;
    snd_pcm_sw_params_alloca(&params);
    int error = snd_pcm_sw_params_current(pcm, params);
    if (error < 0) return error;
    if ((error = snd_pcm_sw_params_set_avail_min(pcm, params, (snd_pcm_uframes_t)period)) < 0) return error;
    // Without these two the stamps are zero, or the wall clock's; what came of them is looked at below and at each stamp.
    snd_pcm_sw_params_set_tstamp_mode(pcm, params, SND_PCM_TSTAMP_ENABLE);
    snd_pcm_sw_params_set_tstamp_type(pcm, params, SND_PCM_TSTAMP_TYPE_MONOTONIC);
    if ((error = snd_pcm_sw_params(pcm, params)) < 0) return error;
    if (snd_pcm_sw_params_get_tstamp_type(params, &microphone->stamps) < 0)
        microphone->stamps = SND_PCM_TSTAMP_TYPE_GETTIMEOFDAY;
    return 0;
}

int fc_microphone_open(
    const char *device, int rate, int channels, fc_microphone **result, struct fc_microphone_format *format) {
    *result = NULL;
    message[0] = 0;
    snd_lib_error_set_local(keep_message);
    fc_microphone *microphone = calloc(1, sizeof *microphone);
    if (!microphone) return -ENOMEM;
    // Non-blocking also means: a device that is held is refused at once, not waited for.
    int error = snd_pcm_open(&microphone->pcm, device, SND_PCM_STREAM_CAPTURE, SND_PCM_NONBLOCK);
    if (error < 0) microphone->pcm = NULL;
    if (error >= 0) {
        error = set_hardware(microphone, rate, channels, format);
        if (error == -EINVAL) error = -ENOTSUP;
    }
    if (error >= 0) error = set_software(microphone, format->period);
    if (error >= 0) error = snd_pcm_start(microphone->pcm);
    if (error < 0) {
        fc_microphone_close(microphone);
        // The library reads its configuration once, with the cards that are there then; the next try shall see new ones.
        snd_config_update_free_global();
        return error;
    }
    *result = microphone;
    return 0;
}

void fc_microphone_close(fc_microphone *microphone) {
    if (microphone->pcm) snd_pcm_close(microphone->pcm);
    free(microphone);
}

enum fc_microphone_clock fc_microphone_clock(fc_microphone *microphone) { return microphone->clock; }

static int restart(fc_microphone *microphone) {
    microphone->gap = 1;
    int error = snd_pcm_prepare(microphone->pcm);
    return error < 0 ? error : snd_pcm_start(microphone->pcm);
}

// Mends what can be mended: 0, or the error if it can't.
static int recover(fc_microphone *microphone, int error) {
    if (error == -EPIPE) return restart(microphone);
    if (error == -ESTRPIPE) {
        error = snd_pcm_resume(microphone->pcm);
        microphone->gap = 1;
        if (error == -EAGAIN) {
            poll(NULL, 0, 20);
            return 0;
        }
        return error < 0 ? restart(microphone) : 0;
    }
    if (error == -EIO) {
        // Neither overrun nor suspended, yet not running: another user of a shared device stopped it.
        switch (snd_pcm_state(microphone->pcm)) {
        case SND_PCM_STATE_SETUP:
        case SND_PCM_STATE_PREPARED: return restart(microphone);
        case SND_PCM_STATE_DISCONNECTED: return -ENODEV;
        default: return error;
        }
    }
    return error;
}

// Samples that wait, and the time of the first of them; 0 if none wait.
static int64_t stamp(fc_microphone *microphone, int64_t *at) {
    snd_pcm_uframes_t available = 0;
    snd_htimestamp_t time = {0, 0};
    int error = snd_pcm_htimestamp(microphone->pcm, &available, &time);
    if (error < 0 && error != -ENOSYS) return error;
    int64_t taken = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    int64_t now = read_clock(CLOCK_MONOTONIC);
    microphone->clock = FC_MICROPHONE_STAMPED;
    if (microphone->stamps == SND_PCM_TSTAMP_TYPE_MONOTONIC_RAW) {
        microphone->clock = FC_MICROPHONE_STAMPED_RAW;
        taken += now - read_clock(CLOCK_MONOTONIC_RAW);
    }
    int64_t oldest = now - (int64_t)microphone->buffer * 1000000000 / microphone->rate;
    // A plug-in may stamp nothing, or with another clock: such a time lies far from now.
    if (error < 0 || taken > now + 1000000 || taken < oldest) {
        snd_pcm_sframes_t waiting = 0, delay = 0;
        error = snd_pcm_avail_delay(microphone->pcm, &waiting, &delay);
        if (error < 0) return error;
        microphone->clock = FC_MICROPHONE_WOKEN;
        taken = read_clock(CLOCK_MONOTONIC);
        available = (snd_pcm_uframes_t)waiting;
    }
    *at = taken - (int64_t)available * 1000000000 / microphone->rate;
    return (int64_t)available;
}

int fc_microphone_read(
    fc_microphone *microphone, int16_t *samples, int capacity, int wait_ms, int64_t *at_ns, int *after_gap) {
    *after_gap = 0;
    int64_t end = read_clock(CLOCK_MONOTONIC) + (int64_t)wait_ms * 1000000;
    for (;;) {
        int64_t left = end - read_clock(CLOCK_MONOTONIC);
        int64_t count = snd_pcm_wait(microphone->pcm, left > 0 ? (int)(left / 1000000) : 0);
        if (count == 0) return 0;
        if (count > 0) count = stamp(microphone, at_ns);
        if (count > 0) {
            // No more than was stamped: what came since has no time yet.
            if (count > capacity) count = capacity;
            count = snd_pcm_readi(microphone->pcm, samples, (snd_pcm_uframes_t)count);
        }
        if (count > 0) {
            *after_gap = microphone->gap;
            microphone->gap = 0;
            return (int)count;
        }
        if (count < 0 && count != -EAGAIN && count != -EINTR) {
            int error = recover(microphone, (int)count);
            if (error < 0) return error;
        }
        if (left <= 0) return 0;
    }
}

static void append(char *text, size_t size, const char *word) {
    size_t used = strlen(text);
    if (used < size) snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

void fc_audio_devices(char *text, size_t size) {
    text[0] = 0;
    for (int card = -1; snd_card_next(&card) >= 0 && card >= 0;) {
        char name[96];
        snd_ctl_t *control;
        snprintf(name, sizeof name, "hw:%d", card);
        if (snd_ctl_open(&control, name, SND_CTL_NONBLOCK) < 0) continue;
        snd_ctl_card_info_t *facts;
        snd_ctl_card_info_alloca(&facts);
        snd_pcm_info_t *pcm;
        snd_pcm_info_alloca(&pcm);
        if (snd_ctl_card_info(control, facts) >= 0) {
            for (int device = -1; snd_ctl_pcm_next_device(control, &device) >= 0 && device >= 0;) {
                snd_pcm_info_set_device(pcm, (unsigned)device);
                snd_pcm_info_set_subdevice(pcm, 0);
                snd_pcm_info_set_stream(pcm, SND_PCM_STREAM_CAPTURE);
                if (snd_ctl_pcm_info(control, pcm) < 0) continue;
                snprintf(name, sizeof name, "hw:CARD=%s,DEV=%d", snd_ctl_card_info_get_id(facts), device);
                append(text, size, name);
            }
        }
        snd_ctl_close(control);
    }
}

void fc_audio_holders(char *text, size_t size) {
    text[0] = 0;
    glob_t found;
    if (glob("/proc/asound/card*/pcm*c/sub*/status", 0, NULL, &found)) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "re");
        if (!file) continue;
        char line[96];
        int pid = 0;
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "owner_pid : %d", &pid) == 1) break;
        fclose(file);
        if (pid <= 0) continue;
        snprintf(line, sizeof line, "/proc/%d/comm", pid);
        file = fopen(line, "re");
        if (!file) continue;
        if (fgets(line, sizeof line, file)) {
            line[strcspn(line, "\n")] = 0;
            char word[128];
            snprintf(word, sizeof word, "'%s' (pid %d)", line, pid);
            append(text, size, word);
        }
        fclose(file);
    }
    globfree(&found);
}

int fc_audio_is_denied(void) {
    glob_t found;
    if (glob("/dev/snd/controlC*", 0, NULL, &found)) return 0;
    int denied = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (faccessat(AT_FDCWD, found.gl_pathv[i], R_OK | W_OK, AT_EACCESS) && errno == EACCES) denied = 1;
    globfree(&found);
    return denied;
}
