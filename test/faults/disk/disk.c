/*
 * A disk that remembers and fails. Loaded into the service with LD_PRELOAD, it stands between the process and the C
 * library and does one of two things to the files of one folder:
 *
 *   DISK_FOLDER  the folder, as realpath(3) would write it; required
 *   DISK_RECORD  appends to this file every write, sync and change of a name, in the order in which they happen, and among
 *                them the first bytes of every HTTP response: the moment at which a client may know
 *   DISK_FAULT   "EIO 17 once", "ENOSPC 17 forever": the 17th write, sync or truncation of the database or its log fails;
 *                "KILL 17 once": the process is killed just before its 17th call of any kind on any file of the folder
 *                "COUNT 0 once": nothing fails, and each call that could is reported
 *   DISK_REPORT  appends a line to this file for each failure, and at the end how many calls were counted
 *
 * Calls on the WAL index (-shm) do not count: it is memory that processes share, and is rebuilt when a database is opened.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, COUNT, FAIL, KILL };

static char folder[PATH_MAX];
static size_t folder_length;
static int record_fd = -1;
static int fault = NOTHING, fault_errno, fault_forever;
static long fault_at, calls;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

/* What is reported or recorded goes straight to the kernel, past our own write(). */
static void put(int fd, const void *bytes, size_t length) {
  const char *rest = bytes;
  while (length > 0) {
    ssize_t done = syscall(SYS_write, fd, rest, length);
    if (done <= 0) abort();
    rest += done;
    length -= (size_t)done;
  }
}

static void report(const char *line) {
  const char *path = getenv("DISK_REPORT");
  if (!path) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  put(fd, line, strlen(line));
  syscall(SYS_close, fd);
}

__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("DISK_FOLDER");
  if (!wanted || strlen(wanted) >= sizeof folder) return;
  strcpy(folder, wanted);
  folder_length = strlen(folder);
  const char *log = getenv("DISK_RECORD");
  if (log) record_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char *plan = getenv("DISK_FAULT");
  char what[16], how[16];
  if (plan && sscanf(plan, "%15s %ld %15s", what, &fault_at, how) == 3) {
    fault = strcmp(what, "KILL") == 0 ? KILL : strcmp(what, "COUNT") == 0 ? COUNT : FAIL;
    fault_errno = strcmp(what, "ENOSPC") == 0 ? ENOSPC : EIO;
    fault_forever = strcmp(how, "forever") == 0;
  }
}

__attribute__((destructor)) static void end(void) {
  char line[64];
  if (fault == NOTHING) return;
  snprintf(line, sizeof line, "calls %ld\n", calls);
  report(line);
}

/* ---- which files are meant ---- */

static int is_inside(const char *path) {
  return folder_length > 0 && strncmp(path, folder, folder_length) == 0 && path[folder_length] == '/';
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The path of an open file of the folder, or of the folder itself; 0 for every other. */
static int path_of(int fd, char *path) {
  char link[64];
  if (!folder_length) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strcmp(path, folder) == 0 || (is_inside(path) && !ends_with(path, "-shm"));
}

/* ---- failing ---- */

/* Counts a call, and returns whether it must fail. `changes` is whether it writes, syncs or truncates. */
static int fails(const char *call, const char *path, int changes) {
  if (fault == NOTHING || !folder_length) return 0;
  if (fault != KILL && !(changes && (ends_with(path, ".db") || ends_with(path, ".db-wal")))) return 0;
  long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (fault != COUNT && !(number == fault_at || (fault_forever && number > fault_at))) return 0;
  char line[PATH_MAX + 64];
  snprintf(line, sizeof line, "%ld %s %s\n", number, call, path + folder_length);
  report(line);
  if (fault == KILL) kill(getpid(), SIGKILL);
  if (fault != FAIL) return 0;
  errno = fault_errno;
  return 1;
}

/* ---- recording ---- */

struct record {
  uint64_t inode;
  uint64_t offset;
  uint32_t length;
  char kind;
  char unused[3];
};

/* The caller holds `order`, so that what is recorded stands in the order in which it was done. */
static void remember(char kind, uint64_t inode, uint64_t offset, const void *bytes, size_t length) {
  struct record head = {.inode = inode, .offset = offset, .length = (uint32_t)length, .kind = kind};
  put(record_fd, &head, sizeof head);
  if (length > 0) put(record_fd, bytes, length);
}

static uint64_t inode_of(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

/* Two names, of which the second may be missing, with a zero byte behind each. */
static void remember_names(char kind, uint64_t inode, const char *from, const char *to) {
  char names[2 * PATH_MAX];
  size_t first = strlen(from) + 1, second = to ? strlen(to) + 1 : 0;
  memcpy(names, from, first);
  if (to) memcpy(names + first, to, second);
  remember(kind, inode, 0, names, first + second);
}

/* Output that a client or the parent process reads: from here on the response may be known. */
static void remember_answer(int fd, const void *bytes, size_t length) {
  if (record_fd < 0 || !(fd == STDOUT_FILENO || (length > 9 && memcmp(bytes, "HTTP/1.1 ", 9) == 0))) return;
  pthread_mutex_lock(&order);
  remember('A', 0, 0, bytes, length < 1024 ? length : 1024);
  pthread_mutex_unlock(&order);
}

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* ---- the calls ---- */

static ssize_t written(const char *call, int fd, const void *bytes, size_t length, off64_t offset,
                       ssize_t (*really)(int, const void *, size_t, off64_t)) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return really(fd, bytes, length, offset);
  if (fails(call, path, 1)) return -1;
  if (record_fd < 0) return really(fd, bytes, length, offset);
  pthread_mutex_lock(&order);
  off64_t place = offset >= 0 ? offset : lseek64(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
  ssize_t done = really(fd, bytes, length, offset);
  if (done > 0) remember('W', inode_of(fd), (uint64_t)place, bytes, (size_t)done);
  pthread_mutex_unlock(&order);
  return done;
}

static ssize_t really_pwrite(int fd, const void *bytes, size_t length, off64_t offset) {
  REAL(pwrite64);
  return real(fd, bytes, length, offset);
}

static ssize_t really_write(int fd, const void *bytes, size_t length, off64_t offset) {
  (void)offset;
  REAL(write);
  return real(fd, bytes, length);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  return written("pwrite", fd, bytes, length, offset, really_pwrite);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return written("pwrite", fd, bytes, length, offset, really_pwrite);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  remember_answer(fd, bytes, length);
  return written("write", fd, bytes, length, -1, really_write);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  if (count > 0) remember_answer(fd, parts[0].iov_base, parts[0].iov_len);
  return real(fd, parts, count);
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t offset) {
  char path[PATH_MAX];
  REAL(pread64);
  if (fault == KILL && path_of(fd, path)) fails("pread", path, 0);
  return real(fd, bytes, length, offset);
}

static int synced(int fd, int (*really)(int)) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return really(fd);
  int is_folder = strcmp(path, folder) == 0;
  if (fails("fsync", path, !is_folder)) return -1;
  if (record_fd < 0) return really(fd);
  pthread_mutex_lock(&order);
  int failed = really(fd);
  if (!failed) remember(is_folder ? 'D' : 'S', inode_of(fd), 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return failed;
}

static int really_fsync(int fd) {
  REAL(fsync);
  return real(fd);
}

static int really_fdatasync(int fd) {
  REAL(fdatasync);
  return real(fd);
}

int fsync(int fd) { return synced(fd, really_fsync); }

int fdatasync(int fd) { return synced(fd, really_fdatasync); }

static int truncated(int fd, off64_t length) {
  static int (*real)(int, off64_t);
  if (!real) real = (int (*)(int, off64_t))dlsym(RTLD_NEXT, "ftruncate64");
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd, length);
  if (fails("ftruncate", path, 1)) return -1;
  if (record_fd < 0) return real(fd, length);
  pthread_mutex_lock(&order);
  int failed = real(fd, length);
  if (!failed) remember('T', inode_of(fd), (uint64_t)length, NULL, 0);
  pthread_mutex_unlock(&order);
  return failed;
}

int ftruncate64(int fd, off64_t length) { return truncated(fd, length); }

int ftruncate(int fd, off_t length) { return truncated(fd, length); }

static int opened(const char *path, int flags, mode_t mode) {
  static int (*real)(const char *, int, ...);
  if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  if (!is_inside(path) || ends_with(path, "-shm")) return real(path, flags, mode);
  fails("open", path, 0);
  if (record_fd < 0 || !(flags & O_CREAT)) return real(path, flags, mode);
  pthread_mutex_lock(&order);
  int is_new = access(path, F_OK) != 0;
  int fd = real(path, flags, mode);
  if (fd >= 0 && is_new) remember_names('C', inode_of(fd), path, NULL);
  pthread_mutex_unlock(&order);
  return fd;
}

static mode_t mode_of(int flags, va_list more) { return flags & O_CREAT ? va_arg(more, mode_t) : 0; }

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = mode_of(flags, more);
  va_end(more);
  return opened(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = mode_of(flags, more);
  va_end(more);
  return opened(path, flags, mode);
}

/* Changes of names: `kind` is R for a rename, L for a link and U for an unlink. */
static int renamed(const char *call, char kind, const char *from, const char *to, int (*really)(const char *, const char *)) {
  const char *inside = to ? to : from;
  if (!is_inside(inside) || ends_with(inside, "-shm")) return really(from, to);
  fails(call, inside, 0);
  if (record_fd < 0) return really(from, to);
  pthread_mutex_lock(&order);
  int failed = really(from, to);
  if (!failed) remember_names(kind, 0, from, to);
  pthread_mutex_unlock(&order);
  return failed;
}

static int really_rename(const char *from, const char *to) {
  REAL(rename);
  return real(from, to);
}

static int really_link(const char *from, const char *to) {
  REAL(link);
  return real(from, to);
}

static int really_unlink(const char *path, const char *unused) {
  (void)unused;
  REAL(unlink);
  return real(path);
}

int rename(const char *from, const char *to) { return renamed("rename", 'R', from, to, really_rename); }

int link(const char *from, const char *to) { return renamed("link", 'L', from, to, really_link); }

int unlink(const char *path) { return renamed("unlink", 'U', path, NULL, really_unlink); }

static int really_remove(const char *path, const char *unused) {
  (void)unused;
  REAL(remove);
  return real(path);
}

/* Node 24 removes files by this call of the C library, which does not call unlink through the linker. */
int remove(const char *path) { return renamed("unlink", 'U', path, NULL, really_remove); }
