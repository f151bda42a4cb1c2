/* Makes one call of a process fail, or ends the process there: the n-th of its kind, counted over the calls on chosen
   places. What is to fail is asked for by failing_calls_arm(SPEC) in this process, or by $FAILING_CALLS in every new
   process whose command line, from the program's bare name on, matches the pattern $FAILING_PROGRAM. SPEC is KEY=VALUE;KEY=VALUE...:

   counts=FILE  mapped and shared: COUNTERS numbers of 64 bits, one for each kind, the last says how often it failed
   call=KIND    a name of `kinds`; nth=N counts from 1; 0 only counts
   how=NUMBER   errno; or `before`, `after`: the process ends there; `short`: half is written; `torn`: half, and it ends
   for=once     this call alone; `for=ever`: every later one of the kind too
   under=A|B    how paths begin that count, `pipe:` among them; without it every path counts
   log=FILE     gets a line for each call that failed */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { OPEN, LOOK, WRITE, FSYNC, CLOSE, RENAME, MKDIR, UNLINK, LINK, TRUNCATE, CHMOD, LOCK, FORK, PIPE, POLL, READ,
            WAIT, SIGNALFD, MOUNT, KINDS };
static const char *const kinds[KINDS] = {"open", "look", "write", "fsync", "close", "rename", "mkdir", "unlink", "link",
                                         "truncate", "chmod", "lock", "fork", "pipe", "poll", "read", "wait",
                                         "signalfd", "mount"};
enum { COUNTERS = KINDS + 1, LONGEST = 4096, MOST_PLACES = 8, PROCESS_ENDED = 137 };
enum how { ERROR, BEFORE, AFTER, SHORT, TORN };

static struct {
  _Atomic long *counters;
  pid_t process;  // 0: children count too, until they become another program
  enum kind call;
  long nth;
  enum how how;
  int error;
  int is_lasting;
  char text[LONGEST];
  const char *places[MOST_PLACES];
  int place_count;
  const char *log;
} armed;

#define REAL(result, name, ...)                                                   \
  static result (*real)(__VA_ARGS__);                                             \
  if (real == NULL) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

__attribute__((visibility("default"))) void failing_calls_arm(const char *spec) {
  memset(&armed, 0, sizeof armed);
  strncpy(armed.text, spec, sizeof armed.text - 1);
  char *rest = NULL;
  for (char *word = strtok_r(armed.text, ";", &rest); word != NULL; word = strtok_r(NULL, ";", &rest)) {
    char *value = strchr(word, '=');
    if (value == NULL) continue;
    *value++ = 0;
    if (strcmp(word, "counts") == 0) {
      const int file = (int)syscall(SYS_openat, AT_FDCWD, value, O_RDWR | O_CLOEXEC);
      if (file < 0) continue;
      void *memory = mmap(NULL, COUNTERS * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      syscall(SYS_close, file);
      if (memory != MAP_FAILED) armed.counters = memory;
    } else if (strcmp(word, "call") == 0) {
      for (int kind = 0; kind < KINDS; ++kind)
        if (strcmp(kinds[kind], value) == 0) armed.call = (enum kind)kind;
    } else if (strcmp(word, "nth") == 0) {
      armed.nth = atol(value);
    } else if (strcmp(word, "how") == 0) {
      armed.error = atoi(value);
      armed.how = strcmp(value, "before") == 0  ? BEFORE
                  : strcmp(value, "after") == 0 ? AFTER
                  : strcmp(value, "short") == 0 ? SHORT
                  : strcmp(value, "torn") == 0  ? TORN
                                                : ERROR;
    } else if (strcmp(word, "for") == 0) {
      armed.is_lasting = strcmp(value, "ever") == 0;
    } else if (strcmp(word, "log") == 0) {
      armed.log = value;
    } else if (strcmp(word, "under") == 0) {
      char *more = NULL;
      for (char *place = strtok_r(value, "|", &more); place != NULL && armed.place_count < MOST_PLACES;
           place = strtok_r(NULL, "|", &more))
        armed.places[armed.place_count++] = place;
    }
  }
  armed.process = getpid();
}

__attribute__((constructor)) static void look_at_environment(int count, char **words) {
  const char *spec = getenv("FAILING_CALLS"), *program = getenv("FAILING_PROGRAM");
  if (spec == NULL || program == NULL) return;
  char line[LONGEST] = "";
  size_t length = 0;
  for (int at = 0; at < count && length + strlen(words[at]) + 2 < sizeof line; ++at) {
    const char *name = at == 0 ? strrchr(words[0], '/') : NULL;
    length += (size_t)snprintf(line + length, sizeof line - length, "%s ", name == NULL ? words[at] : name + 1);
  }
  if (fnmatch(program, line, 0) != 0) return;
  failing_calls_arm(spec);
  armed.process = 0;
}

static void end_here(void) {
  if (getpid() != 1) kill(getpid(), SIGKILL);
  syscall(SYS_exit_group, PROCESS_ENDED);  // process 1 of a namespace cannot kill itself
}

static int is_ours(void) { return armed.process == 0 || getpid() == armed.process; }

static int is_watched(const char *path) {
  if (armed.place_count == 0) return 1;
  for (int at = 0; at < armed.place_count; ++at)
    if (strncmp(path, armed.places[at], strlen(armed.places[at])) == 0) return 1;
  return 0;
}

static const char *path_of(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, (size_t)PATH_MAX - 1);
  path[length > 0 ? length : 0] = 0;
  return path;
}

static const char *path_at(int folder, const char *name, char *path) {
  if (name[0] == '/') return name;
  char base[PATH_MAX];
  if (folder == AT_FDCWD) {
    if (syscall(SYS_getcwd, base, sizeof base) < 0) base[0] = 0;
  } else {
    path_of(folder, base);
  }
  snprintf(path, PATH_MAX, "%.2000s/%.2000s", base, name);
  return path;
}

/* Returns whether this call is the one; errno is kept where it is not. */
static int is_hit(enum kind kind, const char *path) {
  if (armed.counters == NULL || !is_ours() || !is_watched(path)) return 0;
  const long number = atomic_fetch_add(&armed.counters[kind], 1) + 1;
  if (armed.nth == 0 || kind != armed.call || number < armed.nth || (number > armed.nth && !armed.is_lasting)) return 0;
  atomic_fetch_add(&armed.counters[KINDS], 1);
  if (armed.log != NULL) {
    const int file = (int)syscall(SYS_openat, AT_FDCWD, armed.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    char line[PATH_MAX + 64];
    const int length = snprintf(line, sizeof line, "%s %ld %.2000s\n", kinds[kind], number, path);
    if (file >= 0) syscall(SYS_write, file, line, (size_t)length);
    if (file >= 0) syscall(SYS_close, file);
  }
  if (armed.how == BEFORE) end_here();
  return 1;
}

/* The body of a call: `fails` is what it returns when it fails, `call` makes it. */
#define INJECTED(type, kind, path, fails, call)          \
  do {                                                   \
    const int kept = errno;                              \
    const int hit = is_hit(kind, path);                  \
    if (hit && armed.how == ERROR) {                     \
      errno = armed.error;                               \
      return fails;                                      \
    }                                                    \
    errno = kept;                                        \
    const type outcome = call;                           \
    if (hit) end_here();                                 \
    return outcome;                                      \
  } while (0)

static int opened(int folder, const char *path, int flags, mode_t mode) {
  REAL(int, "openat64", int, const char *, int, ...);
  char whole[PATH_MAX];
  const int is_for_writing = (flags & (O_ACCMODE | O_CREAT)) != O_RDONLY || (flags & O_DIRECTORY) != 0;
  INJECTED(int, is_for_writing ? OPEN : LOOK, path_at(folder, path, whole), -1, real(folder, path, flags, mode));
}

#define MODE(flags)                                            \
  mode_t mode = 0;                                             \
  if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) {              \
    va_list more;                                              \
    va_start(more, flags);                                     \
    mode = va_arg(more, mode_t);                               \
    va_end(more);                                              \
  }
int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return opened(folder, path, flags, mode); }

ssize_t write(int descriptor, const void *content, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  const int kept = errno;
  char path[PATH_MAX];
  if (armed.counters == NULL || !is_ours()) return real(descriptor, content, size);
  const int hit = is_hit(WRITE, path_of(descriptor, path));
  if (hit && armed.how == ERROR) {
    errno = armed.error;
    return -1;
  }
  errno = kept;
  const ssize_t written = real(descriptor, content, hit && armed.how != AFTER ? (size + 1) / 2 : size);
  if (hit && armed.how != SHORT) end_here();
  return written;
}

ssize_t read(int descriptor, void *content, size_t size) {
  REAL(ssize_t, "read", int, void *, size_t);
  char path[PATH_MAX];
  if (armed.counters == NULL || !is_ours()) return real(descriptor, content, size);
  INJECTED(ssize_t, READ, path_of(descriptor, path), -1, real(descriptor, content, size));
}

int fsync(int descriptor) {
  REAL(int, "fsync", int);
  char path[PATH_MAX];
  INJECTED(int, FSYNC, path_of(descriptor, path), -1, real(descriptor));
}

/* Only of what was open for writing; a close that fails has closed all the same. */
int close(int descriptor) {
  REAL(int, "close", int);
  if (armed.counters == NULL || !is_ours()) return real(descriptor);
  const int kept = errno;
  const int flags = fcntl(descriptor, F_GETFL);
  errno = kept;
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return real(descriptor);
  char path[PATH_MAX];
  const int hit = is_hit(CLOSE, path_of(descriptor, path));
  errno = kept;
  const int outcome = real(descriptor);
  if (hit && armed.how != ERROR) end_here();
  if (hit) errno = armed.error;
  return hit ? -1 : outcome;
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  char whole[PATH_MAX];
  INJECTED(int, RENAME, path_at(AT_FDCWD, to, whole), -1, real(from, to));
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *);
  char whole[PATH_MAX];
  INJECTED(int, RENAME, path_at(to_folder, to, whole), -1, real(from_folder, from, to_folder, to));
}

int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  char whole[PATH_MAX];
  INJECTED(int, MKDIR, path_at(AT_FDCWD, path, whole), -1, real(path, mode));
}

int mkdirat(int folder, const char *path, mode_t mode) {
  REAL(int, "mkdirat", int, const char *, mode_t);
  char whole[PATH_MAX];
  INJECTED(int, MKDIR, path_at(folder, path, whole), -1, real(folder, path, mode));
}

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  char whole[PATH_MAX];
  INJECTED(int, UNLINK, path_at(AT_FDCWD, path, whole), -1, real(path));
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  char whole[PATH_MAX];
  INJECTED(int, UNLINK, path_at(folder, path, whole), -1, real(folder, path, flags));
}

int rmdir(const char *path) {
  REAL(int, "rmdir", const char *);
  char whole[PATH_MAX];
  INJECTED(int, UNLINK, path_at(AT_FDCWD, path, whole), -1, real(path));
}

int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  char whole[PATH_MAX];
  INJECTED(int, LINK, path_at(AT_FDCWD, to, whole), -1, real(from, to));
}

int symlink(const char *target, const char *path) {
  REAL(int, "symlink", const char *, const char *);
  char whole[PATH_MAX];
  INJECTED(int, LINK, path_at(AT_FDCWD, path, whole), -1, real(target, path));
}

int ftruncate64(int descriptor, off64_t size) {
  REAL(int, "ftruncate64", int, off64_t);
  char path[PATH_MAX];
  INJECTED(int, TRUNCATE, path_of(descriptor, path), -1, real(descriptor, size));
}

int chmod(const char *path, mode_t mode) {
  REAL(int, "chmod", const char *, mode_t);
  char whole[PATH_MAX];
  INJECTED(int, CHMOD, path_at(AT_FDCWD, path, whole), -1, real(path, mode));
}

int fchmod(int descriptor, mode_t mode) {
  REAL(int, "fchmod", int, mode_t);
  char path[PATH_MAX];
  INJECTED(int, CHMOD, path_of(descriptor, path), -1, real(descriptor, mode));
}

int flock(int descriptor, int operation) {
  REAL(int, "flock", int, int);
  char path[PATH_MAX];
  INJECTED(int, LOCK, path_of(descriptor, path), -1, real(descriptor, operation));
}

/* From here on no path is asked for: every call counts. */
static int is_hit_anywhere(enum kind kind) {
  const int count = armed.place_count;
  armed.place_count = 0;
  const int hit = is_hit(kind, kinds[kind]);
  armed.place_count = count;
  return hit;
}

#define INJECTED_ANYWHERE(type, kind, fails, call) \
  do {                                             \
    const int kept = errno;                        \
    const int hit = is_hit_anywhere(kind);         \
    const pid_t caller = getpid();                 \
    if (hit && armed.how == ERROR) {               \
      errno = armed.error;                         \
      return fails;                                \
    }                                              \
    errno = kept;                                  \
    const type outcome = call;                     \
    if (hit && getpid() == caller) end_here();  \
    return outcome;                                \
  } while (0)

pid_t fork(void) {
  REAL(pid_t, "fork", void);
  INJECTED_ANYWHERE(pid_t, FORK, -1, real());
}

/* A function cannot return twice; who calls vfork may do nothing in the child that fork would not allow. */
pid_t vfork(void) { return fork(); }

int pipe(int descriptors[2]) {
  REAL(int, "pipe", int *);
  INJECTED_ANYWHERE(int, PIPE, -1, real(descriptors));
}

int pipe2(int descriptors[2], int flags) {
  REAL(int, "pipe2", int *, int);
  INJECTED_ANYWHERE(int, PIPE, -1, real(descriptors, flags));
}

int poll(struct pollfd *watch, nfds_t count, int timeout_ms) {
  REAL(int, "poll", struct pollfd *, nfds_t, int);
  INJECTED_ANYWHERE(int, POLL, -1, real(watch, count, timeout_ms));
}

pid_t waitpid(pid_t process, int *status, int options) {
  REAL(pid_t, "waitpid", pid_t, int *, int);
  INJECTED_ANYWHERE(pid_t, WAIT, -1, real(process, status, options));
}

int waitid(idtype_t type, id_t number, siginfo_t *about, int options) {
  REAL(int, "waitid", idtype_t, id_t, siginfo_t *, int);
  INJECTED_ANYWHERE(int, WAIT, -1, real(type, number, about, options));
}

int signalfd(int descriptor, const sigset_t *signals, int flags) {
  REAL(int, "signalfd", int, const sigset_t *, int);
  INJECTED_ANYWHERE(int, SIGNALFD, -1, real(descriptor, signals, flags));
}

int mount(const char *what, const char *where, const char *type, unsigned long flags, const void *data) {
  REAL(int, "mount", const char *, const char *, const char *, unsigned long, const void *);
  INJECTED_ANYWHERE(int, MOUNT, -1, real(what, where, type, flags, data));
}
