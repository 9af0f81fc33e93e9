/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Takes a sample of the interrupted thread: process, instruction, kernel stack, C frames (native.h) and Erlang
 * stack (erlang.h). Ticks are sent one by one (ticks.h). Samples of other events are counted in a map. waits.h and
 * memory.h have the programs of the events at tracepoints.
 */
#include "erlang.h"
#include "native.h"
#include "ticks.h"

/* The part of the Erlang stack to walk. */
struct span {
    u64 sp;
    u64 hend;
};

/* Reads all needed fields in one call: a helper call takes longer than copying the words in between. */
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
    struct raw_sample *sample = &scratch->sample;
    u64 sp = ERLANG_SP(&scratch->regs);
    u64 htop = process_word(scratch, cfg_off_htop);
    u64 hend = process_word(scratch, cfg_off_hend);
    u64 stack_size = hend - htop;
    u64 stop = process_word(scratch, cfg_off_stop);
    span->sp = stop;
    span->hend = hend;
    sample->head.origin = STACK_ORIGIN_SAVED;
    if (sample->head.ip_in_jit && in_range(sp, htop, stack_size)) {
        span->sp = sp;
        sample->head.origin = STACK_ORIGIN_REGISTER;
    } else if (kept_sp && in_range(kept_sp, htop, stack_size)) {
        span->sp = kept_sp;
        sample->head.origin = STACK_ORIGIN_KEPT_REGISTER;
    } else if (stop != hend && !in_range(stop, htop, stack_size)) {
        /* The garbage collector has moved the stack but not yet stored the end of the new heap. */
        span->hend = stop + CHUNKS * CHUNK_BYTES;
        sample->head.origin = STACK_ORIGIN_MOVED_HEAP;
    }
}

/* Counterpart of fragment_call for a fragment that saves a frame pointer after its return address. Such a node
 * keeps `stop` up to date in all calls of C. */
ALWAYS_INLINE u64 fragment_call_below_pointer(const struct span *span)
{
    u64 top = read_word(span->sp);
    if (in_range(top, span->sp, span->hend - span->sp))
        top = read_word(span->sp + sizeof(u64));
    return (top & 3) ? top : 0;
}

ALWAYS_INLINE void take_fragment_call(struct scratch *scratch, const struct span *span,
                                      const struct scheduler *scheduler,
                                      const struct recording_state *state)
{
    struct raw_sample *sample = &scratch->sample;
    u64 registers = 0;
    if (FRAGMENT_CALL_NEEDS_REGISTERS)
        registers = read_word(scheduler->data + cfg_off_registers);
    u64 address = state->jit.has_frame_pointers
                      ? fragment_call_below_pointer(span)
                      : fragment_call(&sample->head, &scratch->regs, span->sp, registers);
    if (address && is_jit_code(address, state))
        sample->head.fragment_call = address;
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

/* The process that runs on a scheduler, or 0, with its words in scratch. If JIT code called C and keeps its
 * stack pointer in a register, `kept_sp` receives it. */
ALWAYS_INLINE u64 find_process(struct scratch *scratch, const struct scheduler *scheduler,
                               u64 *kept_sp, u32 slot)
{
    struct raw_sample *sample = &scratch->sample;
    struct registers *regs = &scratch->regs;
    u64 process = read_word(scheduler->data + cfg_off_current_process);
    if (sample->head.ip_in_jit) {
        *kept_sp = regs->saved[REG_KEPT_SP];
        if (process)
            increment(process == regs->saved[REG_PROCESS] ? COUNTER_JIT_AGREES : COUNTER_JIT_DISAGREES);
        read_process(scratch, process);
        return process;
    }
    read_process(scratch, process);
    unwind_native(scheduler->runs_jit ? read_word(scheduler->data + cfg_off_registers) : 0, slot);
    if (sample->head.native_outcome != NATIVE_OUTCOME_REACHED_JIT)
        return process;
    sample->head.jit_return = regs->ip;
    if (is_kept_in_register(regs->ip))
        *kept_sp = regs->saved[REG_KEPT_SP];
    /* A match specification runs as a pseudo-process without a heap: take its caller instead. */
    if (process && !process_word(scratch, cfg_off_hend)) {
        process = regs->saved[REG_PROCESS];
        read_process(scratch, process);
    }
    return process;
}

/* 1 if a dirty scheduler calls a NIF or BIF for the process, 0 if it collects the process's garbage. */
ALWAYS_INLINE u64 is_native_call(u64 process)
{
    if (!cfg_off_resume)
        return 0;
    u64 mark = read_word(read_word(process + cfg_off_resume));
    return mark && (mark == cfg_native_calls[0] || mark == cfg_native_calls[1]);
}

/* Stores the function for which C was called. The VM sets Process.current for BIFs called by name, for NIFs and
 * for calls on dirty schedulers; elsewhere the field is left from an earlier call. For NIFs beam_jit_call_nif
 * sets it some instructions after its beginning. Until it has called a function itself, the field may belong to
 * another call. */
ALWAYS_INLINE void take_current(struct raw_sample *sample, const struct scheduler *scheduler, u64 process)
{
    if (!cfg_off_current || !sample->head.native_count)
        return;
    u64 is_set = scheduler->runs_jit ? 0 : is_native_call(process);
    for (u32 i = 0; i < 2; i++)
        is_set |= in_range(sample->head.jit_return, cfg_bif_calls[i].start, cfg_bif_calls[i].size);
    if (!is_set)
        return;
    u64 current = read_word(process + cfg_off_current);
    if (bpf_probe_read_user(sample->head.current, sizeof(sample->head.current), (const void *)current))
        sample->head.current[0] = 0;
}

/* Stores the address at which a process will continue that is being scheduled in or out or runs on a dirty
 * scheduler. Such a process left its function without a return address on the stack. While a process runs, the
 * field has the address of its last resumption. */
ALWAYS_INLINE void take_resumption(struct raw_sample *sample, const struct scheduler *scheduler, u64 process)
{
    u64 is_between = in_range(sample->head.jit_return, cfg_schedule.start, cfg_schedule.size);
    if (cfg_off_resume && (is_between | (scheduler->runs_jit ^ 1)))
        sample->head.resumes_at = read_word(process + cfg_off_resume);
}

ALWAYS_INLINE void walk_stacks(struct scratch *scratch, const struct recording_state *state, u32 slot)
{
    struct raw_sample *sample = &scratch->sample;
    struct registers *regs = &scratch->regs;
    u32 tid = sample->head.tid;
    struct scheduler *scheduler = bpf_map_lookup_elem(&schedulers, &tid);
    if (!scheduler) {
        unwind_native(0, slot);
        return;
    }
    if (sample->head.mode == CPU_MODE_USER && sample->head.ip_in_jit)
        take_snapshot(regs->saved[REG_PROCESS], ERLANG_SP(regs), scheduler->data);
    u64 kept_sp = 0;
    u64 process = find_process(scratch, scheduler, &kept_sp, slot);
    if (!process)
        return;
    /* With frame pointers the register holds one. */
    if (state->jit.has_frame_pointers)
        kept_sp = 0;
    sample->head.process = process_word(scratch, cfg_off_id);
    take_current(sample, scheduler, process);
    take_resumption(sample, scheduler, process);
    struct span span;
    find_stack(scratch, kept_sp, &span);
    take_fragment_call(scratch, &span, scheduler, state);
    sample->head.erlang_outcome = ERLANG_OUTCOME_COMPLETE;
    /* An exiting process has freed its stack. */
    if (span.sp != span.hend)
        walk_ends(scratch, span.sp, span.hend, slot);
    if (sample->head.origin == STACK_ORIGIN_MOVED_HEAP && sample->head.erlang_outcome != ERLANG_OUTCOME_COMPLETE)
        sample->head.frame_count = 0;
}

ALWAYS_INLINE void mix(struct sample_key *key, u64 word)
{
    key->hash_a = (key->hash_a ^ word) * 0x9e3779b97f4a7c15ULL;
    key->hash_a ^= key->hash_a >> 29;
    key->hash_b = (key->hash_b + word) * 0xc2b2ae3d27d4eb4fULL;
    key->hash_b ^= key->hash_b >> 31;
}

ALWAYS_INLINE void make_key(struct sample_key *key, const struct raw_sample *sample)
{
    mix(key, sample->head.process);
    mix(key, sample->head.ip);
    mix(key, sample->head.jit_return);
    mix(key, sample->head.fragment_call);
    mix(key, sample->head.resumes_at);
    for (u32 i = 0; i < CURRENT_WORDS; i++)
        mix(key, sample->head.current[i]);
    mix(key, (sample->head.event << 8) | sample->head.wait);
    mix(key, ((u64)sample->head.tid << 32) | (sample->head.mode << 24) | (sample->head.erlang_outcome << 16) |
                 (sample->head.origin << 8) | (sample->head.native_outcome << 4) | sample->head.ip_in_jit);
    for (u32 i = 0; i < FRAME_SLOTS; i++) {
        if (i >= sample->head.frame_count)
            break;
        mix(key, sample->frames[i]);
    }
    mix(key, 1);
    for (u32 i = 0; i < FRAME_SLOTS; i++) {
        if (i >= sample->head.outer_count)
            break;
        mix(key, sample->frames[FRAME_SLOTS + i]);
    }
    mix(key, 2);
    for (u32 i = 0; i < NATIVE_FRAMES; i++) {
        if (i >= sample->head.native_count)
            break;
        mix(key, sample->native[i]);
    }
    mix(key, 3);
    for (u32 i = 0; i < KERNEL_FRAMES; i++) {
        if (i >= sample->head.kernel_count)
            break;
        mix(key, sample->kernel[i]);
    }
}

/* The current time step, counted from the beginning of the generation. */
ALWAYS_INLINE u32 time_slot(const struct recording_state *state)
{
    u64 nanos = bpf_ktime_get_ns();
    if (nanos <= state->generation_nanos)
        return 0;
    u64 slot = (nanos - state->generation_nanos) / TIME_STEP_NANOS;
    return slot < TIME_SLOTS ? slot : TIME_SLOTS - 1;
}

/* Counts this CPU's scratch sample in the map. A global function for the reason given at walk_erlang. */
__attribute__((noinline)) int count_sample(u64 generation, u32 slot)
{
    struct scratch *scratch = scratch_of(slot);
    if (!scratch)
        return 0;
    struct raw_sample *sample = &scratch->sample;
    struct sample_key key = {.generation = generation};
    make_key(&key, sample);
    struct recording_state *state = current_state();
    if (!state)
        return 0;
    u32 step = time_slot(state) & (TIME_SLOTS - 1);
    for (u32 i = 0; i < TIME_SLOTS; i++)
        sample->times[i] = 0;
    sample->times[step] = sample->head.weight;
    for (u32 attempt = 0; attempt < 2; attempt++) {
        struct raw_sample *known = bpf_map_lookup_elem(&samples, &key);
        if (known) {
            __sync_fetch_and_add(&known->head.count, 1);
            __sync_fetch_and_add(&known->head.weight, sample->head.weight);
            __sync_fetch_and_add(&known->times[step], sample->head.weight);
            return 0;
        }
        if (bpf_map_update_elem(&samples, &key, sample, UPDATE_NOEXIST) == 0) {
            increment(COUNTER_NEW);
            return 0;
        }
        /* Another CPU may have made the same entry in between. */
    }
    increment(COUNTER_LOST);
    return 0;
}

ALWAYS_INLINE void take_kernel_stack(void *ctx, struct raw_sample *sample)
{
    long bytes = bpf_get_stack(ctx, sample->kernel, sizeof(sample->kernel), STACK_SKIP_NONE);
    if (bytes > 0)
        sample->head.kernel_count = bytes / sizeof(u64);
    else
        increment(COUNTER_KERNEL_STACK_LOST);
}

ALWAYS_INLINE void begin_sample(struct raw_sample *sample, u32 tid, u8 event, u8 mode)
{
    sample->head.count = 1;
    sample->head.weight = 1;
    sample->head.tid = tid;
    sample->head.event = event;
    sample->head.wait = WAIT_STATE_NONE;
    sample->head.mode = mode;
    sample->head.process = 0;
    sample->head.jit_return = 0;
    sample->head.fragment_call = 0;
    sample->head.resumes_at = 0;
    for (u32 i = 0; i < CURRENT_WORDS; i++)
        sample->head.current[i] = 0;
    sample->head.erlang_outcome = ERLANG_OUTCOME_NO_PROCESS;
    sample->head.origin = STACK_ORIGIN_NONE;
    sample->head.frame_count = 0;
    sample->head.outer_count = 0;
    sample->head.kernel_count = 0;
    sample->head.native_count = 0;
    sample->head.native_outcome = NATIVE_OUTCOME_NONE;
}

ALWAYS_INLINE void read_user_registers(struct registers *regs)
{
    struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
    READ_REGISTERS(regs, user);
}

ALWAYS_INLINE void finish_sample(struct scratch *scratch, const struct recording_state *state, u32 slot)
{
    struct raw_sample *sample = &scratch->sample;
    sample->head.ip = scratch->regs.ip;
    sample->head.ip_in_jit = is_jit_code(sample->head.ip, state);
    walk_stacks(scratch, state, slot);
}

ALWAYS_INLINE int on_perf_event(struct bpf_perf_event_data *ctx, u8 event)
{
    struct bpf_pidns_info ids;
    if (!is_observed(&ids))
        return 0;
    struct scratch *scratch = scratch_of(SLOT_PERF);
    struct recording_state *state = current_state();
    if (!scratch || !state)
        return 0;
    increment(COUNTER_TICKS);
    struct registers *regs = &scratch->regs;
    if (IS_USER_MODE(&ctx->regs)) {
        begin_sample(&scratch->sample, ids.pid, event, CPU_MODE_USER);
        READ_REGISTERS(regs, &ctx->regs);
    } else {
        begin_sample(&scratch->sample, ids.pid, event, CPU_MODE_KERNEL);
        read_user_registers(regs);
        take_kernel_stack(ctx, &scratch->sample);
    }
    finish_sample(scratch, state, SLOT_PERF);
    if (event == PROBE_EVENT_CPU)
        send_tick(SLOT_PERF);
    else
        count_sample(state->generation, SLOT_PERF);
    return 0;
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
    return on_perf_event(ctx, PROBE_EVENT_CPU);
}

SEC("perf_event")
int on_page_fault(struct bpf_perf_event_data *ctx)
{
    return on_perf_event(ctx, PROBE_EVENT_PAGE_FAULTS);
}

#include "waits.h"
#include "memory.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
