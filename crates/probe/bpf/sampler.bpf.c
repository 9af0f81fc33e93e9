/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * On every tick that interrupts the node: who runs, where, and by which Erlang calls it got there.
 * Equal stacks are counted here; user space fetches the distinct ones now and then.
 *
 * The Erlang stack needs no frame pointers: the only words on it whose low two bits are 00 and
 * which point into JIT code are return addresses, as every Erlang term carries a tag. The walk
 * reads words upwards from the stack pointer and keeps those, until it meets the address to which
 * a process returns when its first function ends.
 *
 * The inner loop has no branches. The verifier follows every path through every iteration, so each
 * branch there would multiply its work by thousands.
 */
#include "sampler.h"
#include "arch.h"

/* Filled in by the loader before the program is verified. */
volatile const u64 cfg_pidns_dev = 0;
volatile const u64 cfg_pidns_ino = 0;
volatile const u32 cfg_tgid = 0;
volatile const u32 cfg_off_registers = 0;
volatile const u32 cfg_off_current_process = 0;
volatile const u32 cfg_off_id = 0;
volatile const u32 cfg_off_htop = 0;
volatile const u32 cfg_off_stop = 0;
volatile const u32 cfg_off_hend = 0;
volatile const u32 cfg_registers_bias = 0;
volatile const u64 cfg_normal_exit = 0;

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct live);
} live SEC(".maps");

struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 1024);
    TYPE(key, u32);
    TYPE(value, struct scheduler);
} schedulers SEC(".maps");

struct {
    UINT(type, MAP_HASH);
    UINT(max_entries, 2048);
    TYPE(key, struct key);
    TYPE(value, struct sample);
} samples SEC(".maps");

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, COUNTERS);
    TYPE(key, u32);
    TYPE(value, u64);
} counters SEC(".maps");

/* Snapshots still wanted; counts down to 0. */
struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, u64);
} snapshots_wanted SEC(".maps");

struct {
    UINT(type, MAP_ARRAY);
    UINT(max_entries, SNAPSHOTS);
    TYPE(key, u32);
    TYPE(value, struct snapshot);
} snapshots SEC(".maps");

/* Registers that belong to the JIT code which called into C. */
struct kept {
    u64 sp;
    u64 process;
};

struct scratch {
    struct sample sample;
    struct kept kept;
    /* How the last walk ended, how many frames it found and how far it came. */
    u8 walk_outcome;
    u16 walk_count;
    u64 walk_end;
    u64 pushed[PUSHED_WORDS];
    u64 words[2 * CHUNK_WORDS]; /* see chunk_bytes */
};

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, 1);
    TYPE(key, u32);
    TYPE(value, struct scratch);
} scratches SEC(".maps");

ALWAYS_INLINE void bump(u32 counter)
{
    u64 *value = bpf_map_lookup_elem(&counters, &counter);
    if (value)
        *value += 1;
}

ALWAYS_INLINE u64 read_word(u64 address)
{
    u64 word = 0;
    bpf_probe_read_user(&word, sizeof(word), (const void *)address);
    return word;
}

/* Hides a value's origin from the optimiser, which would turn masks back into branches. */
#define OPAQUE(x) asm volatile("" : "+r"(x))

/* 1 when the two differ, else 0, without a branch. */
ALWAYS_INLINE u64 differ(u64 a, u64 b)
{
    u64 bits = a ^ b;
    u64 negated = -bits;
    OPAQUE(negated);
    return (bits | negated) >> 63;
}

/* 1 or 0 without a branch; correct for user-space ranges (below 2^63). */
ALWAYS_INLINE u64 in_range(u64 value, u64 start, u64 size)
{
    u64 offset = value - start;
    return (~offset & (offset - size)) >> 63;
}

ALWAYS_INLINE u8 is_jit_code(u64 address, const struct live *now)
{
    u64 found = 0;
    for (u32 i = 0; i < JIT_SEGMENTS; i++)
        found |= in_range(address, now->segments[i].start, now->segments[i].size);
    return found;
}

struct walk {
    u64 count;  /* frames so far */
    u64 last;   /* previous return address */
    u64 alive;  /* 1 until the root was met */
};

ALWAYS_INLINE void take_word(struct walk *walk, u64 *frames, u64 word, u64 start, u64 size)
{
    u64 tag = word & 3;
    u64 is_return = ((tag - 1) >> 63) & in_range(word, start, size) & walk->alive;
    u64 is_root = (differ(word, cfg_normal_exit) ^ 1) & is_return;
    u64 is_new = differ(word, walk->last);
    is_return &= is_root ^ 1;
    is_new &= is_return;
    OPAQUE(is_new);
    walk->alive &= is_root ^ 1;
    walk->count += is_new;
    u64 slot = (walk->count - 1) & (FRAME_SLOTS - 1);
    u64 keep = is_new - 1; /* all ones unless new */
    frames[slot] = (word & ~keep) | ((frames[slot] + ((is_return & keep & 1) << REPEAT_SHIFT)) & keep);
    u64 take = -is_return;
    OPAQUE(take);
    walk->last = (word & take) | (walk->last & ~take);
}

#define CHUNK_BYTES (CHUNK_WORDS * sizeof(u64))

/* The smaller of `left` and a chunk. Without a branch, and with a mask that shows the verifier a
 * limit, for which the buffer is twice as large as what is read into it. */
ALWAYS_INLINE u32 chunk_bytes(u64 left)
{
    u64 short_of = -((left - CHUNK_BYTES) >> 63);
    OPAQUE(short_of);
    return ((left & short_of) | (CHUNK_BYTES & ~short_of)) & (2 * CHUNK_BYTES - 1);
}

/* Walks the stack between `sp` and `hend` into the frames of this CPU's scratch sample, from index
 * `base`, which is 0 or FRAME_SLOTS. Leaves in scratch what came of it.
 *
 * A global function, because the verifier checks such a function once and on its own, instead of
 * once for every way in which its caller can get here. */
__attribute__((noinline)) int walk_erlang(u64 sp, u64 hend, u32 base)
{
    u32 zero = 0;
    struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
    struct live *now = bpf_map_lookup_elem(&live, &zero);
    if (!scratch || !now)
        return 0;
    struct walk walk = {.count = 0, .last = 0, .alive = 1};
    u64 *frames = scratch->sample.frames + (base & FRAME_SLOTS);
    u64 start = now->envelope.start, size = now->envelope.size;
    u8 outcome = OUTCOME_TRUNCATED;

    for (u32 chunk = 0; chunk < CHUNKS; chunk++) {
        if (sp >= hend) {
            outcome = OUTCOME_NO_ROOT;
            break;
        }
        if (bpf_probe_read_user(scratch->words, chunk_bytes(hend - sp), (const void *)sp)) {
            outcome = OUTCOME_UNREADABLE;
            break;
        }
        for (u32 i = 0; i < CHUNK_WORDS; i++)
            take_word(&walk, frames, scratch->words[i], start, size);
        sp += CHUNK_BYTES;
        if (!walk.alive) {
            outcome = OUTCOME_COMPLETE;
            break;
        }
        if (walk.count > FRAME_LIMIT)
            break;
    }
    scratch->walk_outcome = outcome;
    scratch->walk_count = walk.count;
    scratch->walk_end = sp;
    return 0;
}

/* Walks the whole stack, or its two ends when it is too long. */
ALWAYS_INLINE void walk_ends(struct scratch *scratch, u64 sp, u64 hend)
{
    struct sample *sample = &scratch->sample;
    walk_erlang(sp, hend, 0);
    sample->outcome = scratch->walk_outcome;
    sample->frame_count = scratch->walk_count;
    if (sample->outcome != OUTCOME_TRUNCATED)
        return;
    u64 outer = hend - OUTER_WORDS * sizeof(u64);
    if (outer < scratch->walk_end)
        outer = scratch->walk_end;
    walk_erlang(outer, hend, FRAME_SLOTS);
    if (scratch->walk_outcome == OUTCOME_COMPLETE)
        sample->outer_count = scratch->walk_count;
}

/* Finds what two registers held when JIT code called into C, see arch.h. What the first C function
 * did not push there is most likely still in its register. */
__attribute__((noinline)) int find_kept(u64 jit_registers, u64 sp, u64 process)
{
    u32 zero = 0;
    struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
    if (!scratch)
        return 0;
    u64 *pushed = scratch->pushed; /* ascending addresses: the first push is the last element */
    u64 below_boundary = jit_registers - sizeof(u64) - sizeof(scratch->pushed);
    if (bpf_probe_read_user(pushed, sizeof(scratch->pushed), (const void *)below_boundary))
        return 0;
    for (u32 i = 2; i < PUSHED_WORDS; i++) {
        if (pushed[i] != jit_registers + cfg_registers_bias)
            continue;
        if (i + KEPT_SP_AFTER < PUSHED_WORDS)
            sp = pushed[i + KEPT_SP_AFTER];
        if (i + KEPT_PROCESS_AFTER < PUSHED_WORDS)
            process = pushed[i + KEPT_PROCESS_AFTER];
        break;
    }
    scratch->kept.sp = sp;
    scratch->kept.process = process;
    return 0;
}

/* Whether the JIT code that called C kept its stack pointer in a register instead of storing it in
 * the process, so that what the process says is out of date. */
__attribute__((noinline)) int is_kept_in_register(u64 boundary)
{
    u8 code[RESUME_BYTES] = {};
    bpf_probe_read_user(code, sizeof(code), (const void *)boundary);
    for (u32 i = 0; i + 3 <= sizeof(code); i++) {
        if (resumes_from_register(code + i))
            return 1;
        if (resumes_from_process(code + i))
            return 0;
    }
    return 0;
}

/* The span that is to be walked, and how its beginning was found. */
struct span {
    u64 sp;
    u64 hend;
};

ALWAYS_INLINE void find_stack(struct sample *sample, const struct registers *regs, u64 process,
                              u64 kept_sp, struct span *span)
{
    u64 htop = read_word(process + cfg_off_htop);
    u64 hend = read_word(process + cfg_off_hend);
    u64 stack_size = hend - htop;
    u64 stop = read_word(process + cfg_off_stop);
    span->sp = stop;
    span->hend = hend;
    sample->origin = ORIGIN_SAVED;
    if (sample->leaf_in_jit && sample->mode == MODE_USER && in_range(regs->sp, htop, stack_size)) {
        span->sp = regs->sp;
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

ALWAYS_INLINE void look_inside(struct scratch *scratch, const struct registers *regs,
                               const struct live *now)
{
    struct sample *sample = &scratch->sample;
    u32 tid = sample->tid;
    struct scheduler *scheduler = bpf_map_lookup_elem(&schedulers, &tid);
    if (!scheduler)
        return;
    u64 data = scheduler->data;
    if (sample->mode == MODE_USER && sample->leaf_in_jit)
        take_snapshot(regs->process, regs->sp, data);
    u64 process = read_word(data + cfg_off_current_process);
    if (!process)
        return;
    u64 registers = read_word(data + cfg_off_registers);
    if (sample->leaf_in_jit)
        bump(process == regs->process ? COUNTER_JIT_AGREES : COUNTER_JIT_DISAGREES);
    else if (scheduler->runs_jit)
        sample->boundary = read_word(registers - sizeof(u64));
    u64 kept_sp = sample->leaf_in_jit ? regs->kept_sp : 0;
    if (sample->boundary) {
        find_kept(registers, regs->kept_sp, regs->process);
        /* A match specification runs under a process of its own, without heap; its caller is
         * the one that matters. */
        if (!read_word(process + cfg_off_hend))
            process = scratch->kept.process;
        if (is_kept_in_register(sample->boundary))
            kept_sp = scratch->kept.sp;
    }
    sample->process = read_word(process + cfg_off_id);
    struct span span;
    find_stack(sample, regs, process, kept_sp, &span);
    sample->outcome = OUTCOME_COMPLETE;
    /* A process that exits has given up its stack. */
    if (span.sp != span.hend)
        walk_ends(scratch, span.sp, span.hend);
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
    mix(key, ((u64)sample->tid << 32) | (sample->mode << 24) | (sample->outcome << 16) |
                 (sample->origin << 8) | sample->leaf_in_jit);
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
    for (u32 i = 0; i < KERNEL_FRAMES; i++) {
        if (i >= sample->kernel_count)
            break;
        mix(key, sample->kernel[i]);
    }
}

/* Counts this CPU's scratch sample. A global function for the reason given at walk_erlang. */
__attribute__((noinline)) int count_sample(u64 generation)
{
    u32 zero = 0;
    struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
    if (!scratch)
        return 0;
    struct sample *sample = &scratch->sample;
    struct key key = {.generation = generation};
    make_key(&key, sample);
    struct sample *known = bpf_map_lookup_elem(&samples, &key);
    if (known) {
        __sync_fetch_and_add(&known->count, 1);
        return 0;
    }
    sample->count = 1;
    if (bpf_map_update_elem(&samples, &key, sample, UPDATE_NOEXIST) == 0) {
        bump(COUNTER_NEW);
        return 0;
    }
    /* Another CPU may have made the same entry in between. */
    known = bpf_map_lookup_elem(&samples, &key);
    if (known)
        __sync_fetch_and_add(&known->count, 1);
    else
        bump(COUNTER_LOST);
    return 0;
}

ALWAYS_INLINE void take_kernel_stack(struct bpf_perf_event_data *ctx, struct sample *sample)
{
    long bytes = bpf_get_stack(ctx, sample->kernel, sizeof(sample->kernel), STACK_SKIP_NONE);
    if (bytes > 0)
        sample->kernel_count = bytes / sizeof(u64);
    else
        bump(COUNTER_KERNEL_STACK_LOST);
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
    struct bpf_pidns_info who;
    if (bpf_get_ns_current_pid_tgid(cfg_pidns_dev, cfg_pidns_ino, &who, sizeof(who)))
        return 0;
    if (who.tgid != cfg_tgid)
        return 0;

    u32 zero = 0;
    struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
    struct live *now = bpf_map_lookup_elem(&live, &zero);
    if (!scratch || !now)
        return 0;
    bump(COUNTER_TICKS);

    struct sample *sample = &scratch->sample;
    struct registers regs;
    sample->tid = who.pid;
    sample->process = 0;
    sample->boundary = 0;
    sample->outcome = OUTCOME_NO_PROCESS;
    sample->origin = ORIGIN_NONE;
    sample->frame_count = 0;
    sample->outer_count = 0;
    sample->kernel_count = 0;
    if (IS_USER_MODE(&ctx->regs)) {
        sample->mode = MODE_USER;
        READ_REGISTERS(regs, &ctx->regs);
    } else {
        struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
        sample->mode = MODE_KERNEL;
        READ_REGISTERS(regs, user);
        take_kernel_stack(ctx, sample);
    }
    sample->leaf = regs.ip;
    sample->leaf_in_jit = is_jit_code(regs.ip, now);
    look_inside(scratch, &regs, now);
    count_sample(now->generation);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
