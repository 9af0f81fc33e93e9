/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Memory that the node takes from the kernel and gives back, by calls and bytes. Looked at when the
 * system call returns, so that calls that failed do not count.
 */
#pragma once
#include "maps.h"

/* Bytes by which brk(2) moved the end of the heap up; it returns the new end. */
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
    struct bpf_pidns_info who;
    if (!is_ours(&who) || ((s64)result < 0 && (s64)result > -4096))
        return 0;
    u8 event = number == SYSCALL_MMAP ? EVENT_MMAP
               : number == SYSCALL_MUNMAP ? EVENT_MUNMAP
                                          : EVENT_BRK;
    u64 bytes = number == SYSCALL_BRK ? heap_growth(result) : SYSCALL_SECOND(&regs);
    if (!bytes || !(cfg_events & (1 << event)))
        return 0;
    struct scratch *scratch = scratch_of(SLOT_SYSCALL);
    struct live *now = now_live();
    if (!scratch || !now)
        return 0;
    begin_sample(&scratch->sample, who.pid, event, MODE_USER);
    scratch->sample.weight = bytes;
    read_user_registers(&scratch->regs);
    finish_sample(scratch, now, SLOT_SYSCALL);
    count_sample(now->generation, SLOT_SYSCALL);
    return 0;
}
