/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Ticks are sent one by one, and only what is used of each; user space looks for them now and then.
 */
#pragma once
#include "maps.h"

/* On a processor's own clock a tick comes even while another CPU has the ring's lock, and then it cannot
 * wait for it. It is held for some ten nanoseconds. */
#define SEND_ATTEMPTS 4

/* A number, read again: of one that was compared in a loop the verifier remembers every outcome, and follows
 * what comes after the loop once for each. */
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
    struct sample *sample = &scratch->sample;
    tick->nanos = bpf_ktime_get_ns();
    __builtin_memcpy(tick->fields, sample, sizeof(tick->fields));
    u64 outer = READ_AGAIN(sample->frame_count);
    u64 native = outer + READ_AGAIN(sample->outer_count);
    u64 kernel = native + READ_AGAIN(sample->native_count);
    u64 words = kernel + READ_AGAIN(sample->kernel_count);
    put_words(tick, 0, sample->frames, READ_AGAIN(sample->frame_count), FRAME_SLOTS);
    put_words(tick, outer, sample->frames + FRAME_SLOTS, READ_AGAIN(sample->outer_count), FRAME_SLOTS);
    put_words(tick, native, sample->native, READ_AGAIN(sample->native_count), NATIVE_FRAMES);
    put_words(tick, kernel, sample->kernel, READ_AGAIN(sample->kernel_count), KERNEL_FRAMES);
    u64 bytes = __builtin_offsetof(struct tick, words) + (words & (TICK_WORDS - 1)) * sizeof(u64);
    for (u32 attempt = 0; attempt < SEND_ATTEMPTS; attempt++) {
        if (bpf_ringbuf_output(&ticks, tick, bytes, RINGBUF_NO_WAKEUP) == 0) {
            bump(COUNTER_SENT);
            return 0;
        }
    }
    bump(COUNTER_LOST);
    return 0;
}
