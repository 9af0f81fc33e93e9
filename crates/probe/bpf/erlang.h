/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Walks the Erlang stack without frame pointers. Every Erlang term has a tag, so that only return addresses have 00
 * in their low two bits and point into JIT code. The walk reads words upwards from the stack pointer and keeps the
 * return addresses. It ends at the root: the address to which every process returns when its first function ends.
 *
 * Frame pointers have no tag either, and with `+JPperf true` the heap lies between areas of JIT code. They point
 * into the walked stack, which holds no code.
 *
 * The inner loop has no branches: the verifier follows every path through every iteration, so each branch would
 * multiply its work by thousands.
 */
#pragma once
#include "maps.h"

struct walk {
    u64 count;  /* frames so far */
    u64 last;   /* previous return address */
    u64 alive;  /* 1 until the root was met */
};

/* The range of possible return addresses, and the stack's own range, which has none. */
struct walked {
    u64 start;
    u64 size;
    u64 stack;
    u64 stack_size;
};

ALWAYS_INLINE void take_word(struct walk *walk, u64 *frames, u64 word, const struct walked *in)
{
    u64 tag = word & 3;
    u64 is_return = ((tag - 1) >> 63) & in_range(word, in->start, in->size) & walk->alive;
    is_return &= in_range(word, in->stack, in->stack_size) ^ 1;
    u64 is_root = (differ(word, cfg_normal_exit) ^ 1) & is_return;
    u64 is_new = differ(word, walk->last);
    is_return &= is_root ^ 1;
    is_new &= is_return;
    OPAQUE(is_new);
    walk->alive &= is_root ^ 1;
    walk->count += is_new;
    u64 slot = (walk->count - 1) & (FRAME_SLOTS - 1);
    u64 keep = is_new - 1; /* all ones unless new */
    frames[slot] = (word & ~keep) | ((frames[slot] + ((is_return & keep & 1) << REPEAT_SHIFT)) & keep);
    u64 take = -is_return;
    OPAQUE(take);
    walk->last = (word & take) | (walk->last & ~take);
}

#define CHUNK_BYTES (CHUNK_WORDS * sizeof(u64))

/* The smaller of `left` and a chunk, without a branch. The mask proves a limit to the verifier; the buffer is
 * twice as large as a chunk to fit that limit. */
ALWAYS_INLINE u32 chunk_bytes(u64 left)
{
    u64 short_of = -((left - CHUNK_BYTES) >> 63);
    OPAQUE(short_of);
    u64 bytes = (left & short_of) | (CHUNK_BYTES & ~short_of);
    /* Keeps the compiler from omitting the mask: it knows the limits of `bytes`, but Linux 6.1 does not. */
    OPAQUE(bytes);
    return bytes & (2 * CHUNK_BYTES - 1);
}

/* Walks the stack between `sp` and `hend` into the frames of this CPU's scratch sample, from index `base`, which
 * is 0 or FRAME_SLOTS. Leaves outcome, frame count and address reached in scratch. A global function: the
 * verifier checks such a function once and on its own, not once for every path of its caller. */
__attribute__((noinline)) int walk_erlang(u64 sp, u64 hend, u32 base, u32 slot)
{
    struct scratch *scratch = scratch_of(slot);
    struct recording_state *state = current_state();
    if (!scratch || !state)
        return 0;
    struct walk walk = {.count = 0, .last = 0, .alive = 1};
    u64 *frames = scratch->sample.frames + (base & FRAME_SLOTS);
    struct walked in = {
        .start = state->jit.envelope.start,
        .size = state->jit.envelope.size,
        .stack = sp,
        .stack_size = hend - sp,
    };
    u8 outcome = ERLANG_OUTCOME_TRUNCATED;

    for (u32 chunk = 0; chunk < CHUNKS; chunk++) {
        if (sp >= hend) {
            outcome = ERLANG_OUTCOME_NO_ROOT;
            break;
        }
        if (bpf_probe_read_user(scratch->words, chunk_bytes(hend - sp), (const void *)sp)) {
            outcome = ERLANG_OUTCOME_UNREADABLE;
            break;
        }
        for (u32 i = 0; i < CHUNK_WORDS; i++)
            take_word(&walk, frames, scratch->words[i], &in);
        sp += CHUNK_BYTES;
        if (!walk.alive) {
            outcome = ERLANG_OUTCOME_COMPLETE;
            break;
        }
        if (walk.count > FRAME_LIMIT)
            break;
    }
    scratch->walk_outcome = outcome;
    scratch->walk_count = walk.count;
    scratch->walk_end = sp;
    return 0;
}

/* Walks the whole stack, or the inner and outer ends of one that is too long. */
ALWAYS_INLINE void walk_ends(struct scratch *scratch, u64 sp, u64 hend, u32 slot)
{
    struct raw_sample *sample = &scratch->sample;
    walk_erlang(sp, hend, 0, slot);
    sample->head.erlang_outcome = scratch->walk_outcome;
    sample->head.frame_count = scratch->walk_count;
    if (sample->head.erlang_outcome != ERLANG_OUTCOME_TRUNCATED)
        return;
    u64 outer = hend - OUTER_WORDS * sizeof(u64);
    if (outer < scratch->walk_end)
        outer = scratch->walk_end;
    walk_erlang(outer, hend, FRAME_SLOTS, slot);
    if (scratch->walk_outcome == ERLANG_OUTCOME_COMPLETE)
        sample->head.outer_count = scratch->walk_count;
}
