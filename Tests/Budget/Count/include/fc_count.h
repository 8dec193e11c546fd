// Counts heap allocations of the whole process while switched on: this target takes malloc's place in the program that
// links it. Any thread may call.
#ifndef FC_COUNT_H
#define FC_COUNT_H

#include <stdint.h>

/// From zero.
void fc_count_start(void);
void fc_count_stop(void);
/// All allocations (malloc, calloc, realloc, aligned ones) between start and stop.
int64_t fc_count_all(void);
/// Those that were asked for from inside the program itself (its code and the Swift runtime, linked into
/// it or not), not from another library.
int64_t fc_count_own(void);
/// Return address of the first of the latter, 0 if none: for `addr2line -e PROGRAM`, relative to the program's start.
uint64_t fc_count_first_own(void);

#endif
