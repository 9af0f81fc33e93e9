/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Configuration (set by user space), maps, and scratch memory. All programs of the object use the same maps.
 */
#pragma once
#include "interface.h"
#include "arch.h"
#include "observed.h"

/* Words read from an Erlang process: at least cfg_process_bytes. A power of two. */
#define PROCESS_WORDS 32

/* Programs of different contexts may interrupt each other, so each context has its own scratch memory. */
enum slot { SLOT_PERF = 0, SLOT_SWITCH = 1, SLOT_SYSCALL = 2, SLOTS = 3 };

/* Constants that the loader sets before the verifier runs. */
volatile const u32 cfg_events = 0; /* bits by enum probe_event: the events that are recorded */
volatile const u32 cfg_off_registers = 0;
volatile const u32 cfg_off_current_process = 0;
volatile const u32 cfg_off_id = 0;
volatile const u32 cfg_off_htop = 0;
volatile const u32 cfg_off_stop = 0;
volatile const u32 cfg_off_hend = 0;
volatile const u32 cfg_process_bytes = 0; /* bytes of a process that hold all fields above */
volatile const u32 cfg_off_current = 0; /* 0: unknown */
volatile const u32 cfg_off_resume = 0;  /* 0: unknown */
volatile const u64 cfg_native_calls[2] = {}; /* marks where a NIF or BIF is called; 0: unknown */
volatile const struct segment cfg_schedule = {}; /* JIT code that schedules processes in and out */
/* JIT code that sets Process.current to the function for which it calls C */
volatile const struct segment cfg_bif_calls[2] = {};
volatile const u64 cfg_normal_exit = 0;

/* Context of a perf_event program (include/uapi/linux/bpf_perf_event.h). */
struct bpf_perf_event_data {
    struct pt_regs regs;
    u64 sample_period;
    u64 addr;
};

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct recording_state);
} recording_state SEC(".maps");

struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 1024);
    TYPE(key, u32);
    TYPE(value, struct scheduler);
} schedulers SEC(".maps");

struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 2048);
    TYPE(key, struct sample_key);
    TYPE(value, struct raw_sample);
} samples SEC(".maps");

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, COUNTER_COUNT);
    TYPE(key, u32);
    TYPE(value, u64);
} counters SEC(".maps");

/* Two ticks are almost never equal down to the instruction. Sending each takes less time than counting equal
 * ones. */
struct {
    UINT(type, MAP_RINGBUF);
    UINT(max_entries, 1 << 20);
} ticks SEC(".maps");

/* Number of snapshots still to take. */
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

/* Two lists: user space changes one while the other is in use. */
struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 2);
    TYPE(key, u32);
    TYPE(value, struct unwind_modules);
} unwind_modules SEC(".maps");

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct unwind_row_chunk);
} unwind_rows SEC(".maps");

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct row_block_chunk);
} row_blocks SEC(".maps");

/* A cache of the rows found by searches: return addresses repeat, and a search reads memory that has left the
 * CPU's caches. Each scratch slot has its own lines, so that an interrupting program never reads a half-written
 * line. */
#define ROW_CACHE_BITS 10
#define ROW_CACHE_PART_BITS 9
#define ROW_CACHE_SPAN_BITS 6 /* instructions within 64 bytes share a line */
struct cached_row {
    u64 start; /* first instruction for which the row is valid */
    u32 size;
    u32 version; /* the lower half of modules_version at the search */
    struct unwind_row row;
};

/* 16 KiB: the kernel places each element of a map separately, and finds it through a table. */
struct row_cache_part {
    struct cached_row rows[1 << ROW_CACHE_PART_BITS];
};

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, SLOTS << (ROW_CACHE_BITS - ROW_CACHE_PART_BITS));
    TYPE(key, u32);
    TYPE(value, struct row_cache_part);
} row_cache SEC(".maps");

/* By thread id in the initial pid namespace. */
struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 1024);
    TYPE(key, u32);
    TYPE(value, struct off_cpu_thread);
} off_cpu_threads SEC(".maps");

/* End of the heap of brk(2). */
struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, u64);
} heap_end SEC(".maps");

/* The fields that most ticks use lie together, in few pages. On a busy machine the memory has left the CPU's caches,
 * and so have the page tables that lead to it. */
struct scratch {
    /* Registers of the interrupted function; after the walk of the C frames, those of the JIT code that called
     * C. */
    struct registers regs;
    /* Result of the last walk_erlang: outcome, frames found, address reached. */
    u8 walk_outcome;
    u16 walk_count;
    u64 walk_end;
    u64 last_module; /* index in the list of the last search */
    u64 saved_words[SAVED_WORDS];
    u64 process[PROCESS_WORDS];
    u64 words[2 * CHUNK_WORDS]; /* see chunk_bytes */
    union {
        struct off_cpu_thread off_cpu;
        struct {
            u64 off_cpu_times[2];
            struct raw_sample sample;
        };
    };
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

ALWAYS_INLINE struct recording_state *current_state(void)
{
    u32 zero = 0;
    return bpf_map_lookup_elem(&recording_state, &zero);
}

ALWAYS_INLINE void increment(u32 counter)
{
    u64 *value = bpf_map_lookup_elem(&counters, &counter);
    if (value)
        *value += 1;
}

/* Hides a value's origin from the optimiser, which would turn masks back into branches. */
#define OPAQUE(x) asm volatile("" : "+r"(x))

/* 1 if the two differ, else 0, without a branch. */
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

ALWAYS_INLINE u8 is_jit_code(u64 address, const struct recording_state *state)
{
    u64 found = 0;
    for (u32 i = 0; i < JIT_SEGMENTS; i++)
        found |= in_range(address, state->jit.segments[i].start, state->jit.segments[i].size);
    return found;
}

