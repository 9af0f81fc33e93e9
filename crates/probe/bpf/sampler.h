/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the sampler and user space exchange. The Rust mirror is src/cpu/wire.rs; a test compares
 * the sizes of the two.
 */
#pragma once
#include "kernel.h"

#define CHUNK_WORDS 64      /* stack words read at a time */
#define CHUNKS 64      /* so at most 4096 words, 32 KiB of stack, are walked */
#define FRAME_SLOTS 256     /* power of two */
#define FRAME_LIMIT (FRAME_SLOTS - CHUNK_WORDS) /* stop here: one more chunk always fits */
#define OUTER_WORDS (4 * CHUNK_WORDS) /* of a stack that is longer, the words next to the root */
#define KERNEL_FRAMES 64
#define REPEAT_SHIFT 48     /* upper bits of a frame: further consecutive activations */

enum { MODE_USER = 0, MODE_KERNEL = 1 };

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

struct key {
    u64 hash_a;
    u64 hash_b;
    u64 generation;
};

struct sample {
    u64 count;
    u64 process;     /* Process.common.id, a pid term; 0 without a process */
    u64 leaf;        /* interrupted user-space instruction */
    u64 boundary;    /* return address of the call from JIT code into C; 0 when in JIT code */
    u32 tid;
    u8 mode;
    u8 outcome;
    u8 origin;
    u8 leaf_in_jit;
    u16 frame_count;
    u16 kernel_count;
    u16 outer_count; /* of a truncated stack: frames next to the root, after frames[FRAME_SLOTS] */
    u16 reserved;
    /* Innermost first: return address | repeats << REPEAT_SHIFT. The second half is for the outer
     * frames of a truncated stack. */
    u64 frames[2 * FRAME_SLOTS];
    u64 kernel[KERNEL_FRAMES]; /* innermost first */
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
    COUNTERS = 6,
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
