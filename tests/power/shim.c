/* Preloaded into a server: writes down, in order, what the process does to the files below one directory, and ends the process when it
 * is told to, as a power loss would: between two operations, without any farewell.
 *
 *     STOA_POWER_ROOT      the directory
 *     STOA_POWER_JOURNAL   the file that takes the operations; not below the directory
 *     STOA_POWER_CONTROL   a file of 32 bytes, mapped: u64 operations so far | u64 the one to end at, 0: none | u64 microseconds that a
 *                          sync takes at most | u64 not 0: something was done that is not understood
 *
 * The kernel hands the calls to a handler here (seccomp, SECCOMP_RET_TRAP), whichever library they come from and however they are made;
 * the handler makes the call itself, from the one place from which the kernel lets it pass. One lock is held over a call and its line
 * in the journal, so that the journal is an order in which the calls could have happened. A sync is two lines, its begin and its end,
 * and brings nothing to any disk: what it promises is kept by whoever reads the journal (model.py).
 *
 * A record: u8 kind | u8 0 | u16 length of name a | u16 length of name b | u16 0 | u64 file or directory | u64 second | u64 offset | u64
 * length of data; then the names, then the data. Linux on x86_64.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

/* The one instruction from which calls pass. */
long shim_call(long number, long a, long b, long c, long d, long e, long f);
extern const char shim_call_end[];
__asm__(".text\n.globl shim_call\n.type shim_call,@function\nshim_call:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\nsyscall\n"
        ".globl shim_call_end\nshim_call_end:\nret\n");
#define CALL(number, a, b, c, d, e, f) shim_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum { KNOWN_FILE = 1, KNOWN_DIRECTORY, CREATE, MAKE_DIRECTORY, LINK, UNLINK, RENAME, EXCHANGE, WRITE, RESIZE, SYNC_BEGIN, SYNC_END, SYNC_ALL };

struct record {
    uint8_t kind, zero;
    uint16_t a, b, zero2;
    uint64_t file, second, offset, length;
};

static struct control {
    volatile uint64_t operations, end_at, sync_us, strange;
} *control;

static int journal = -1;
static dev_t device;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The inodes below the directory: open addressing, never shrinks; 1 stands for one that left. */
static struct known { uint64_t inode; int directory; } *known;
static size_t slots = 1 << 12, used;

static struct known *slot_of(uint64_t inode) {
    size_t at = (inode * 0x9E3779B97F4A7C15ull) & (slots - 1);
    while (known[at].inode && known[at].inode != inode) at = (at + 1) & (slots - 1);
    return &known[at];
}

static void *memory(size_t bytes) {
    return (void *)CALL(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void remember(uint64_t inode, int directory) {
    if (2 * used > slots) {
        struct known *old = known;
        size_t of = slots;
        slots *= 2;
        known = memory(slots * sizeof *known);
        for (size_t i = 0; i < of; i++)
            if (old[i].inode) *slot_of(old[i].inode) = old[i];
        CALL(SYS_munmap, old, of * sizeof *known, 0, 0, 0, 0);
    }
    struct known *slot = slot_of(inode);
    if (!slot->inode) used++;
    slot->inode = inode;
    slot->directory = directory;
}

static int is_known(uint64_t inode) { return slot_of(inode)->inode == inode && slot_of(inode)->directory >= 0; }

static void forget(uint64_t inode) {
    if (is_known(inode)) slot_of(inode)->directory = -1;
}

static void put(const void *bytes, size_t length) {
    while (length) {
        long n = CALL(SYS_write, journal, bytes, length, 0, 0, 0);
        if (n <= 0) {
            control->strange = 2;
            CALL(SYS_exit_group, 99, 0, 0, 0, 0, 0);
        }
        bytes = (const char *)bytes + n;
        length -= n;
    }
}

/* Before it happens: the process may end here. */
static void count_operation(void) {
    control->operations++;
    if (control->end_at && control->operations >= control->end_at) CALL(SYS_exit_group, 77, 0, 0, 0, 0, 0);
}

static void tell(int kind, uint64_t file, const char *a, uint64_t second, const char *b, uint64_t offset, const void *data, uint64_t length) {
    struct record r = {.kind = kind, .a = a ? strlen(a) : 0, .b = b ? strlen(b) : 0, .file = file, .second = second, .offset = offset,
                       .length = data ? length : 0};
    char head[sizeof r + 600];
    memcpy(head, &r, sizeof r);
    memcpy(head + sizeof r, a ? a : "", r.a);
    memcpy(head + sizeof r + r.a, b ? b : "", r.b);
    put(head, sizeof r + r.a + r.b);
    if (data) put(data, length);
}

static int stat_of(int fd, struct stat *s) { return CALL(SYS_fstat, fd, s, 0, 0, 0, 0) == 0; }

/* Whether a descriptor is of a file that is watched and has a name. */
static int watched(int fd, struct stat *s) {
    return stat_of(fd, s) && s->st_dev == device && (S_ISREG(s->st_mode) || S_ISDIR(s->st_mode)) && is_known(s->st_ino);
}

/* The directory of a path, and the name in it. */
struct place { uint64_t directory; char name[256]; };

static int place_of(int at, const char *path, struct place *out) {
    char parent[4096];
    size_t length = strnlen(path, sizeof parent);
    if (length == 0 || length >= sizeof parent) return 0;
    while (length > 1 && path[length - 1] == '/') length--;
    size_t slash = length;
    while (slash > 0 && path[slash - 1] != '/') slash--;
    if (length - slash >= sizeof out->name) return 0;
    memcpy(out->name, path + slash, length - slash);
    out->name[length - slash] = 0;
    memcpy(parent, path, slash);
    parent[slash] = 0;
    if (slash == 0) strcpy(parent, ".");
    long fd = CALL(SYS_openat, at, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
    if (fd < 0) return 0;
    struct stat s;
    int inside = stat_of(fd, &s) && s.st_dev == device && is_known(s.st_ino);
    CALL(SYS_close, fd, 0, 0, 0, 0, 0);
    out->directory = s.st_ino;
    return inside;
}

static int stat_path(int at, const char *path, struct stat *s) { return CALL(SYS_newfstatat, at, path, s, AT_SYMLINK_NOFOLLOW, 0, 0) == 0; }

static long do_open(long number, long *a, int at, const char *path, int flags, int mode) {
    struct place place;
    struct stat before, after;
    if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE) return CALL(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    int inside = place_of(at, path, &place);
    int there = stat_path(at, path, &before);
    if (inside) count_operation();
    long fd = CALL(SYS_openat, at, path, flags, mode, 0, 0);
    if (fd < 0 || !stat_of(fd, &after) || after.st_dev != device || !S_ISREG(after.st_mode)) return fd;
    if (!inside) {
        if (!there) forget(after.st_ino);
        return fd;
    }
    if (!there) {
        remember(after.st_ino, 0);
        tell(CREATE, place.directory, place.name, after.st_ino, 0, 0, 0, 0);
    } else if ((flags & O_TRUNC) && before.st_size > 0) {
        tell(RESIZE, after.st_ino, 0, 0, 0, 0, 0, 0);
    }
    return fd;
}

static long do_written(int fd, struct stat *s, const struct iovec *parts, int count, long offset, long written) {
    if (written <= 0) return written;
    if (offset < 0) offset = CALL(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0) - written;
    struct record r = {.kind = WRITE, .file = s->st_ino, .offset = offset, .length = written};
    put(&r, sizeof r);
    long left = written;
    for (int i = 0; i < count && left > 0; i++) {
        long n = (long)parts[i].iov_len < left ? (long)parts[i].iov_len : left;
        put(parts[i].iov_base, n);
        left -= n;
    }
    return written;
}

/* What came into a file by a call that has no bytes to look at. */
static void tell_contents(int fd, struct stat *s, long offset, long length) {
    static char bytes[1 << 16];
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    long reader = CALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    while (length > 0) {
        long n = CALL(SYS_pread64, reader, bytes, length < (long)sizeof bytes ? length : (long)sizeof bytes, offset, 0, 0);
        if (n <= 0) break;
        struct iovec part = {bytes, n};
        do_written(fd, s, &part, 1, offset, n);
        offset += n;
        length -= n;
    }
    CALL(SYS_close, reader, 0, 0, 0, 0, 0);
}

static long do_rename(int at1, const char *from, int at2, const char *to, unsigned flags) {
    struct place a, b;
    int from_inside = place_of(at1, from, &a), to_inside = place_of(at2, to, &b);
    if (!from_inside && !to_inside) return CALL(SYS_renameat2, at1, from, at2, to, flags, 0);
    if (from_inside != to_inside || (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE))) control->strange = 3;
    count_operation();
    long result = CALL(SYS_renameat2, at1, from, at2, to, flags, 0);
    if (result == 0) tell(flags & RENAME_EXCHANGE ? EXCHANGE : RENAME, a.directory, a.name, b.directory, b.name, 0, 0, 0);
    return result;
}

static long do_unlink(int at, const char *path, int flags) {
    struct place place;
    int inside = place_of(at, path, &place);
    if (inside) count_operation();
    long result = CALL(SYS_unlinkat, at, path, flags, 0, 0, 0);
    if (inside && result == 0) tell(UNLINK, place.directory, place.name, 0, 0, 0, 0, 0);
    return result;
}

static long do_link(int at1, const char *from, int at2, const char *to, int flags) {
    struct place place;
    struct stat s;
    int inside = place_of(at2, to, &place);
    if (inside) count_operation();
    long result = CALL(SYS_linkat, at1, from, at2, to, flags, 0);
    if (inside && result == 0 && stat_path(at2, to, &s)) {
        if (!is_known(s.st_ino)) control->strange = 4;
        tell(LINK, place.directory, place.name, s.st_ino, 0, 0, 0, 0);
    }
    return result;
}

static long do_mkdir(int at, const char *path, int mode) {
    struct place place;
    struct stat s;
    int inside = place_of(at, path, &place);
    if (inside) count_operation();
    long result = CALL(SYS_mkdirat, at, path, mode, 0, 0, 0);
    if (inside && result == 0 && stat_path(at, path, &s)) {
        remember(s.st_ino, 1);
        tell(MAKE_DIRECTORY, place.directory, place.name, s.st_ino, 0, 0, 0, 0);
    }
    return result;
}

/* Called without the lock: others go on while it is under way. */
static long do_sync(int fd) {
    static uint64_t random = 88172645463325252ull;
    struct stat s;
    pthread_mutex_lock(&lock);
    int inside = watched(fd, &s);
    uint64_t us = 0;
    if (inside) {
        count_operation();
        tell(SYNC_BEGIN, s.st_ino, 0, (uint64_t)CALL(SYS_gettid, 0, 0, 0, 0, 0, 0), 0, 0, 0, 0);
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        us = control->sync_us ? random % control->sync_us : 0;
    }
    pthread_mutex_unlock(&lock);
    if (!inside) return stat_of(fd, &s) ? 0 : -EBADF;
    if (us) {
        struct timespec pause = {0, (long)us * 1000};
        CALL(SYS_nanosleep, &pause, 0, 0, 0, 0, 0);
    }
    pthread_mutex_lock(&lock);
    count_operation();
    tell(SYNC_END, s.st_ino, 0, (uint64_t)CALL(SYS_gettid, 0, 0, 0, 0, 0, 0), 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

static long do_call(long number, long *a) {
    struct stat s;
    struct iovec one;
    int count;
    const struct iovec *parts;
    switch (number) {
    case SYS_write:
    case SYS_pwrite64:
        if (!watched(a[0], &s)) break;
        one = (struct iovec){(void *)a[1], (size_t)a[2]};
        parts = &one, count = 1;
        goto write;
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
        if (!watched(a[0], &s)) break;
        parts = (const struct iovec *)a[1], count = (int)a[2];
    write: {
        /* At its end, if it is open so. */
        int at_position = number == SYS_write || number == SYS_writev || (number == SYS_pwritev2 && a[3] == -1);
        long flags = CALL(SYS_fcntl, a[0], F_GETFL, 0, 0, 0, 0);
        long offset = at_position ? -1 : (flags & O_APPEND) ? s.st_size : a[3];
        count_operation();
        long written = CALL(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        return s.st_nlink == 0 ? written : do_written(a[0], &s, parts, count, offset, written);
    }
    case SYS_open:
        return do_open(number, a, AT_FDCWD, (const char *)a[0], (int)a[1], (int)a[2]);
    case SYS_creat:
        return do_open(number, a, AT_FDCWD, (const char *)a[0], O_CREAT | O_TRUNC | O_WRONLY, (int)a[1]);
    case SYS_openat:
        return do_open(number, a, (int)a[0], (const char *)a[1], (int)a[2], (int)a[3]);
    case SYS_ftruncate:
        if (!watched(a[0], &s)) break;
        count_operation();
        {
            long result = CALL(number, a[0], a[1], 0, 0, 0, 0);
            if (result == 0 && s.st_nlink) tell(RESIZE, s.st_ino, 0, 0, 0, (uint64_t)a[1], 0, 0);
            return result;
        }
    case SYS_fallocate:
        if (!watched(a[0], &s)) break;
        count_operation();
        {
            long result = CALL(number, a[0], a[1], a[2], a[3], 0, 0);
            if (result != 0 || s.st_nlink == 0) return result;
            if (a[1] == 0 && a[2] + a[3] > s.st_size) tell(RESIZE, s.st_ino, 0, 0, 0, (uint64_t)(a[2] + a[3]), 0, 0);
            else if (a[1] != 0 && a[1] != FALLOC_FL_KEEP_SIZE) control->strange = 5;
            return result;
        }
    case SYS_rename:
        return do_rename(AT_FDCWD, (const char *)a[0], AT_FDCWD, (const char *)a[1], 0);
    case SYS_renameat:
        return do_rename((int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3], 0);
    case SYS_renameat2:
        return do_rename((int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3], (unsigned)a[4]);
    case SYS_unlink:
        return do_unlink(AT_FDCWD, (const char *)a[0], 0);
    case SYS_rmdir:
        return do_unlink(AT_FDCWD, (const char *)a[0], AT_REMOVEDIR);
    case SYS_unlinkat:
        return do_unlink((int)a[0], (const char *)a[1], (int)a[2]);
    case SYS_link:
        return do_link(AT_FDCWD, (const char *)a[0], AT_FDCWD, (const char *)a[1], 0);
    case SYS_linkat:
        return do_link((int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3], (int)a[4]);
    case SYS_mkdir:
        return do_mkdir(AT_FDCWD, (const char *)a[0], (int)a[1]);
    case SYS_mkdirat:
        return do_mkdir((int)a[0], (const char *)a[1], (int)a[2]);
    case SYS_sync:
    case SYS_syncfs:
        count_operation();
        tell(SYNC_ALL, 0, 0, 0, 0, 0, 0, 0);
        return 0;
    case SYS_sync_file_range:
        return 0; /* It promises nothing of what a power loss leaves. */
    case SYS_copy_file_range:
    case SYS_sendfile: {
        int out = number == SYS_sendfile ? (int)a[0] : (int)a[2];
        if (!watched(out, &s)) break;
        count_operation();
        long from = number == SYS_copy_file_range && a[3] ? *(long *)a[3] : CALL(SYS_lseek, out, 0, SEEK_CUR, 0, 0, 0);
        long copied = CALL(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (copied > 0 && s.st_nlink) tell_contents(out, &s, from, copied);
        return copied;
    }
    case SYS_truncate:
    case SYS_openat2:
    case SYS_symlink:
    case SYS_symlinkat:
    case SYS_mmap: /* Only what is shared and may be written comes here. */
        if (number != SYS_mmap || watched((int)a[4], &s)) control->strange = (uint64_t)(100 + number);
        break;
    }
    return CALL(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void handler(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    long number = r[REG_RAX];
    long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    if (number == SYS_fsync || number == SYS_fdatasync) {
        r[REG_RAX] = do_sync((int)a[0]);
        return;
    }
    struct stat s;
    /* Sockets, pipes and files that are elsewhere wait for nobody, and nobody for them. */
    if ((number == SYS_write || number == SYS_writev) && !(stat_of((int)a[0], &s) && s.st_dev == device && S_ISREG(s.st_mode))) {
        r[REG_RAX] = CALL(number, a[0], a[1], a[2], a[3], a[4], a[5]);
        return;
    }
    pthread_mutex_lock(&lock);
    r[REG_RAX] = do_call(number, a);
    pthread_mutex_unlock(&lock);
}

static void walk(const char *path, uint64_t inode) {
    DIR *directory = opendir(path);
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char below[4096];
        struct stat s;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (lstat(below, &s) != 0) continue;
        remember(s.st_ino, S_ISDIR(s.st_mode));
        tell(S_ISDIR(s.st_mode) ? KNOWN_DIRECTORY : KNOWN_FILE, inode, entry->d_name, s.st_ino, 0, 0, 0, 0);
        if (S_ISDIR(s.st_mode)) walk(below, s.st_ino);
    }
    closedir(directory);
}

static void die(const char *what) {
    perror(what);
    _exit(98);
}

#define TRAP(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

__attribute__((constructor)) static void begin(void) {
    const char *root = getenv("STOA_POWER_ROOT"), *path = getenv("STOA_POWER_JOURNAL"), *shared = getenv("STOA_POWER_CONTROL");
    if (!root || !path || !shared) return;
    int fd = open(shared, O_RDWR | O_CLOEXEC);
    if (fd < 0) die(shared);
    control = mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED) die(shared);
    close(fd);
    journal = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (journal < 0) die(path);
    /* Out of the way of whoever counts on small numbers. */
    journal = fcntl(journal, F_DUPFD_CLOEXEC, 500);
    known = memory(slots * sizeof *known);
    struct stat s;
    if (stat(root, &s) != 0) die(root);
    device = s.st_dev;
    remember(s.st_ino, 1);
    tell(KNOWN_DIRECTORY, 0, "", s.st_ino, 0, 0, 0, 0);
    walk(root, s.st_ino);

    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, 0) != 0) die("sigaction");
    uint64_t end = (uint64_t)(uintptr_t)shim_call_end;
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        LOAD(instruction_pointer),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)end, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(end >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        LOAD(nr),
        TRAP(SYS_write), TRAP(SYS_pwrite64), TRAP(SYS_writev), TRAP(SYS_pwritev), TRAP(SYS_pwritev2), TRAP(SYS_open), TRAP(SYS_creat),
        TRAP(SYS_openat), TRAP(SYS_openat2), TRAP(SYS_truncate), TRAP(SYS_ftruncate), TRAP(SYS_fallocate), TRAP(SYS_rename),
        TRAP(SYS_renameat), TRAP(SYS_renameat2), TRAP(SYS_unlink), TRAP(SYS_unlinkat), TRAP(SYS_rmdir), TRAP(SYS_link), TRAP(SYS_linkat),
        TRAP(SYS_symlink), TRAP(SYS_symlinkat), TRAP(SYS_mkdir), TRAP(SYS_mkdirat), TRAP(SYS_fsync), TRAP(SYS_fdatasync), TRAP(SYS_sync),
        TRAP(SYS_syncfs), TRAP(SYS_sync_file_range), TRAP(SYS_copy_file_range), TRAP(SYS_sendfile),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 6),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 0, 4),
        LOAD(args[3]),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_SHARED, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("prctl");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) die("seccomp");
}
