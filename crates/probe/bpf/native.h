/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Walks the C frames from the interrupted function up to the call from JIT code or to the first function
 * of the thread. The compiler's unwind tables give for each instruction the end of the function's frame
 * and the places of the saved registers.
 *
 * The walk restores the callee-saved registers. At the call from JIT code they have the values that JIT
 * code left, including the Erlang stack pointer and the current process.
 */
#pragma once
#include "maps.h"

#define U32_MAX 0xffffffffULL

enum step { STEP_GO, STEP_END, STEP_CUT };

/* `a` if `yes` is 1, `b` if it is 0. Without a branch, see erlang.h. */
ALWAYS_INLINE u64 choose(u64 yes, u64 a, u64 b)
{
    u64 mask = -yes;
    OPAQUE(mask);
    return (a & mask) | (b & ~mask);
}

/* 1 if a <= b, for numbers below 2^63. */
ALWAYS_INLINE u64 at_most(u64 a, u64 b)
{
    return ((b - a) >> 63) ^ 1;
}

ALWAYS_INLINE int is_in_module(u64 pc, const struct unwind_module *module)
{
    return pc >= module->start && pc < module->end;
}

/* Finds the module of an instruction. Starts with the module of the last search, because most C frames are the
 * emulator's. */
ALWAYS_INLINE struct unwind_module *find_module(u64 pc, u64 version, struct scratch *scratch)
{
    u32 list = version & 1;
    struct unwind_modules *all = bpf_map_lookup_elem(&unwind_modules, &list);
    if (!all)
        return 0;
    struct unwind_module *last = &all->list[scratch->last_module & (MAX_UNWIND_MODULES - 1)];
    if (is_in_module(pc, last))
        return last;
    u64 at = 0;
    for (u64 step = MAX_UNWIND_MODULES / 2; step; step >>= 1) {
        u64 next = at + step;
        /* Keeps the compiler from omitting the mask: it knows the limits of `at`, but Linux 6.1 does not. */
        OPAQUE(next);
        next &= MAX_UNWIND_MODULES - 1;
        at = choose(at_most(all->list[next].start, pc), next, at);
    }
    OPAQUE(at);
    scratch->last_module = at;
    struct unwind_module *module = &all->list[at & (MAX_UNWIND_MODULES - 1)];
    return is_in_module(pc, module) ? module : 0;
}

ALWAYS_INLINE struct unwind_row *row_at(u64 index)
{
    u32 chunk = index / ROWS_PER_CHUNK;
    struct unwind_row_chunk *rows = bpf_map_lookup_elem(&unwind_rows, &chunk);
    return rows ? &rows->rows[index & (ROWS_PER_CHUNK - 1)] : 0;
}

ALWAYS_INLINE u32 *row_of_block(u64 index)
{
    u32 chunk = index / BLOCKS_PER_CHUNK;
    struct row_block_chunk *blocks = bpf_map_lookup_elem(&row_blocks, &chunk);
    return blocks ? &blocks->rows[index & (BLOCKS_PER_CHUNK - 1)] : 0;
}

#define SEARCH_STEPS 20 /* a binary search of at most a million rows in a block */

/* Finds the row of an instruction and the span of its validity. */
ALWAYS_INLINE int search_row(u64 pc, u64 version, struct scratch *scratch, struct cached_row *found)
{
    struct unwind_module *module = find_module(pc, version, scratch);
    if (!module || !module->row_count)
        return 0;
    u64 offset = pc - module->base, block = offset >> (module->block_bits & 31);
    block = choose(at_most(block, module->last_block), block, module->last_block);
    u32 *begin = row_of_block(module->first_block + block);
    u32 *end = row_of_block(module->first_block + block + 1);
    if (!begin || !end)
        return 0;
    u64 first = module->first_row, at = *begin, last = *end;
    for (u32 i = 0; i < SEARCH_STEPS && at < last; i++) {
        u64 middle = (at + last + 1) / 2;
        struct unwind_row *row = row_at(first + middle);
        if (!row)
            return 0;
        u64 begins_before = at_most(row->pc, offset);
        at = choose(begins_before, middle, at);
        last = choose(begins_before, last, middle - 1);
    }
    struct unwind_row *row = row_at(first + at), *next = row_at(first + at + 1);
    if (!row || row->pc > offset)
        return 0;
    u64 is_last = at + 1 >= module->row_count;
    found->start = module->base + row->pc;
    u64 size = (next && !is_last ? module->base + next->pc : module->end) - found->start;
    found->size = choose(at_most(size, U32_MAX), size, U32_MAX);
    found->version = version;
    found->row = *row;
    return 1;
}

ALWAYS_INLINE struct unwind_row *find_row(u64 pc, struct scratch *scratch, u32 slot)
{
    struct recording_state *state = current_state();
    if (!state)
        return 0;
    u64 version = state->modules_version;
    u64 hash = (pc >> ROW_CACHE_SPAN_BITS) * 0x9e3779b97f4a7c15ULL;
    u64 line = hash >> (64 - ROW_CACHE_BITS);
    u32 number = (slot << (ROW_CACHE_BITS - ROW_CACHE_PART_BITS)) + (line >> ROW_CACHE_PART_BITS);
    struct row_cache_part *part = bpf_map_lookup_elem(&row_cache, &number);
    if (!part)
        return 0;
    OPAQUE(line);
    struct cached_row *cached = &part->rows[line & ((1 << ROW_CACHE_PART_BITS) - 1)];
    int known = in_range(pc, cached->start, cached->size) && cached->version == (u32)version;
    return known || search_row(pc, version, scratch, cached) ? &cached->row : 0;
}

/* Replaces the registers in scratch by those of the caller. A global function for the reason given at
 * walk_erlang. */
__attribute__((noinline)) int unwind_step(u64 is_caller, u32 slot)
{
    struct scratch *scratch = scratch_of(slot);
    if (!scratch)
        return STEP_CUT;
    struct registers *regs = &scratch->regs;
    /* A return address may be the first instruction of the next function; the call before it is not. */
    struct unwind_row *row = find_row(regs->ip - (is_caller & 1), scratch, slot);
    if (!row)
        return STEP_CUT;
    u64 base = regs->sp;
    if (row->cfa == CFA_KIND_END)
        return STEP_END;
    if (row->cfa == CFA_KIND_BP)
        base = regs->saved[REG_FRAME];
    else if (row->cfa != CFA_KIND_SP && row->cfa != CFA_KIND_PLT && row->cfa != CFA_KIND_SP_SAVED)
        return STEP_CUT;
    u64 cfa = base + row->cfa_offset;
    if (row->cfa == CFA_KIND_SP_SAVED)
        cfa = read_word(cfa) + row->above;
    if (row->cfa == CFA_KIND_PLT)
        cfa = base + 8 + 8 * at_most(row->cfa_offset, regs->ip & 15);
    if (!IS_FRAME(row, cfa, regs->sp, is_caller))
        return STEP_CUT;
    u64 *words = scratch->saved_words;
    if (bpf_probe_read_user(words, sizeof(scratch->saved_words), (const void *)SAVED_AT(row, cfa)))
        return STEP_CUT;
    for (u32 i = 0; i < SAVED_REGISTERS; i++) {
        u64 place = row->saved[i] & (SAVED_WORDS - 1);
        u64 word = words[SAVED_INDEX(place) & (SAVED_WORDS - 1)];
        regs->saved[i] = choose(differ(place, 0), word, regs->saved[i]);
    }
    regs->sp = cfa;
    regs->ip = RETURN_ADDRESS(regs->saved, words);
    return regs->ip ? STEP_GO : STEP_END;
}

/* Walks the C frames into this CPU's scratch sample. `jit_stack` is the address of the
 * scheduler's registers, below which JIT code calls C, or 0 on a thread that runs no JIT code. */
__attribute__((noinline)) int unwind_native(u64 jit_stack, u32 slot)
{
    struct scratch *scratch = scratch_of(slot);
    struct recording_state *state = current_state();
    if (!scratch || !state)
        return 0;
    struct raw_sample *sample = &scratch->sample;
    sample->head.native_outcome = NATIVE_OUTCOME_CUT;
    for (u32 i = 0; i < NATIVE_FRAMES; i++) {
        int step = unwind_step(i != 0, slot);
        if (step == STEP_END)
            sample->head.native_outcome = NATIVE_OUTCOME_REACHED_ROOT;
        if (step != STEP_GO)
            break;
        u64 caller = scratch->regs.ip;
        if (is_jit_code(caller, state)) {
            if (CALLS_C_WITH(scratch->regs.sp, jit_stack))
                sample->head.native_outcome = NATIVE_OUTCOME_REACHED_JIT;
            break;
        }
        sample->native[i] = caller;
        sample->head.native_count = i + 1;
    }
    return 0;
}
