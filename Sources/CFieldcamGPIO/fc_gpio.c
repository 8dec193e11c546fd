#include "fc_gpio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gpiod.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>

// Only libgpiod 1 has line bulks; libgpiod 2 carries no version macro at all.
#ifdef GPIOD_LINE_BULK_MAX_LINES
#define FC_GPIOD_1 1
#else
#define FC_GPIOD_1 0
#endif

// Room in the kernel for edges that nobody has read yet (libgpiod 2 only; its default is 16, as libgpiod 1's fixed size).
#define FC_KERNEL_EDGES 256

static int failure(void) { return errno > 0 ? -errno : -EIO; }

static void chip_path(int number, char *path, size_t size) { snprintf(path, size, "/dev/gpiochip%d", number); }

static void copy_name(char *to, const char *from) { snprintf(to, FC_GPIO_NAME_SIZE, "%s", from ? from : ""); }

int fc_gpio_chip_numbers(int *numbers, int capacity) {
    DIR *folder = opendir("/dev");
    if (!folder) return failure();
    int count = 0;
    for (struct dirent *entry; count < capacity && (entry = readdir(folder));) {
        int number, end = 0;
        if (sscanf(entry->d_name, "gpiochip%d%n", &number, &end) != 1 || entry->d_name[end]) continue;
        char path[32];
        chip_path(number, path, sizeof path);
        struct stat facts;
        // Links (a Pi 5 has gpiochip4 -> gpiochip0) name a device that is there under its own name as well.
        if (number < 0 || lstat(path, &facts) || !S_ISCHR(facts.st_mode)) continue;
        int place = count++;
        for (; place > 0 && numbers[place - 1] > number; place--) numbers[place] = numbers[place - 1];
        numbers[place] = number;
    }
    closedir(folder);
    return count;
}

int fc_gpio_watch_new(void) {
    int watch = epoll_create1(EPOLL_CLOEXEC);
    return watch < 0 ? failure() : watch;
}

int fc_gpio_watch_add(int watch, fc_gpio_line *line, uint32_t number) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    return epoll_ctl(watch, EPOLL_CTL_ADD, fc_gpio_line_descriptor(line), &event) ? failure() : 0;
}

int fc_gpio_watch_ready(int watch, struct fc_gpio_ready *ready, int capacity) {
    struct epoll_event events[16];
    int count = epoll_wait(watch, events, capacity < 16 ? capacity : 16, 0);
    for (int i = 0; i < count; i++)
        ready[i] = (struct fc_gpio_ready){events[i].data.u32, (events[i].events & (EPOLLERR | EPOLLHUP)) != 0};
    return count < 0 ? failure() : count;
}

// Everything below this line differs between the two generations of the library.

struct fc_gpio_chip {
    struct gpiod_chip *chip;
#if !FC_GPIOD_1
    struct gpiod_chip_info *info;
#endif
};

struct fc_gpio_line {
    int descriptor;
#if FC_GPIOD_1
    struct gpiod_chip *chip;
    struct gpiod_line *line;
#else
    unsigned int offset;
    struct gpiod_line_request *request;
    struct gpiod_edge_event_buffer *buffer;
#endif
};

static int set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return failure();
    return 0;
}

int fc_gpio_chip_open(int number, fc_gpio_chip **result) {
    *result = NULL;
    char path[32];
    chip_path(number, path, sizeof path);
    fc_gpio_chip *chip = calloc(1, sizeof *chip);
    if (!chip) return -ENOMEM;
    errno = 0;
    chip->chip = gpiod_chip_open(path);
    if (!chip->chip) {
        int error = failure();
        free(chip);
        return error;
    }
#if !FC_GPIOD_1
    chip->info = gpiod_chip_get_info(chip->chip);
    if (!chip->info) {
        int error = failure();
        gpiod_chip_close(chip->chip);
        free(chip);
        return error;
    }
#endif
    *result = chip;
    return 0;
}

void fc_gpio_chip_close(fc_gpio_chip *chip) {
#if !FC_GPIOD_1
    gpiod_chip_info_free(chip->info);
#endif
    gpiod_chip_close(chip->chip);
    free(chip);
}

void fc_gpio_line_close(fc_gpio_line *line) {
#if FC_GPIOD_1
    if (line->line) gpiod_line_release(line->line);
    if (line->chip) gpiod_chip_close(line->chip);
#else
    if (line->buffer) gpiod_edge_event_buffer_free(line->buffer);
    if (line->request) gpiod_line_request_release(line->request);
#endif
    free(line);
}

int fc_gpio_line_descriptor(fc_gpio_line *line) { return line->descriptor; }

#if FC_GPIOD_1

const char *fc_gpio_chip_label(fc_gpio_chip *chip) { return gpiod_chip_label(chip->chip); }

int fc_gpio_chip_line_count(fc_gpio_chip *chip) { return (int)gpiod_chip_num_lines(chip->chip); }

int fc_gpio_chip_line_facts(fc_gpio_chip *chip, int offset, struct fc_gpio_line_facts *facts) {
    errno = 0;
    struct gpiod_line *line = gpiod_chip_get_line(chip->chip, (unsigned)offset);
    if (!line) return failure();
    copy_name(facts->name, gpiod_line_name(line));
    copy_name(facts->consumer, gpiod_line_consumer(line));
    facts->used = gpiod_line_is_used(line);
    return 0;
}

static int open_line(int chip_number, int offset, const struct gpiod_line_request_config *config, fc_gpio_line **result) {
    *result = NULL;
    char path[32];
    chip_path(chip_number, path, sizeof path);
    fc_gpio_line *line = calloc(1, sizeof *line);
    if (!line) return -ENOMEM;
    int error = 0;
    errno = 0;
    struct gpiod_line *found = NULL;
    line->chip = gpiod_chip_open(path);
    if (line->chip) found = gpiod_chip_get_line(line->chip, (unsigned)offset);
    if (!found || gpiod_line_request(found, config, 0)) {
        error = failure();
    } else {
        line->line = found;
        line->descriptor = -1;
        if (config->request_type == GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES) {
            line->descriptor = gpiod_line_event_get_fd(found);
            error = line->descriptor < 0 ? failure() : set_nonblocking(line->descriptor);
        }
    }
    if (error) {
        fc_gpio_line_close(line);
        return error;
    }
    *result = line;
    return 0;
}

int fc_gpio_line_open_input(
    int chip_number, int offset, int active_low, enum fc_gpio_bias bias, const char *consumer, fc_gpio_line **line) {
    int flags = active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0;
    switch (bias) {
    case FC_GPIO_BIAS_DISABLED: flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE; break;
    case FC_GPIO_BIAS_PULL_UP: flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP; break;
    case FC_GPIO_BIAS_PULL_DOWN: flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN; break;
    case FC_GPIO_BIAS_AS_IS: break;
    }
    struct gpiod_line_request_config config = {
        .consumer = consumer, .request_type = GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES, .flags = flags};
    return open_line(chip_number, offset, &config, line);
}

int fc_gpio_line_open_output(
    int chip_number, int offset, int active_low, const char *consumer, fc_gpio_line **line) {
    struct gpiod_line_request_config config = {
        .consumer = consumer,
        .request_type = GPIOD_LINE_REQUEST_DIRECTION_OUTPUT,
        .flags = active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0};
    return open_line(chip_number, offset, &config, line);
}

int fc_gpio_line_level(fc_gpio_line *line) {
    errno = 0;
    int value = gpiod_line_get_value(line->line);
    return value < 0 ? failure() : value;
}

int fc_gpio_line_set(fc_gpio_line *line, int on) {
    errno = 0;
    return gpiod_line_set_value(line->line, on != 0) < 0 ? failure() : 0;
}

static int64_t nanoseconds(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

int fc_gpio_line_edges(fc_gpio_line *line, struct fc_gpio_edge *edges, int capacity) {
    struct gpiod_line_event events[16];
    if (capacity > 16) capacity = 16;
    errno = 0;
    int count = gpiod_line_event_read_fd_multiple(line->descriptor, events, (unsigned)capacity);
    if (count < 0) return errno == EAGAIN ? 0 : failure();
    struct timespec monotonic, wall;
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    clock_gettime(CLOCK_REALTIME, &wall);
    for (int i = 0; i < count; i++) {
        int64_t at = nanoseconds(events[i].ts);
        // Kernels before 5.7 stamp with the wall clock: such a time lies in the monotonic clock's future.
        if (at > nanoseconds(monotonic)) at -= nanoseconds(wall) - nanoseconds(monotonic);
        edges[i] = (struct fc_gpio_edge){.at_ns = at, .rising = events[i].event_type == GPIOD_LINE_EVENT_RISING_EDGE};
    }
    return count;
}

int fc_gpio_numbers_edges(void) { return 0; }

const char *fc_gpio_library_version(void) { return gpiod_version_string(); }

#else

const char *fc_gpio_chip_label(fc_gpio_chip *chip) { return gpiod_chip_info_get_label(chip->info); }

int fc_gpio_chip_line_count(fc_gpio_chip *chip) { return (int)gpiod_chip_info_get_num_lines(chip->info); }

int fc_gpio_chip_line_facts(fc_gpio_chip *chip, int offset, struct fc_gpio_line_facts *facts) {
    errno = 0;
    struct gpiod_line_info *info = gpiod_chip_get_line_info(chip->chip, (unsigned)offset);
    if (!info) return failure();
    copy_name(facts->name, gpiod_line_info_get_name(info));
    copy_name(facts->consumer, gpiod_line_info_get_consumer(info));
    facts->used = gpiod_line_info_is_used(info);
    gpiod_line_info_free(info);
    return 0;
}

// Takes the settings over and frees them.
static int open_line(
    int chip_number, int offset, struct gpiod_line_settings *settings, int edges, const char *consumer,
    fc_gpio_line **result) {
    *result = NULL;
    char path[32];
    chip_path(chip_number, path, sizeof path);
    unsigned int offsets[] = {(unsigned)offset};
    int error = 0;
    struct gpiod_chip *chip = NULL;
    fc_gpio_line *line = calloc(1, sizeof *line);
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *config = gpiod_request_config_new();
    if (!line || !lines || !config || !settings) {
        error = -ENOMEM;
        goto done;
    }
    line->offset = offsets[0];
    line->descriptor = -1;
    gpiod_request_config_set_consumer(config, consumer);
    if (edges) gpiod_request_config_set_event_buffer_size(config, FC_KERNEL_EDGES);
    errno = 0;
    if (gpiod_line_config_add_line_settings(lines, offsets, 1, settings) || !(chip = gpiod_chip_open(path)) ||
        !(line->request = gpiod_chip_request_lines(chip, config, lines))) {
        error = failure();
        goto done;
    }
    if (edges) {
        line->buffer = gpiod_edge_event_buffer_new(FC_GPIO_EDGES);
        line->descriptor = gpiod_line_request_get_fd(line->request);
        error = line->buffer ? set_nonblocking(line->descriptor) : -ENOMEM;
    }
done:
    if (chip) gpiod_chip_close(chip);
    if (config) gpiod_request_config_free(config);
    if (lines) gpiod_line_config_free(lines);
    if (settings) gpiod_line_settings_free(settings);
    if (!error)
        *result = line;
    else if (line)
        fc_gpio_line_close(line);
    return error;
}

int fc_gpio_line_open_input(
    int chip_number, int offset, int active_low, enum fc_gpio_bias bias, const char *consumer, fc_gpio_line **line) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (settings) {
        gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
        gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
        gpiod_line_settings_set_active_low(settings, active_low != 0);
        gpiod_line_settings_set_event_clock(settings, GPIOD_LINE_CLOCK_MONOTONIC);
        switch (bias) {
        case FC_GPIO_BIAS_AS_IS: break;
        case FC_GPIO_BIAS_DISABLED: gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_DISABLED); break;
        case FC_GPIO_BIAS_PULL_UP: gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_PULL_UP); break;
        case FC_GPIO_BIAS_PULL_DOWN: gpiod_line_settings_set_bias(settings, GPIOD_LINE_BIAS_PULL_DOWN); break;
        }
    }
    return open_line(chip_number, offset, settings, 1, consumer, line);
}

int fc_gpio_line_open_output(
    int chip_number, int offset, int active_low, const char *consumer, fc_gpio_line **line) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (settings) {
        gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
        gpiod_line_settings_set_active_low(settings, active_low != 0);
        gpiod_line_settings_set_output_value(settings, GPIOD_LINE_VALUE_INACTIVE);
    }
    return open_line(chip_number, offset, settings, 0, consumer, line);
}

int fc_gpio_line_level(fc_gpio_line *line) {
    errno = 0;
    enum gpiod_line_value value = gpiod_line_request_get_value(line->request, line->offset);
    return value == GPIOD_LINE_VALUE_ERROR ? failure() : value == GPIOD_LINE_VALUE_ACTIVE;
}

int fc_gpio_line_set(fc_gpio_line *line, int on) {
    errno = 0;
    enum gpiod_line_value value = on ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE;
    return gpiod_line_request_set_value(line->request, line->offset, value) < 0 ? failure() : 0;
}

int fc_gpio_line_edges(fc_gpio_line *line, struct fc_gpio_edge *edges, int capacity) {
    if (capacity > FC_GPIO_EDGES) capacity = FC_GPIO_EDGES;
    errno = 0;
    int count = gpiod_line_request_read_edge_events(line->request, line->buffer, (size_t)capacity);
    if (count < 0) return errno == EAGAIN ? 0 : failure();
    for (int i = 0; i < count; i++) {
        struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(line->buffer, (unsigned long)i);
        edges[i] = (struct fc_gpio_edge){
            .at_ns = (int64_t)gpiod_edge_event_get_timestamp_ns(event),
            .number = (uint32_t)gpiod_edge_event_get_line_seqno(event),
            .rising = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE};
    }
    return count;
}

int fc_gpio_numbers_edges(void) { return 1; }

const char *fc_gpio_library_version(void) { return gpiod_api_version(); }

#endif
