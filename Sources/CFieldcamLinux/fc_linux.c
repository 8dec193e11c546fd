#define _GNU_SOURCE
#include "fc_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int result(int value) { return value < 0 ? -errno : value; }

int fc_eventfd(void) { return result(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

int fc_eventfd_signal(int descriptor)
{
	uint64_t one = 1;
	ssize_t n;
	do n = write(descriptor, &one, sizeof one);
	while (n < 0 && errno == EINTR);
	return n < 0 && errno != EAGAIN ? -errno : 0;
}

static int64_t read_counter(int descriptor)
{
	uint64_t count = 0;
	ssize_t n;
	do n = read(descriptor, &count, sizeof count);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return (int64_t)count;
}

int64_t fc_eventfd_clear(int descriptor) { return read_counter(descriptor); }

int fc_timerfd(void) { return result(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)); }

int fc_timerfd_arm(int descriptor, int64_t at_ns)
{
	struct itimerspec spec;
	memset(&spec, 0, sizeof spec);
	if (at_ns > 0) {
		spec.it_value.tv_sec = at_ns / 1000000000;
		spec.it_value.tv_nsec = at_ns % 1000000000;
	}
	return result(timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &spec, NULL));
}

int64_t fc_timerfd_clear(int descriptor) { return read_counter(descriptor); }

int fc_signalfd_for_stop(void)
{
	sigset_t set;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (error)
		return -error;
	return result(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

int fc_signalfd_read(int descriptor)
{
	struct signalfd_siginfo info;
	ssize_t n = read(descriptor, &info, sizeof info);
	return n == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t fc_monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
int64_t fc_boottime_ns(void) { return clock_ns(CLOCK_BOOTTIME); }
int64_t fc_realtime_ns(void) { return clock_ns(CLOCK_REALTIME); }
int64_t fc_process_cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

int fc_clock_is_synchronised(void)
{
	struct timex t;
	memset(&t, 0, sizeof t);
	int state = adjtimex(&t);
	return state >= 0 && state != TIME_ERROR && !(t.status & STA_UNSYNC);
}

void fc_thread_set_name(const char *name)
{
	char kept[16];
	snprintf(kept, sizeof kept, "%s", name);
	pthread_setname_np(pthread_self(), kept);
}

int fc_thread_set_realtime(int priority)
{
	struct sched_param parameter = {.sched_priority = priority};
	// Threads made by this one start as ordinary ones: an encoder at this priority would starve the machine.
	return result(sched_setscheduler((pid_t)syscall(SYS_gettid), SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter));
}

int fc_thread_set_nice(int nice)
{
	return result(setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice));
}

int fc_rename_noreplace(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(from, to) != 0)
		return -errno;
	unlink(from);
	return 0;
}

int fc_open(const char *path, int flags, unsigned mode) { return result(open(path, flags | O_CLOEXEC, mode)); }

int fc_ioctl_pointer(int descriptor, unsigned long request, void *argument)
{
	int value;
	do value = ioctl(descriptor, request, argument);
	while (value < 0 && errno == EINTR);
	return result(value);
}

int64_t fc_free_bytes(const char *path)
{
	struct statvfs state;
	if (statvfs(path, &state) != 0)
		return -errno;
	return (int64_t)state.f_bavail * (int64_t)state.f_frsize;
}

int fc_notify(const char *socket_path, const char *message)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(socket_path);
	if (length == 0 || length >= sizeof address.sun_path)
		return -EINVAL;
	memcpy(address.sun_path, socket_path, length);
	if (address.sun_path[0] == '@')
		address.sun_path[0] = 0;
	int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (descriptor < 0)
		return -errno;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	int error = sendto(descriptor, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&address, size) < 0 ? -errno : 0;
	close(descriptor);
	return error;
}
