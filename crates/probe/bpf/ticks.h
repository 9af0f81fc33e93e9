/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Sends ticks through the ring buffer, each with only the frames that it has. User space polls the ring.
 */
#pragma once
#include "maps.h"

/* Ticks of a hardware counter are NMIs: they cannot wait for the ring's lock while another CPU holds it.
 * The lock is held for about ten nanoseconds, so a few attempts are enough. */
#define SEND_ATTEMPTS 4

/* Reads a field again. The verifier keeps a separate state for each value that a loop compared with, and
 * would follow the code after the loop once for each of them. */
#define READ_AGAIN(field) (*(volatile typeof(field) *)&(field))

ALWAYS_INLINE void put_words(struct tick *tick, u64 at, const u64 *words, u64 count, u32 most)
{
    for (u32 i = 0; i < most; i++) {
        if (i >= count)
            break;
        tick->words[(at + i) & (TICK_WORDS - 1)] = words[i];
    }
}

/* Sends this CPU's scratch sample. A global function for the reason given at walk_erlang. */
__attribute__((noinline)) int send_tick(u32 slot)
{
    u32 zero = 0;
    struct scratch *scratch = scratch_of(slot);
    struct tick *tick = bpf_map_lookup_elem(&outgoing, &zero);
    if (!scratch || !tick)
        return 0;
    struct raw_sample *sample = &scratch->sample;
    tick->nanos = bpf_ktime_get_ns();
    __builtin_memcpy(&tick->head, &sample->head, sizeof(tick->head));
    u64 outer = READ_AGAIN(sample->head.frame_count);
    u64 native = outer + READ_AGAIN(sample->head.outer_count);
    u64 kernel = native + READ_AGAIN(sample->head.native_count);
    u64 words = kernel + READ_AGAIN(sample->head.kernel_count);
    put_words(tick, 0, sample->frames, READ_AGAIN(sample->head.frame_count), FRAME_SLOTS);
    put_words(tick, outer, sample->frames + FRAME_SLOTS, READ_AGAIN(sample->head.outer_count), FRAME_SLOTS);
    put_words(tick, native, sample->native, READ_AGAIN(sample->head.native_count), NATIVE_FRAMES);
    put_words(tick, kernel, sample->kernel, READ_AGAIN(sample->head.kernel_count), KERNEL_FRAMES);
    u64 bytes = __builtin_offsetof(struct tick, words) + (words & (TICK_WORDS - 1)) * sizeof(u64);
    for (u32 attempt = 0; attempt < SEND_ATTEMPTS; attempt++) {
        if (bpf_ringbuf_output(&ticks, tick, bytes, RINGBUF_NO_WAKEUP) == 0) {
            increment(COUNTER_SENT);
            return 0;
        }
    }
    increment(COUNTER_LOST);
    return 0;
}
