// GPIO chips and single lines on top of libgpiod, 1.4 … 2.x from one source.
// Errors come back as negative errno. No function keeps a pointer that it was given. A chip or a line belongs to who opened
// it and is used by one thread at a time; different ones may be used from different threads.
#ifndef FC_GPIO_H
#define FC_GPIO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Names in the kernel's interface are 32 bytes with their end.
#define FC_GPIO_NAME_SIZE 32

typedef struct fc_gpio_chip fc_gpio_chip;
typedef struct fc_gpio_line fc_gpio_line;

/// The paths of the character devices /dev/gpiochip*, a device with several names once (under its own name, not a link's).
/// Fills `numbers` with the N of each path "/dev/gpiochipN" in rising order; at most `capacity`. The count found.
int fc_gpio_chip_numbers(int *_Nonnull numbers, int capacity);

/// Opens /dev/gpiochipN; the caller closes it.
int fc_gpio_chip_open(int number, fc_gpio_chip *_Nullable *_Nonnull chip);
void fc_gpio_chip_close(fc_gpio_chip *_Nonnull chip);
/// The label, such as "pinctrl-rp1"; valid until the chip is closed.
const char *_Nonnull fc_gpio_chip_label(fc_gpio_chip *_Nonnull chip);
int fc_gpio_chip_line_count(fc_gpio_chip *_Nonnull chip);

struct fc_gpio_line_facts {
    /// Empty: the line has no name.
    char name[FC_GPIO_NAME_SIZE];
    /// Who holds it; may be empty even if `used`.
    char consumer[FC_GPIO_NAME_SIZE];
    /// Held by a program or by the kernel.
    int used;
};
int fc_gpio_chip_line_facts(fc_gpio_chip *_Nonnull chip, int offset, struct fc_gpio_line_facts *_Nonnull facts);

enum fc_gpio_bias {
    FC_GPIO_BIAS_AS_IS = 0,
    FC_GPIO_BIAS_DISABLED = 1,
    FC_GPIO_BIAS_PULL_UP = 2,
    FC_GPIO_BIAS_PULL_DOWN = 3,
};

/// Holds a line of /dev/gpiochipN as input with both edges. -EBUSY: somebody holds it. The caller closes it.
int fc_gpio_line_open_input(
    int chip_number, int offset, int active_low, enum fc_gpio_bias bias, const char *_Nonnull consumer,
    fc_gpio_line *_Nullable *_Nonnull line);
/// Holds a line of /dev/gpiochipN as output, off from the first moment (active low honoured).
int fc_gpio_line_open_output(
    int chip_number, int offset, int active_low, const char *_Nonnull consumer,
    fc_gpio_line *_Nullable *_Nonnull line);
/// Gives the line back as it is; an output is set off before by the caller.
void fc_gpio_line_close(fc_gpio_line *_Nonnull line);

/// Readable when edges wait. The line's own, closed with it.
int fc_gpio_line_descriptor(fc_gpio_line *_Nonnull line);
/// The logical level, 0 or 1.
int fc_gpio_line_level(fc_gpio_line *_Nonnull line);
/// An output's logical level.
int fc_gpio_line_set(fc_gpio_line *_Nonnull line, int on);

struct fc_gpio_edge {
    /// CLOCK_MONOTONIC.
    int64_t at_ns;
    /// Counts the line's edges from 1; 0 where the kernel's interface doesn't number them (libgpiod 1).
    uint32_t number;
    /// 1: became active, 0: became inactive (active low honoured).
    int32_t rising;
};
/// The largest useful `capacity` of one call.
#define FC_GPIO_EDGES 64
/// Takes waiting edges, oldest first, never waiting: how many, 0 if none. -ENODEV: the chip is gone.
int fc_gpio_line_edges(fc_gpio_line *_Nonnull line, struct fc_gpio_edge *_Nonnull edges, int capacity);
/// 1 if edges carry numbers.
int fc_gpio_numbers_edges(void);

/// A descriptor that is readable while one of its lines has edges or lost its chip; the caller closes it.
int fc_gpio_watch_new(void);
/// Adds a line under a number of the caller's; closing the line takes it out.
int fc_gpio_watch_add(int watch, fc_gpio_line *_Nonnull line, uint32_t number);
struct fc_gpio_ready {
    uint32_t number;
    /// 1: the kernel says that the line's chip is gone.
    int32_t gone;
};
/// Which lines are ready now, never waiting: how many (at most 16 a call; the watch stays readable for the rest).
int fc_gpio_watch_ready(int watch, struct fc_gpio_ready *_Nonnull ready, int capacity);

/// The library's own version.
const char *_Nonnull fc_gpio_library_version(void);

#ifdef __cplusplus
}
#endif
#endif
