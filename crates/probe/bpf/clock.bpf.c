/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * One clock for all observed nodes. A tick finds the process of the interrupted thread and continues in that node's
 * program `on_tick` (sampler.bpf.c), which has the node's layout as constants. User space adds and removes nodes by
 * changing two maps, without touching the clock.
 */
#include "interface.h"

struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, MAX_OBSERVED_NODES);
    TYPE(key, struct observed_process);
    TYPE(value, u32);
} observed_nodes SEC(".maps");

struct {
    UINT(type, MAP_PROG_ARRAY);
    UINT(max_entries, MAX_OBSERVED_NODES);
    TYPE(key, u32);
    TYPE(value, u32);
} node_programs SEC(".maps");

/* 1 where user space sees the pids of the initial pid namespace; set by the loader. */
volatile const u32 cfg_has_initial_pids = 0;

/* Finds the process of the running thread, by the ids of its innermost pid namespace: a container has its own.
 * The id of a thread group is that of its first thread. With the pids of the initial namespace nothing has to be
 * read. */
ALWAYS_INLINE int running_process(struct observed_process *found)
{
    if (cfg_has_initial_pids) {
        found->pid_namespace = INITIAL_PID_NAMESPACE;
        found->tgid = bpf_get_current_pid_tgid() >> 32;
        return 1;
    }
    struct task_struct *task = bpf_get_current_task_btf(), *leader = 0;
    struct pid *pid = 0;
    struct upid id = {};
    struct pid_namespace *namespace = 0;
    u32 level = 0;
    bpf_probe_read_kernel(&leader, sizeof(leader), &task->group_leader);
    bpf_probe_read_kernel(&pid, sizeof(pid), &leader->thread_pid);
    if (!pid || bpf_probe_read_kernel(&level, sizeof(level), &pid->level))
        return 0;
    if (bpf_probe_read_kernel(&id, sizeof(id), (const char *)&pid->numbers + level * sizeof(id)))
        return 0;
    namespace = id.ns;
    found->tgid = id.nr;
    return bpf_probe_read_kernel(&found->pid_namespace, sizeof(found->pid_namespace), &namespace->ns.inum) == 0;
}

SEC("perf_event")
int on_clock(void *ctx)
{
    struct observed_process process = {};
    if (!running_process(&process))
        return 0;
    u32 *node = bpf_map_lookup_elem(&observed_nodes, &process);
    if (node)
        bpf_tail_call(ctx, &node_programs, *node);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
