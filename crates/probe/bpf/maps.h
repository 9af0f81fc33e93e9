/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the program knows (filled in by user space), what it counts, and its memory between two
 * functions. One program, one set of maps.
 */
#pragma once
#include "sampler.h"
#include "arch.h"

/* At least as many as cfg_process_bytes. Power of two. */
#define PROCESS_WORDS 32

/* Words below a canonical frame address that hold the return address and saved registers. */
#define SAVED_WORDS 8

/* Programs of different contexts may interrupt each other, so each has memory of its own. */
enum slot { SLOT_PERF = 0, SLOT_SWITCH = 1, SLOT_SYSCALL = 2, SLOTS = 3 };

/* Filled in by the loader before the program is verified. */
volatile const u64 cfg_pidns_dev = 0;
volatile const u64 cfg_pidns_ino = 0;
volatile const u32 cfg_tgid = 0;
volatile const u32 cfg_events = 0; /* bits by enum event, of those that share a program */
volatile const u32 cfg_off_registers = 0;
volatile const u32 cfg_off_current_process = 0;
volatile const u32 cfg_off_id = 0;
volatile const u32 cfg_off_htop = 0;
volatile const u32 cfg_off_stop = 0;
volatile const u32 cfg_off_hend = 0;
volatile const u32 cfg_process_bytes = 0; /* from a process's beginning on, they have all of these */
volatile const u32 cfg_off_current = 0; /* 0: not known */
volatile const u32 cfg_off_resume = 0;  /* 0: not known */
volatile const struct segment cfg_scheduling = {}; /* JIT code that takes processes in and out */
/* JIT code after which Process.current is the function that C was called for */
volatile const struct segment cfg_noting[2] = {};
volatile const u64 cfg_normal_exit = 0;

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct live);
} live SEC(".maps");

struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 1024);
    TYPE(key, u32);
    TYPE(value, struct scheduler);
} schedulers SEC(".maps");

struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 2048);
    TYPE(key, struct key);
    TYPE(value, struct sample);
} samples SEC(".maps");

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, COUNTERS);
    TYPE(key, u32);
    TYPE(value, u64);
} counters SEC(".maps");

/* Hardly two ticks are the same, down to the instruction: they are sent as they are, which takes less
 * time than to count them. */
struct {
    UINT(type, MAP_RINGBUF);
    UINT(max_entries, 1 << 20);
} ticks SEC(".maps");

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct tick);
} outgoing SEC(".maps");

/* Snapshots still wanted; counts down to 0. */
struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, u64);
} snapshots_wanted SEC(".maps");

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, SNAPSHOTS);
    TYPE(key, u32);
    TYPE(value, struct snapshot);
} snapshots SEC(".maps");

/* Two lists, so that user space can change one while the other is in use. */
struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 2);
    TYPE(key, u32);
    TYPE(value, struct modules);
} modules SEC(".maps");

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct row_chunk);
} unwind_rows SEC(".maps");

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct block_chunk);
} row_blocks SEC(".maps");

/* The row for an instruction, as it was found the last time: the search for it goes through memory that
 * no cache of the CPU has any more, and return addresses come again and again. Each slot has lines of its
 * own, because what is half written must not be read. */
#define ROW_CACHE_BITS 10
#define ROW_CACHE_SPAN_BITS 6 /* instructions that are that near have the same line */
struct cached_row {
    u64 start; /* instructions for which it is good */
    u64 size;
    u64 version; /* of the modules */
    struct unwind_row row;
};

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, SLOTS << ROW_CACHE_BITS);
    TYPE(key, u32);
    TYPE(value, struct cached_row);
} row_cache SEC(".maps");

/* By thread id of the machine, not of the node's namespace. */
struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 1024);
    TYPE(key, u32);
    TYPE(value, struct pending);
} pending SEC(".maps");

/* Where the heap of brk(2) ends. */
struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, u64);
} heap_end SEC(".maps");

struct scratch {
    union {
        struct pending pending;
        struct {
            u64 pending_head[2];
            struct sample sample;
        };
    };
    /* Those of the interrupted function; after the C frames were walked, those of the JIT code
     * that called C. */
    struct registers regs;
    /* How the last walk ended, how many frames it found and how far it came. */
    u8 walk_outcome;
    u16 walk_count;
    u64 walk_end;
    u64 saved_words[SAVED_WORDS];
    u64 process[PROCESS_WORDS];
    u64 words[2 * CHUNK_WORDS]; /* see chunk_bytes */
};

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, SLOTS);
    TYPE(key, u32);
    TYPE(value, struct scratch);
} scratches SEC(".maps");

ALWAYS_INLINE struct scratch *scratch_of(u32 slot)
{
    return bpf_map_lookup_elem(&scratches, &slot);
}

ALWAYS_INLINE struct live *now_live(void)
{
    u32 zero = 0;
    return bpf_map_lookup_elem(&live, &zero);
}

ALWAYS_INLINE void bump(u32 counter)
{
    u64 *value = bpf_map_lookup_elem(&counters, &counter);
    if (value)
        *value += 1;
}

ALWAYS_INLINE u64 read_word(u64 address)
{
    u64 word = 0;
    bpf_probe_read_user(&word, sizeof(word), (const void *)address);
    return word;
}

/* Hides a value's origin from the optimiser, which would turn masks back into branches. */
#define OPAQUE(x) asm volatile("" : "+r"(x))

/* 1 when the two differ, else 0, without a branch. */
ALWAYS_INLINE u64 differ(u64 a, u64 b)
{
    u64 bits = a ^ b;
    u64 negated = -bits;
    OPAQUE(negated);
    return (bits | negated) >> 63;
}

/* 1 or 0 without a branch; correct for user-space ranges (below 2^63). */
ALWAYS_INLINE u64 in_range(u64 value, u64 start, u64 size)
{
    u64 offset = value - start;
    return (~offset & (offset - size)) >> 63;
}

ALWAYS_INLINE u8 is_jit_code(u64 address, const struct live *now)
{
    u64 found = 0;
    for (u32 i = 0; i < JIT_SEGMENTS; i++)
        found |= in_range(address, now->segments[i].start, now->segments[i].size);
    return found;
}

