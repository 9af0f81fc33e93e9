/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * The events off-cpu and context-switches. The stack is taken when a thread leaves the CPU, because it cannot
 * change until the thread runs again. The time until a wakeup is blocked time, the rest is runnable time. A thread
 * that runs again without a wakeup was preempted: all of its time is runnable.
 */
#pragma once
#include "maps.h"

ALWAYS_INLINE u32 thread_of(struct task_struct *task)
{
    int pid = 0;
    bpf_probe_read_kernel(&pid, sizeof(pid), &task->pid);
    return pid;
}

ALWAYS_INLINE void add_wait(struct scratch *scratch, u8 wait, u64 nanos, const struct recording_state *state)
{
    if (!nanos)
        return;
    scratch->sample.head.wait = wait;
    scratch->sample.head.weight = nanos;
    count_sample(state->generation, SLOT_SWITCH);
}

ALWAYS_INLINE void end_wait(u32 thread, struct scratch *scratch, const struct recording_state *state)
{
    struct off_cpu_thread *known = bpf_map_lookup_elem(&off_cpu_threads, &thread);
    if (!known)
        return;
    u64 back = bpf_ktime_get_ns();
    u64 left = known->left_nanos, woken = known->woken_nanos;
    if (left < state->start_nanos)
        left = state->start_nanos;
    if (woken && woken < left)
        woken = left;
    if (back > left) {
        bpf_probe_read_kernel(&scratch->sample, sizeof(scratch->sample), &known->sample);
        if (woken)
            add_wait(scratch, WAIT_STATE_BLOCKED, woken - left, state);
        add_wait(scratch, WAIT_STATE_RUNNABLE, back - (woken ? woken : left), state);
    }
    bpf_map_delete_elem(&off_cpu_threads, &thread);
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
    struct scratch *scratch = scratch_of(SLOT_SWITCH);
    struct recording_state *state = current_state();
    if (!scratch || !state)
        return 0;
    if (cfg_events & (1 << PROBE_EVENT_OFF_CPU))
        end_wait(thread_of((struct task_struct *)ctx->args[2]), scratch, state);
    struct bpf_pidns_info ids;
    if (!is_observed(&ids))
        return 0;
    begin_sample(&scratch->sample, ids.pid, PROBE_EVENT_CONTEXT_SWITCHES, CPU_MODE_KERNEL);
    read_user_registers(&scratch->regs);
    take_kernel_stack(ctx, &scratch->sample);
    finish_sample(scratch, state, SLOT_SWITCH);
    if (cfg_events & (1 << PROBE_EVENT_CONTEXT_SWITCHES))
        count_sample(state->generation, SLOT_SWITCH);
    if (!(cfg_events & (1 << PROBE_EVENT_OFF_CPU)))
        return 0;
    u32 thread = bpf_get_current_pid_tgid();
    scratch->sample.head.event = PROBE_EVENT_OFF_CPU;
    scratch->off_cpu.left_nanos = bpf_ktime_get_ns();
    scratch->off_cpu.woken_nanos = 0;
    if (bpf_map_update_elem(&off_cpu_threads, &thread, &scratch->off_cpu, UPDATE_ANY))
        increment(COUNTER_LOST);
    return 0;
}

SEC("raw_tp/sched_wakeup")
int on_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
    u32 thread = thread_of((struct task_struct *)ctx->args[0]);
    struct off_cpu_thread *blocked = bpf_map_lookup_elem(&off_cpu_threads, &thread);
    if (blocked && !blocked->woken_nanos)
        blocked->woken_nanos = bpf_ktime_get_ns();
    return 0;
}
