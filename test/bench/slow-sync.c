/*
 * Simulates a disk with slow syncs. Loaded into a server with LD_PRELOAD, it lengthens each fsync and fdatasync of the
 * data folder and its files. The calling thread sleeps meanwhile, because waiting for a disk takes no CPU time.
 *
 *   KEYFRONT_DATA  the data folder, which must exist
 *   SLOW_SYNC      a file of eight bytes: the additional microseconds; it is mapped, so a write takes effect at once
 *
 * The library of test/faults/disk queries the kernel at every write, which would slow down frequent writers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static char folder[PATH_MAX];
static const uint64_t *more_us;

/* Without the configured delay, the figures would be wrong and plausible. */
static void give_up(const char *why) {
  fprintf(stderr, "slow-sync: %s: %s\n", why, strerror(errno));
  _exit(1);
}

__attribute__((constructor)) static void begin(void) {
  const char *data = getenv("KEYFRONT_DATA"), *control = getenv("SLOW_SYNC");
  if (!data || !realpath(data, folder)) give_up("KEYFRONT_DATA");
  int fd = control ? open(control, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) give_up("SLOW_SYNC");
  void *mapped = mmap(NULL, sizeof *more_us, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) give_up("SLOW_SYNC");
  close(fd);
  more_us = mapped;
}

static int is_inside(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  size_t start = strlen(folder);
  return strncmp(path, folder, start) == 0 && (path[start] == '/' || path[start] == 0);
}

static int slowly(int fd, int (*really)(int)) {
  int failed = really(fd);
  uint64_t us = __atomic_load_n(more_us, __ATOMIC_RELAXED);
  if (failed || us == 0 || !is_inside(fd)) return failed;
  struct timespec rest = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
  /* Otherwise, the kernel wakes the thread up to 50 microseconds late. Other timers of the server keep their slack. */
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) continue;
  prctl(PR_SET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  return failed;
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return slowly(fd, real);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return slowly(fd, real);
}
