/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The part of the kernel's BPF interface that the sampler uses. With it the build needs clang, but no headers of
 * the kernel or of libbpf. Helper numbers and structures are ABI: include/uapi/linux/bpf.h.
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* BTF-defined maps: the number is the length of an array type. */
#define UINT(name, value) int(*name)[value]
#define TYPE(name, value) typeof(value) *name

enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PROG_ARRAY = 3, MAP_PERCPU_ARRAY = 6, MAP_RINGBUF = 27 };
enum { UPDATE_ANY = 0, UPDATE_NOEXIST = 1 };
enum { STACK_SKIP_NONE = 0 };
enum { RINGBUF_NO_WAKEUP = 1 };

#ifdef __x86_64__
#error "compile for the bpf target"
#endif

struct bpf_pidns_info {
    u32 pid;
    u32 tgid;
};

/* Kernel structures. The loader takes the offsets of their fields from the running kernel's BTF. */
struct ns_common {
    unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
    struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid {
    int nr;
    struct pid_namespace *ns;
};

/* `numbers` has an element for each namespace that shows the process, the innermost at index `level`. */
struct pid {
    unsigned int level;
    struct upid numbers[1];
} __attribute__((preserve_access_index));

struct task_struct {
    int pid;
    struct task_struct *group_leader;
    struct pid *thread_pid;
} __attribute__((preserve_access_index));

/* Memory that a helper has handed out, such as a record of a ring buffer. */
struct bpf_dynptr {
    u64 opaque[2];
} __attribute__((aligned(8)));

struct bpf_raw_tracepoint_args {
    u64 args[4];
};

static long (*const bpf_tail_call)(void *ctx, void *programs, u32 index) = (void *)12;
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
                                         u64 flags) = (void *)2;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u64 (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*const bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static long (*const bpf_probe_read_kernel)(void *dst, u32 size, const void *src) = (void *)113;
static long (*const bpf_get_stack)(void *ctx, void *buf, u32 size, u64 flags) = (void *)67;
static long (*const bpf_probe_read_user)(void *dst, u32 size, const void *src) = (void *)112;
static long (*const bpf_get_ns_current_pid_tgid)(u64 dev, u64 ino, struct bpf_pidns_info *info,
                                                 u32 size) = (void *)120;
static struct task_struct *(*const bpf_get_current_task_btf)(void) = (void *)158;
static long (*const bpf_ringbuf_reserve_dynptr)(void *ringbuf, u32 size, u64 flags,
                                                struct bpf_dynptr *record) = (void *)198;
static void (*const bpf_ringbuf_submit_dynptr)(struct bpf_dynptr *record, u64 flags) = (void *)199;
static void (*const bpf_ringbuf_discard_dynptr)(struct bpf_dynptr *record, u64 flags) = (void *)200;
static long (*const bpf_dynptr_write)(struct bpf_dynptr *to, u32 offset, void *from, u32 size,
                                      u64 flags) = (void *)202;
static long (*const bpf_task_pt_regs)(struct task_struct *task) = (void *)175;

/* A word of the observed process; 0 if it is unreadable. */
ALWAYS_INLINE u64 read_word(u64 address)
{
    u64 word = 0;
    bpf_probe_read_user(&word, sizeof(word), (const void *)address);
    return word;
}
