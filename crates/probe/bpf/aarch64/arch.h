/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * aarch64: the kernel's registers of a thread, the JIT's use of them (`beam_asm.hpp` of the JIT for ARM), and the
 * layout of an unwind row. src/arch/aarch64 has the same in Rust.
 *
 * The JIT leaves the machine's stack pointer to C: the Erlang stack has a register of its own, which every C
 * function preserves. A call leaves its return address in the link register. The callee stores it: a function on
 * the Erlang stack, with its first instruction; a fragment that calls C or another fragment on the machine's stack.
 */
#pragma once
#include "interface.h"

/* arch/arm64/include/uapi/asm/ptrace.h: user_pt_regs. The context of a perf_event program and the kernel's own
 * pt_regs begin with these fields. */
struct pt_regs {
    u64 regs[31];
    u64 sp, pc, pstate;
};

/* Registers in the order of the unwind rows: x29, x30, x20, x21. */
enum { REG_FRAME, REG_LINK, REG_ERLANG_SP, REG_PROCESS, SAVED_REGISTERS };

/* Holds the Erlang stack pointer while C runs, too. */
#define REG_KEPT_SP REG_ERLANG_SP

/* The user-space registers that the walks need. */
struct registers {
    u64 ip;
    u64 sp;
    u64 saved[SAVED_REGISTERS];
};

/* Addresses of user space have 48 bits. The bits above may sign a return address (PAC). */
#define ADDRESS_BITS(word) ((word) & 0xffffffffffffULL)

/* A macro, because the verifier allows reads of context fields only directly from the context. */
#define READ_REGISTERS(to, from)                            \
    do {                                                    \
        (to)->ip = (from)->pc;                              \
        (to)->sp = (from)->sp;                              \
        (to)->saved[REG_FRAME] = (from)->regs[29];          \
        (to)->saved[REG_LINK] = (from)->regs[30];           \
        (to)->saved[REG_ERLANG_SP] = (from)->regs[20];      \
        (to)->saved[REG_PROCESS] = (from)->regs[21];        \
    } while (0)

/* Exception level 0 */
#define IS_USER_MODE(from) (((from)->pstate & 0xf) == 0)

/* Stack pointer of interrupted JIT code. */
#define ERLANG_SP(from) ((from)->saved[REG_ERLANG_SP])

/* Bytes of a frame that a fragment makes on the machine's stack, below the scheduler's registers, before it
 * calls C: frame pointer and link register (`emit_enter_runtime_frame`). Nested calls of fragments are at most a
 * few deep. */
#define FRAGMENT_FRAME_BYTES 16
#define FRAGMENT_FRAMES_BYTES (4 * FRAGMENT_FRAME_BYTES)

/* 1 if JIT code may call C with this stack pointer, on a scheduler with its registers at this address. */
#define CALLS_C_WITH(sp, scheduler_registers) ((scheduler_registers) - (sp) <= FRAGMENT_FRAMES_BYTES)

/* Number of words that a row may name. */
#define SAVED_WORDS 16

/* Address of these words, and the index among them of a register with this place in the row. The last two bytes
 * of a row's places are the distance of the words from the canonical frame address, in units of 16 bytes. */
#define SAVED_AT(row, cfa) ((cfa) - 16 * ((u64)(row)->saved[4] | (u64)(row)->saved[5] << 8))
#define SAVED_INDEX(place) ((place) - 1)

/* Only the interrupted function may lack a frame or still have its return address in the register. */
#define IS_FRAME(row, cfa, sp, is_caller) ((is_caller) ? (cfa) > (sp) && (row)->saved[REG_LINK] : (cfa) >= (sp))
#define RETURN_ADDRESS(saved, words) ADDRESS_BITS((saved)[REG_LINK])

/* JIT code that reloads its stack pointer from the process after a call into C does so within this many
 * instructions. */
#define RESUME_INSTRUCTIONS 8

/* ldp x23, x20, [x21, OFFSET] or ldr x20, [x21, OFFSET] */
ALWAYS_INLINE int resumes_from_process(u32 code)
{
    return (code & 0xffc07fff) == 0xa94052b7 || (code & 0xffc003ff) == 0xf94002b4;
}

/* Instructions after which another one than the next runs: b, bl, br, blr, ret. */
ALWAYS_INLINE int leaves(u32 code)
{
    return (code & 0x7c000000) == 0x14000000 || (code & 0xff9ffc1f) == 0xd61f0000;
}

/* 1 if the JIT code that called C keeps its stack pointer in a register. Process.stop is then out of date. */
__attribute__((noinline)) int is_kept_in_register(u64 boundary)
{
    u32 code[RESUME_INSTRUCTIONS] = {};
    bpf_probe_read_user(code, sizeof(code), (const void *)boundary);
    int is_kept = 1;
    /* Backwards, for the reason given in this function for x86-64. */
    for (u32 i = RESUME_INSTRUCTIONS; i > 0; i--) {
        if (leaves(code[i - 1]))
            is_kept = 1;
        else if (resumes_from_process(code[i - 1]))
            is_kept = 0;
    }
    return is_kept;
}

/* The return address of the innermost JIT code, where the walk of the Erlang stack misses it. It is a candidate
 * for user space to judge, because it may be left from a call that has returned. Where fragments have frames it
 * is in the first of them, else in the link register. */
ALWAYS_INLINE u64 fragment_call(const struct sample_head *head, const struct registers *regs, u64 erlang_sp,
                                u64 scheduler_registers)
{
    if (regs->sp != scheduler_registers && CALLS_C_WITH(regs->sp, scheduler_registers))
        return ADDRESS_BITS(read_word(scheduler_registers - sizeof(u64)));
    return head->ip_in_jit ? ADDRESS_BITS(regs->saved[REG_LINK]) : 0;
}

/* 1: fragment_call needs the address of the scheduler's registers, read from the scheduler's block. */
#define FRAGMENT_CALL_NEEDS_REGISTERS 1

/* System call numbers, and the registers that hold the number and the second argument. */
#define SYSCALL_MMAP 222
#define SYSCALL_MUNMAP 215
#define SYSCALL_BRK 214
#define SYSCALL_NUMBER(from) ((from)->regs[8])
#define SYSCALL_SECOND(from) ((from)->regs[1])
