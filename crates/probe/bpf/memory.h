/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The events mmap, munmap and brk: calls and bytes. Recorded at the return of the system call, so that failed calls
 * do not count.
 */
#pragma once
#include "maps.h"

/* Bytes by which brk(2) grew the heap. `end` is the new end, which brk returns. */
ALWAYS_INLINE u64 heap_growth(u64 end)
{
    u32 zero = 0;
    u64 *last = bpf_map_lookup_elem(&heap_end, &zero);
    if (!last)
        return 0;
    u64 before = *last;
    *last = end;
    return before && end > before ? end - before : 0;
}

SEC("raw_tp/sys_exit")
int on_syscall(struct bpf_raw_tracepoint_args *ctx)
{
    struct pt_regs regs;
    if (bpf_probe_read_kernel(&regs, sizeof(regs), (const void *)ctx->args[0]))
        return 0;
    u64 number = SYSCALL_NUMBER(&regs), result = ctx->args[1];
    if (number != SYSCALL_MMAP && number != SYSCALL_MUNMAP && number != SYSCALL_BRK)
        return 0;
    struct bpf_pidns_info ids;
    if (!is_observed(&ids) || ((s64)result < 0 && (s64)result > -4096))
        return 0;
    u8 event = number == SYSCALL_MMAP ? PROBE_EVENT_MMAP
               : number == SYSCALL_MUNMAP ? PROBE_EVENT_MUNMAP
                                          : PROBE_EVENT_BRK;
    u64 bytes = number == SYSCALL_BRK ? heap_growth(result) : SYSCALL_SECOND(&regs);
    if (!bytes || !(cfg_events & (1 << event)))
        return 0;
    struct scratch *scratch = scratch_of(SLOT_SYSCALL);
    struct recording_state *state = current_state();
    if (!scratch || !state)
        return 0;
    begin_sample(&scratch->sample, ids.pid, event, CPU_MODE_USER);
    scratch->sample.head.weight = bytes;
    read_user_registers(&scratch->regs);
    finish_sample(scratch, state, SLOT_SYSCALL);
    count_sample(state->generation, SLOT_SYSCALL);
    return 0;
}
