// What Swift can't import of Linux's own interfaces: variadic calls, function-like macros, extension functions.
// Any thread may call any of these. Errors come back as negative errno; nothing is retried except EINTR.
#ifndef FC_LINUX_H
#define FC_LINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A non-blocking, close-on-exec eventfd with counter 0.
int fc_eventfd(void);
/// Adds 1 to an eventfd's counter; never blocks.
int fc_eventfd_signal(int descriptor);
/// Reads and clears the counter: 0 if there was none.
int64_t fc_eventfd_clear(int descriptor);

/// A non-blocking, close-on-exec timerfd on CLOCK_MONOTONIC, unarmed.
int fc_timerfd(void);
/// Arms for an absolute time in ns (a past one fires at once); 0 or less disarms.
int fc_timerfd_arm(int descriptor, int64_t at_ns);
int64_t fc_timerfd_clear(int descriptor);

/// Blocks SIGTERM, SIGINT (and SIGPIPE, ignored) in the calling thread, to be inherited, and gives a signalfd for the first two.
int fc_signalfd_for_stop(void);
/// The number of a signal that arrived, 0 if none.
int fc_signalfd_read(int descriptor);

int64_t fc_monotonic_ns(void);
int64_t fc_boottime_ns(void);
int64_t fc_realtime_ns(void);
/// CPU time of the whole process in ns.
int64_t fc_process_cpu_ns(void);
/// 1 if the kernel says that the wall clock is synchronised.
int fc_clock_is_synchronised(void);

/// Names the calling thread (15 bytes at most are kept).
void fc_thread_set_name(const char *_Nonnull name);
/// SCHED_FIFO at this priority for the calling thread, not for threads that it makes; -EPERM where that isn't allowed.
int fc_thread_set_realtime(int priority);
/// Nice value of the calling thread only.
int fc_thread_set_nice(int nice);

/// renameat2 with RENAME_NOREPLACE; falls back to link + unlink where the file system lacks it.
int fc_rename_noreplace(const char *_Nonnull from, const char *_Nonnull to);

int fc_open(const char *_Nonnull path, int flags, unsigned mode);
int fc_ioctl_pointer(int descriptor, unsigned long request, void *_Nullable argument);
/// Free bytes for unprivileged users on the file system of the path.
int64_t fc_free_bytes(const char *_Nonnull path);

/// Sends one datagram such as "READY=1" to the service manager's socket; 0 if there is none.
int fc_notify(const char *_Nonnull socket_path, const char *_Nonnull message);

#ifdef __cplusplus
}
#endif
#endif
