/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * On every tick that interrupts the node: who runs, where, and by which Erlang calls it got there.
 * User space fetches ticks as they are, and of other events the distinct ones, counted, now and then.
 * native.h walks the C frames, erlang.h the Erlang stack above them.
 */
#include "erlang.h"
#include "native.h"
#include "ticks.h"

/* The span that is to be walked, and how its beginning was found. */
struct span {
    u64 sp;
    u64 hend;
};

/* In one reading, for a call of the kernel takes longer than to copy the words in between. */
ALWAYS_INLINE void read_process(struct scratch *scratch, u64 process)
{
    if (process &&
        bpf_probe_read_user(scratch->process, cfg_process_bytes, (const void *)process))
        __builtin_memset(scratch->process, 0, sizeof(scratch->process));
}

ALWAYS_INLINE u64 process_word(const struct scratch *scratch, u32 offset)
{
    return scratch->process[(offset / sizeof(u64)) & (PROCESS_WORDS - 1)];
}

ALWAYS_INLINE void find_stack(struct scratch *scratch, u64 kept_sp, struct span *span)
{
    struct sample *sample = &scratch->sample;
    u64 sp = scratch->regs.sp;
    u64 htop = process_word(scratch, cfg_off_htop);
    u64 hend = process_word(scratch, cfg_off_hend);
    u64 stack_size = hend - htop;
    u64 stop = process_word(scratch, cfg_off_stop);
    span->sp = stop;
    span->hend = hend;
    sample->origin = ORIGIN_SAVED;
    if (sample->leaf_in_jit && in_range(sp, htop, stack_size)) {
        span->sp = sp;
        sample->origin = ORIGIN_REGISTER;
    } else if (kept_sp && in_range(kept_sp, htop, stack_size)) {
        span->sp = kept_sp;
        sample->origin = ORIGIN_KEPT;
    } else if (stop != hend && !in_range(stop, htop, stack_size)) {
        /* The garbage collector has moved the stack but not yet told where the new heap ends. */
        span->hend = stop + CHUNKS * CHUNK_BYTES;
        sample->origin = ORIGIN_MOVED;
    }
}

/* JIT code calls some of its fragments so that the return address is not aligned, and then the walk
 * takes it for a term. It can only be the top of the stack. Calls of C that need the stack are never
 * made that way. */
ALWAYS_INLINE void take_fragment_call(struct sample *sample, u64 sp, const struct live *now)
{
    if (sample->origin != ORIGIN_REGISTER && sample->origin != ORIGIN_KEPT)
        return;
    u64 top = read_word(sp);
    if ((top & 3) && is_jit_code(top, now))
        sample->fragment_call = top;
}

ALWAYS_INLINE void take_snapshot(u64 process, u64 stack, u64 data)
{
    u32 zero = 0;
    u64 *wanted = bpf_map_lookup_elem(&snapshots_wanted, &zero);
    if (!wanted || *wanted == 0)
        return;
    u32 index = __sync_fetch_and_sub(wanted, 1) - 1;
    struct snapshot *snapshot = bpf_map_lookup_elem(&snapshots, &index);
    if (!snapshot)
        return;
    snapshot->process = process;
    snapshot->stack = stack;
    snapshot->scheduler_data = data;
    if (bpf_probe_read_user(snapshot->scheduler_words, sizeof(snapshot->scheduler_words),
                            (const void *)data))
        return;
    if (bpf_probe_read_user(snapshot->process_words, sizeof(snapshot->process_words),
                            (const void *)process))
        return;
    snapshot->valid = 1;
}

/* The process that runs on a scheduler, with its words in scratch, or 0. Where C was called from JIT
 * code, leaves in `kept_sp` what that code kept of its stack pointer. */
ALWAYS_INLINE u64 find_process(struct scratch *scratch, const struct scheduler *scheduler,
                               u64 *kept_sp, u32 slot)
{
    struct sample *sample = &scratch->sample;
    struct registers *regs = &scratch->regs;
    u64 process = read_word(scheduler->data + cfg_off_current_process);
    if (sample->leaf_in_jit) {
        *kept_sp = regs->saved[REG_KEPT_SP];
        if (process)
            bump(process == regs->saved[REG_PROCESS] ? COUNTER_JIT_AGREES : COUNTER_JIT_DISAGREES);
        read_process(scratch, process);
        return process;
    }
    read_process(scratch, process);
    unwind_native(scheduler->runs_jit ? read_word(scheduler->data + cfg_off_registers) : 0, slot);
    if (sample->native_outcome != NATIVE_JOINED)
        return process;
    sample->boundary = regs->ip;
    if (is_kept_in_register(regs->ip))
        *kept_sp = regs->saved[REG_KEPT_SP];
    /* A match specification runs under a process of its own, without heap; its caller is the one
     * that matters. */
    if (process && !process_word(scratch, cfg_off_hend)) {
        process = regs->saved[REG_PROCESS];
        read_process(scratch, process);
    }
    return process;
}

/* Which function C was called for. The VM notes it for BIFs that are called by name, for NIFs, and for
 * whatever a dirty scheduler runs; elsewhere the note is that of an earlier call. */
ALWAYS_INLINE void take_current(struct sample *sample, const struct scheduler *scheduler, u64 process)
{
    if (!cfg_off_current || !sample->native_count)
        return;
    u64 is_noted = scheduler->runs_jit ^ 1;
    for (u32 i = 0; i < 2; i++)
        is_noted |= in_range(sample->boundary, cfg_noting[i].start, cfg_noting[i].size);
    if (!is_noted)
        return;
    u64 current = read_word(process + cfg_off_current);
    if (bpf_probe_read_user(sample->current, sizeof(sample->current), (const void *)current))
        sample->current[0] = 0;
}

/* Where a process goes on that a scheduler takes in or out, or that a dirty scheduler works for. It left its
 * function without a return address on the stack. While it runs, this is where it went on the last time. */
ALWAYS_INLINE void take_resumption(struct sample *sample, const struct scheduler *scheduler, u64 process)
{
    u64 is_between = in_range(sample->boundary, cfg_scheduling.start, cfg_scheduling.size);
    if (cfg_off_resume && (is_between | (scheduler->runs_jit ^ 1)))
        sample->resumes_at = read_word(process + cfg_off_resume);
}

ALWAYS_INLINE void look_inside(struct scratch *scratch, const struct live *now, u32 slot)
{
    struct sample *sample = &scratch->sample;
    struct registers *regs = &scratch->regs;
    u32 tid = sample->tid;
    struct scheduler *scheduler = bpf_map_lookup_elem(&schedulers, &tid);
    if (!scheduler) {
        unwind_native(0, slot);
        return;
    }
    if (sample->mode == MODE_USER && sample->leaf_in_jit)
        take_snapshot(regs->saved[REG_PROCESS], regs->sp, scheduler->data);
    u64 kept_sp = 0;
    u64 process = find_process(scratch, scheduler, &kept_sp, slot);
    if (!process)
        return;
    sample->process = process_word(scratch, cfg_off_id);
    take_current(sample, scheduler, process);
    take_resumption(sample, scheduler, process);
    struct span span;
    find_stack(scratch, kept_sp, &span);
    take_fragment_call(sample, span.sp, now);
    sample->outcome = OUTCOME_COMPLETE;
    /* A process that exits has given up its stack. */
    if (span.sp != span.hend)
        walk_ends(scratch, span.sp, span.hend, slot);
    if (sample->origin == ORIGIN_MOVED && sample->outcome != OUTCOME_COMPLETE)
        sample->frame_count = 0;
}

ALWAYS_INLINE void mix(struct key *key, u64 word)
{
    key->hash_a = (key->hash_a ^ word) * 0x9e3779b97f4a7c15ULL;
    key->hash_a ^= key->hash_a >> 29;
    key->hash_b = (key->hash_b + word) * 0xc2b2ae3d27d4eb4fULL;
    key->hash_b ^= key->hash_b >> 31;
}

ALWAYS_INLINE void make_key(struct key *key, const struct sample *sample)
{
    mix(key, sample->process);
    mix(key, sample->leaf);
    mix(key, sample->boundary);
    mix(key, sample->fragment_call);
    mix(key, sample->resumes_at);
    for (u32 i = 0; i < CURRENT_WORDS; i++)
        mix(key, sample->current[i]);
    mix(key, (sample->event << 8) | sample->wait);
    mix(key, ((u64)sample->tid << 32) | (sample->mode << 24) | (sample->outcome << 16) |
                 (sample->origin << 8) | (sample->native_outcome << 4) | sample->leaf_in_jit);
    for (u32 i = 0; i < FRAME_SLOTS; i++) {
        if (i >= sample->frame_count)
            break;
        mix(key, sample->frames[i]);
    }
    mix(key, 1);
    for (u32 i = 0; i < FRAME_SLOTS; i++) {
        if (i >= sample->outer_count)
            break;
        mix(key, sample->frames[FRAME_SLOTS + i]);
    }
    mix(key, 2);
    for (u32 i = 0; i < NATIVE_FRAMES; i++) {
        if (i >= sample->native_count)
            break;
        mix(key, sample->native[i]);
    }
    mix(key, 3);
    for (u32 i = 0; i < KERNEL_FRAMES; i++) {
        if (i >= sample->kernel_count)
            break;
        mix(key, sample->kernel[i]);
    }
}

/* The step of time that it is, counted from the beginning of the generation. */
ALWAYS_INLINE u32 time_slot(const struct live *now)
{
    u64 nanos = bpf_ktime_get_ns();
    if (nanos <= now->generation_nanos)
        return 0;
    u64 slot = (nanos - now->generation_nanos) / TIME_STEP_NANOS;
    return slot < TIME_SLOTS ? slot : TIME_SLOTS - 1;
}

/* Counts this CPU's scratch sample. A global function for the reason given at walk_erlang. */
__attribute__((noinline)) int count_sample(u64 generation, u32 slot)
{
    struct scratch *scratch = scratch_of(slot);
    if (!scratch)
        return 0;
    struct sample *sample = &scratch->sample;
    struct key key = {.generation = generation};
    make_key(&key, sample);
    struct live *now = now_live();
    if (!now)
        return 0;
    u32 step = time_slot(now) & (TIME_SLOTS - 1);
    for (u32 i = 0; i < TIME_SLOTS; i++)
        sample->times[i] = 0;
    sample->times[step] = sample->weight;
    for (u32 attempt = 0; attempt < 2; attempt++) {
        struct sample *known = bpf_map_lookup_elem(&samples, &key);
        if (known) {
            __sync_fetch_and_add(&known->count, 1);
            __sync_fetch_and_add(&known->weight, sample->weight);
            __sync_fetch_and_add(&known->times[step], sample->weight);
            return 0;
        }
        if (bpf_map_update_elem(&samples, &key, sample, UPDATE_NOEXIST) == 0) {
            bump(COUNTER_NEW);
            return 0;
        }
        /* Another CPU may have made the same entry in between. */
    }
    bump(COUNTER_LOST);
    return 0;
}

ALWAYS_INLINE void take_kernel_stack(void *ctx, struct sample *sample)
{
    long bytes = bpf_get_stack(ctx, sample->kernel, sizeof(sample->kernel), STACK_SKIP_NONE);
    if (bytes > 0)
        sample->kernel_count = bytes / sizeof(u64);
    else
        bump(COUNTER_KERNEL_STACK_LOST);
}

/* Whether the current thread is one of the node's. Outside of containers its ids are those that the
 * kernel has at hand. */
ALWAYS_INLINE int is_ours(struct bpf_pidns_info *who)
{
    if (cfg_pidns_ino == INITIAL_PID_NAMESPACE) {
        u64 ids = bpf_get_current_pid_tgid();
        who->pid = ids;
        who->tgid = ids >> 32;
        return who->tgid == cfg_tgid;
    }
    return bpf_get_ns_current_pid_tgid(cfg_pidns_dev, cfg_pidns_ino, who, sizeof(*who)) == 0 &&
           who->tgid == cfg_tgid;
}

ALWAYS_INLINE void begin_sample(struct sample *sample, u32 tid, u8 event, u8 mode)
{
    sample->count = 1;
    sample->weight = 1;
    sample->tid = tid;
    sample->event = event;
    sample->wait = WAIT_NONE;
    sample->mode = mode;
    sample->process = 0;
    sample->boundary = 0;
    sample->fragment_call = 0;
    sample->resumes_at = 0;
    for (u32 i = 0; i < CURRENT_WORDS; i++)
        sample->current[i] = 0;
    sample->outcome = OUTCOME_NO_PROCESS;
    sample->origin = ORIGIN_NONE;
    sample->frame_count = 0;
    sample->outer_count = 0;
    sample->kernel_count = 0;
    sample->native_count = 0;
    sample->native_outcome = NATIVE_NONE;
}

ALWAYS_INLINE void read_user_registers(struct registers *regs)
{
    struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
    READ_REGISTERS(regs, user);
}

ALWAYS_INLINE void finish_sample(struct scratch *scratch, const struct live *now, u32 slot)
{
    struct sample *sample = &scratch->sample;
    sample->leaf = scratch->regs.ip;
    sample->leaf_in_jit = is_jit_code(sample->leaf, now);
    look_inside(scratch, now, slot);
}

ALWAYS_INLINE int on_perf_event(struct bpf_perf_event_data *ctx, u8 event)
{
    struct bpf_pidns_info who;
    if (!is_ours(&who))
        return 0;
    struct scratch *scratch = scratch_of(SLOT_PERF);
    struct live *now = now_live();
    if (!scratch || !now)
        return 0;
    bump(COUNTER_TICKS);
    struct registers *regs = &scratch->regs;
    if (IS_USER_MODE(&ctx->regs)) {
        begin_sample(&scratch->sample, who.pid, event, MODE_USER);
        READ_REGISTERS(regs, &ctx->regs);
    } else {
        begin_sample(&scratch->sample, who.pid, event, MODE_KERNEL);
        read_user_registers(regs);
        take_kernel_stack(ctx, &scratch->sample);
    }
    finish_sample(scratch, now, SLOT_PERF);
    if (event == EVENT_CPU)
        send_tick(SLOT_PERF);
    else
        count_sample(now->generation, SLOT_PERF);
    return 0;
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
    return on_perf_event(ctx, EVENT_CPU);
}

SEC("perf_event")
int on_page_fault(struct bpf_perf_event_data *ctx)
{
    return on_perf_event(ctx, EVENT_PAGE_FAULTS);
}

#include "waits.h"
#include "memory.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
