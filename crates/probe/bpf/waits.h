/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Threads that leave the CPU: how often, and for how long. The stack is taken when a thread leaves,
 * as it cannot change until it is back. The time until somebody wakes the thread is blocked, the
 * rest is waiting for a CPU; a thread that nobody had to wake was preempted.
 */
#pragma once
#include "maps.h"

ALWAYS_INLINE u32 thread_of(struct task_struct *task)
{
    int pid = 0;
    bpf_probe_read_kernel(&pid, sizeof(pid), &task->pid);
    return pid;
}

ALWAYS_INLINE void add_wait(struct scratch *scratch, u8 wait, u64 nanos, const struct live *now)
{
    if (!nanos)
        return;
    scratch->sample.wait = wait;
    scratch->sample.weight = nanos;
    count_sample(now->generation, SLOT_SWITCH);
}

ALWAYS_INLINE void end_wait(u32 thread, struct scratch *scratch, const struct live *now)
{
    struct pending *waited = bpf_map_lookup_elem(&pending, &thread);
    if (!waited)
        return;
    u64 back = bpf_ktime_get_ns();
    u64 out = waited->out_nanos, woken = waited->woken_nanos;
    if (out < now->since_nanos)
        out = now->since_nanos;
    if (woken && woken < out)
        woken = out;
    if (back > out) {
        bpf_probe_read_kernel(&scratch->sample, sizeof(scratch->sample), &waited->sample);
        if (woken)
            add_wait(scratch, WAIT_BLOCKED, woken - out, now);
        add_wait(scratch, WAIT_RUNNABLE, back - (woken ? woken : out), now);
    }
    bpf_map_delete_elem(&pending, &thread);
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
    struct scratch *scratch = scratch_of(SLOT_SWITCH);
    struct live *now = now_live();
    if (!scratch || !now)
        return 0;
    if (cfg_events & (1 << EVENT_OFF_CPU))
        end_wait(thread_of((struct task_struct *)ctx->args[2]), scratch, now);
    struct bpf_pidns_info who;
    if (!is_ours(&who))
        return 0;
    begin_sample(&scratch->sample, who.pid, EVENT_CONTEXT_SWITCHES, MODE_KERNEL);
    read_user_registers(&scratch->regs);
    take_kernel_stack(ctx, &scratch->sample);
    finish_sample(scratch, now, SLOT_SWITCH);
    if (cfg_events & (1 << EVENT_CONTEXT_SWITCHES))
        count_sample(now->generation, SLOT_SWITCH);
    if (!(cfg_events & (1 << EVENT_OFF_CPU)))
        return 0;
    u32 thread = bpf_get_current_pid_tgid();
    scratch->sample.event = EVENT_OFF_CPU;
    scratch->pending.out_nanos = bpf_ktime_get_ns();
    scratch->pending.woken_nanos = 0;
    if (bpf_map_update_elem(&pending, &thread, &scratch->pending, UPDATE_ANY))
        bump(COUNTER_LOST);
    return 0;
}

SEC("raw_tp/sched_wakeup")
int on_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
    u32 thread = thread_of((struct task_struct *)ctx->args[0]);
    struct pending *waiting = bpf_map_lookup_elem(&pending, &thread);
    if (waiting && !waiting->woken_nanos)
        waiting->woken_nanos = bpf_ktime_get_ns();
    return 0;
}
