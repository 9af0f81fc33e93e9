/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the sampler and user space exchange. The Rust mirror is src/cpu/wire.rs; a test compares
 * the sizes of the two.
 */
#pragma once
#include "kernel.h"

#define CHUNK_WORDS 32      /* stack words read at a time; most stacks are shorter than two of them */
#define CHUNKS 128     /* so at most 4096 words, 32 KiB of stack, are walked */
#define FRAME_SLOTS 256     /* power of two */
#define FRAME_LIMIT (FRAME_SLOTS - CHUNK_WORDS) /* stop here: one more chunk always fits */
#define OUTER_WORDS (8 * CHUNK_WORDS) /* of a stack that is longer, the words next to the root */
#define KERNEL_FRAMES 64
#define NATIVE_FRAMES 64
#define CURRENT_WORDS 3     /* ErtsCodeMFA: module, function, arity */
#define TIME_SLOTS 32       /* power of two */
#define TIME_STEP_NANOS 50000000ULL
#define REPEAT_SHIFT 48     /* upper bits of a frame: further consecutive activations */

enum { MODE_USER = 0, MODE_KERNEL = 1 };

/* What makes a sample be taken. */
enum event {
    EVENT_CPU = 0,
    EVENT_OFF_CPU = 1,
    EVENT_MMAP = 2,
    EVENT_MUNMAP = 3,
    EVENT_BRK = 4,
    EVENT_PAGE_FAULTS = 5,
    EVENT_CONTEXT_SWITCHES = 6,
};

/* Why a thread was off the CPU. */
enum wait {
    WAIT_NONE = 0,
    WAIT_BLOCKED = 1,  /* until somebody woke it */
    WAIT_RUNNABLE = 2, /* woken or preempted, until it had a CPU again */
};

/* How the walk of the Erlang stack ended. */
enum outcome {
    OUTCOME_NO_PROCESS = 0, /* the thread is no scheduler, or runs no process */
    OUTCOME_COMPLETE = 1,   /* reached the return address that every process starts with */
    OUTCOME_TRUNCATED = 2,  /* more frames or words than we walk */
    OUTCOME_NO_ROOT = 3,    /* came to the end of the stack without meeting that address */
    OUTCOME_UNREADABLE = 4, /* user memory could not be read (swapped out, or a race) */
};

/* Where the walk of the Erlang stack started. */
enum origin {
    ORIGIN_NONE = 0,
    ORIGIN_REGISTER = 1, /* stack pointer of JIT code */
    ORIGIN_SAVED = 2,    /* Process.stop, stored before the call into C */
    ORIGIN_KEPT = 3,     /* kept in a callee-saved register across the call into C */
    ORIGIN_MOVED = 4,    /* Process.stop, while the garbage collector moves the heap */
};

/* How the walk through the C frames ended. */
enum native_outcome {
    NATIVE_NONE = 0,   /* interrupted in JIT code: there are none */
    NATIVE_JOINED = 1, /* at the call from JIT code, where the Erlang stack goes on */
    NATIVE_ROOT = 2,   /* at the first function of the thread */
    NATIVE_CUT = 3,    /* at code without unwind rows, or at more frames than we walk */
};

struct key {
    u64 hash_a;
    u64 hash_b;
    u64 generation;
};

struct sample {
    u64 count;
    u64 weight;      /* sum, in the unit of the event: ticks, nanoseconds, bytes, calls */
    u64 process;     /* Process.common.id, a pid term; 0 without a process */
    u64 leaf;        /* interrupted user-space instruction */
    u64 boundary;    /* return address of the call from JIT code into C; 0 when in JIT code */
    u64 current[CURRENT_WORDS]; /* what Process.current points to, see take_current; else 0 */
    u64 fragment_call; /* innermost return address where it is not aligned, see take_fragment_call; else 0 */
    u64 resumes_at; /* where the process goes on, see take_resumption; else 0 */
    u32 tid;
    u8 mode;
    u8 outcome;
    u8 origin;
    u8 leaf_in_jit;
    u16 frame_count;
    u16 kernel_count;
    u16 outer_count; /* of a truncated stack: frames next to the root, after frames[FRAME_SLOTS] */
    u16 native_count;
    u8 native_outcome;
    u8 event;
    u8 wait;
    u8 reserved[5];
    /* Innermost first: return address | repeats << REPEAT_SHIFT. The second half is for the outer
     * frames of a truncated stack. */
    u64 frames[2 * FRAME_SLOTS];
    u64 native[NATIVE_FRAMES]; /* return addresses of C functions, innermost first */
    u64 kernel[KERNEL_FRAMES]; /* innermost first */
    /* The weight again, by steps of time since the generation began; the last one has the rest. */
    u64 times[TIME_SLOTS];
};

/* A tick on its way to user space: the fields of a sample up to its frames, then as many frames, outer
 * frames, C frames and kernel frames as those say. */
#define TICK_WORDS 1024 /* power of two, more than a sample has frames of all kinds */
struct tick {
    u64 nanos; /* of the monotonic clock */
    u8 fields[__builtin_offsetof(struct sample, frames)];
    u64 words[TICK_WORDS];
};

/* A thread that is off the CPU, with the stack it left. */
struct pending {
    u64 out_nanos;
    u64 woken_nanos; /* 0: not yet */
    struct sample sample;
};

/* How to find the caller of a C function, from this instruction on until that of the next row.
 * Compiled from .eh_frame by src/native/unwind. */
struct unwind_row {
    u32 pc; /* from the module's base */
    s32 cfa_offset;
    u8 cfa;      /* enum cfa_rule */
    u8 saved[6]; /* registers of arch.h: n words below the return address, 0: unchanged */
    u8 above; /* of CFA_SP_SAVED: bytes to add */
};

/* The canonical frame address is the stack pointer before the call of the function; the word below
 * is the return address. */
enum cfa_rule {
    CFA_UNKNOWN = 0, /* cannot be told, or no code */
    CFA_SP = 1,      /* stack pointer + offset */
    CFA_BP = 2,      /* frame pointer + offset */
    CFA_PLT = 3,     /* of the linker's call stubs: depends on the place within 16 bytes */
    CFA_END = 4,     /* the first function of a thread */
    CFA_SP_SAVED = 5, /* the word at stack pointer + offset, plus a bit: hand-written assembly */
};

/* Rows lie in chunks, so that user space can fill the map with few calls. */
#define ROWS_PER_CHUNK 256
struct row_chunk {
    struct unwind_row rows[ROWS_PER_CHUNK];
};

/* The code of a file in blocks of one size, so that few rows have to be searched: for each block the
 * row, counted from the file's first, that is valid where it begins, and then the last row. */
#define BLOCKS_PER_CHUNK 1024 /* power of two */
struct block_chunk {
    u32 rows[BLOCKS_PER_CHUNK];
};

/* A mapping of code for which there are rows. */
struct module {
    u64 start; /* unused entries: the highest address */
    u64 end;
    u64 base; /* to which the rows are relative */
    u32 first_row;
    u32 row_count;
    u32 first_block;
    u32 last_block; /* counted from the first */
    u32 block_bits; /* a block has two to the power of that many bytes */
    u32 reserved;
};

#define MODULES 128 /* power of two */
struct modules {
    struct module list[MODULES]; /* in order of address */
};

/* A thread that can run Erlang processes. */
struct scheduler {
    u64 data; /* address of its ErtsSchedulerData */
    u64 runs_jit; /* 1 for a normal scheduler; dirty ones run native code only */
};

/* Where JIT code is: it grows while we run. Native libraries may lie between two segments. */
#define JIT_SEGMENTS 8
struct segment {
    u64 start;
    u64 size; /* 0: unused */
};

/* Set by user space, also while we run. */
struct live {
    u64 generation; /* flipped before the samples of the old one are fetched */
    u64 since_nanos; /* waits are counted from then on */
    u64 generation_nanos; /* when this generation began: a whole number of steps after since_nanos */
    u64 modules_version; /* counted; its lowest bit says which of the two lists of modules is valid */
    struct segment envelope; /* around all segments */
    struct segment segments[JIT_SEGMENTS];
};

/* Counters since attach, one array entry for each. */
enum counter {
    COUNTER_TICKS = 0,          /* ticks that fell on the node */
    COUNTER_LOST = 1,           /* of those, not recorded: no room in the map */
    COUNTER_NEW = 2,            /* entries made in the map */
    COUNTER_JIT_AGREES = 3,     /* in JIT code, process register equals scheduler's current process */
    COUNTER_JIT_DISAGREES = 4,
    COUNTER_KERNEL_STACK_LOST = 5,
    COUNTER_SENT = 6, /* ticks put into the ring */
    COUNTERS = 7,
};

/* What calibration looks at: one JIT-mode tick as it was. */
#define SNAPSHOT_WORDS 64
#define SNAPSHOTS 32
struct snapshot {
    u64 valid;
    u64 process; /* from the register */
    u64 stack;   /* from the register */
    u64 scheduler_data;
    u64 scheduler_words[SNAPSHOT_WORDS];
    u64 process_words[SNAPSHOT_WORDS];
};
