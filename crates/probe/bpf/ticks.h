/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Sends ticks through the ring buffer, each with only its used frames. User space polls the ring.
 */
#pragma once
#include "maps.h"

/* Ticks of a hardware counter are NMIs: they cannot wait for the ring's lock while another CPU holds it. The
 * lock is held for about ten nanoseconds, so a few attempts are enough. */
#define SEND_ATTEMPTS 4

/* The size of this many words, at most `most`. The field is read again on purpose: the verifier keeps a separate
 * state for each value that a loop compared with. It would follow the code after the loop once for each of them. */
ALWAYS_INLINE u64 bytes_of(const u16 *count, u64 most)
{
    u64 words = *(const volatile u16 *)count;
    return (words < most ? words : most) * sizeof(u64);
}

ALWAYS_INLINE void put(struct bpf_dynptr *tick, u64 *offset, void *bytes, u64 size)
{
    bpf_dynptr_write(tick, *offset, bytes, size, 0);
    *offset += size;
}

/* Sends this CPU's scratch sample: the time, the head, and the used frames of the inner Erlang stack, the outer
 * one, C and the kernel. They are written straight into the ring, without a buffer in between. A global function
 * for the reason given at walk_erlang. */
__attribute__((noinline)) int send_tick(u32 slot)
{
    struct scratch *scratch = scratch_of(slot);
    if (!scratch)
        return 0;
    struct raw_sample *sample = &scratch->sample;
    u64 nanos = bpf_ktime_get_ns();
    u64 inner = bytes_of(&sample->head.frame_count, FRAME_SLOTS);
    u64 outer = bytes_of(&sample->head.outer_count, FRAME_SLOTS);
    u64 native = bytes_of(&sample->head.native_count, NATIVE_FRAMES);
    u64 kernel = bytes_of(&sample->head.kernel_count, KERNEL_FRAMES);
    u64 bytes = sizeof(nanos) + sizeof(sample->head) + inner + outer + native + kernel;
    for (u32 attempt = 0; attempt < SEND_ATTEMPTS; attempt++) {
        struct bpf_dynptr tick;
        if (bpf_ringbuf_reserve_dynptr(&ticks, bytes, 0, &tick) == 0) {
            u64 offset = 0;
            put(&tick, &offset, &nanos, sizeof(nanos));
            put(&tick, &offset, &sample->head, sizeof(sample->head));
            put(&tick, &offset, sample->frames, inner);
            put(&tick, &offset, sample->frames + FRAME_SLOTS, outer);
            put(&tick, &offset, sample->native, native);
            put(&tick, &offset, sample->kernel, kernel);
            bpf_ringbuf_submit_dynptr(&tick, RINGBUF_NO_WAKEUP);
            increment(COUNTER_SENT);
            return 0;
        }
        bpf_ringbuf_discard_dynptr(&tick, RINGBUF_NO_WAKEUP);
    }
    increment(COUNTER_LOST);
    return 0;
}
