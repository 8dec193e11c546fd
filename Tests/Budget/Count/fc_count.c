#define _GNU_SOURCE
#include "fc_count.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

// glibc's own allocator under its second names; free stays as it is.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

extern char __executable_start, etext;

static atomic_int counting;
static atomic_llong all, own;
static atomic_ullong first_own;

// Code of Swift's runtime where it isn't linked into the program; found once, before main.
enum { RANGES = 8 };
static struct { const char *start, *end; } runtime[RANGES];
static int runtime_count;

static int note_runtime(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	if (!strstr(info->dlpi_name, "libswift"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && runtime_count < RANGES; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		runtime[runtime_count].start = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		runtime[runtime_count].end = runtime[runtime_count].start + info->dlpi_phdr[i].p_memsz;
		runtime_count++;
	}
	return 0;
}

__attribute__((constructor)) static void find_runtime(void) { dl_iterate_phdr(note_runtime, NULL); }

static int is_own(const char *caller)
{
	if (caller >= &__executable_start && caller < &etext)
		return 1;
	for (int i = 0; i < runtime_count; i++)
		if (caller >= runtime[i].start && caller < runtime[i].end)
			return 1;
	return 0;
}

static void count(const void *caller)
{
	if (!atomic_load_explicit(&counting, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&all, 1, memory_order_relaxed);
	if (!is_own((const char *)caller))
		return;
	atomic_fetch_add_explicit(&own, 1, memory_order_relaxed);
	unsigned long long none = 0;
	atomic_compare_exchange_strong(&first_own, &none, (unsigned long long)((const char *)caller - &__executable_start));
}

void *malloc(size_t size) { count(__builtin_return_address(0)); return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { count(__builtin_return_address(0)); return __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { count(__builtin_return_address(0)); return __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { count(__builtin_return_address(0)); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(__builtin_return_address(0)); return __libc_memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size)
{
	count(__builtin_return_address(0));
	void *memory = __libc_memalign(alignment, size);
	if (!memory)
		return ENOMEM;
	*result = memory;
	return 0;
}

void fc_count_start(void)
{
	atomic_store(&all, 0);
	atomic_store(&own, 0);
	atomic_store(&first_own, 0);
	atomic_store(&counting, 1);
}

void fc_count_stop(void) { atomic_store(&counting, 0); }
int64_t fc_count_all(void) { return atomic_load(&all); }
int64_t fc_count_own(void) { return atomic_load(&own); }
uint64_t fc_count_first_own(void) { return atomic_load(&first_own); }
