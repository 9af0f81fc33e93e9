/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * x86-64: the kernel's registers of a thread, the JIT's use of them (`beam_asm.hpp`, for nodes without frame
 * pointers), and the layout of an unwind row. Each architecture has a file of this name, and the same definitions
 * in Rust in src/arch.
 */
#pragma once
#include "interface.h"

/* arch/x86/include/uapi/asm/ptrace.h: pt_regs of user space. The context of a perf_event program begins with it,
 * and the kernel's own pt_regs has the same layout for the fields used here. */
struct pt_regs {
    u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax;
    u64 rip, cs, eflags, rsp, ss;
};

/* Callee-saved registers, in the order of the unwind rows. */
enum { REG_BX, REG_BP, REG_12, REG_13, REG_14, REG_15, SAVED_REGISTERS };

/* Holds the Erlang stack pointer while C runs that does not need the Erlang stack. */
#define REG_KEPT_SP REG_BP
/* Always holds the current process. */
#define REG_PROCESS REG_13
/* Base of frames whose size is not known in advance. */
#define REG_FRAME REG_BP

/* The user-space registers that the walks need. */
struct registers {
    u64 ip;
    u64 sp; /* the Erlang stack pointer in JIT code */
    u64 saved[SAVED_REGISTERS];
};

/* A macro, because the verifier allows reads of context fields only directly from the context. */
#define READ_REGISTERS(to, from)             \
    do {                                     \
        (to)->ip = (from)->rip;              \
        (to)->sp = (from)->rsp;              \
        (to)->saved[REG_BX] = (from)->rbx;   \
        (to)->saved[REG_BP] = (from)->rbp;   \
        (to)->saved[REG_12] = (from)->r12;   \
        (to)->saved[REG_13] = (from)->r13;   \
        (to)->saved[REG_14] = (from)->r14;   \
        (to)->saved[REG_15] = (from)->r15;   \
    } while (0)

#define IS_USER_MODE(regs) (((regs)->cs & 3) == 3)

/* Stack pointer of interrupted JIT code. */
#define ERLANG_SP(regs) ((regs)->sp)

/* 1 if JIT code may call C with this stack pointer, on a scheduler with its registers at this address. */
#define CALLS_C_WITH(sp, scheduler_registers) ((sp) == (scheduler_registers))

/* Words below a canonical frame address: the return address and saved registers. */
#define SAVED_WORDS 8

/* Address of these words, and the index among them of a register with this place in the row. */
#define SAVED_AT(row, cfa) ((cfa) - SAVED_WORDS * sizeof(u64))
#define SAVED_INDEX(place) (SAVED_WORDS - 1 - (place))

/* A function's frame has at least its return address. */
#define IS_FRAME(row, cfa, sp, is_caller) ((cfa) > (sp))
#define RETURN_ADDRESS(saved, words) ((words)[SAVED_WORDS - 1])

/* After a call into C, JIT code restores its stack pointer within this many bytes. */
#define RESUME_BYTES 16

/* mov rsp, rbp, in either encoding */
ALWAYS_INLINE int resumes_from_register(const u8 *code)
{
    return code[0] == 0x48 &&
           ((code[1] == 0x89 && code[2] == 0xec) || (code[1] == 0x8b && code[2] == 0xe5));
}

/* mov rsp, [r13 + offset] */
ALWAYS_INLINE int resumes_from_process(const u8 *code)
{
    return code[0] == 0x49 && code[1] == 0x8b && code[2] == 0x65;
}

/* 1 if the JIT code that called C keeps its stack pointer in a register. Process.stop is then out of date. */
__attribute__((noinline)) int is_kept_in_register(u64 boundary)
{
    u8 code[RESUME_BYTES] = {};
    bpf_probe_read_user(code, sizeof(code), (const void *)boundary);
    int is_kept = 0;
    /* Backwards, so that the first match decides without an early exit. The compiler lays out a loop with an
     * early exit so that its last instruction falls through into its first, and kernels before Linux 6.7 refuse
     * such loops. */
    for (u32 i = sizeof(code) - 2; i > 0; i--) {
        if (resumes_from_register(code + i - 1))
            is_kept = 1;
        else if (resumes_from_process(code + i - 1))
            is_kept = 0;
    }
    return is_kept;
}

/* The return address of the innermost JIT code, where the walk of the Erlang stack misses it. It is a candidate
 * for user space to judge. Some fragments are called with an unaligned return address, which the walk takes for
 * a term. It can only be on top of the stack. Calls of C that need the stack are never made that way, so that
 * `stop` is not used. */
ALWAYS_INLINE u64 fragment_call(const struct sample_head *head, const struct registers *regs, u64 erlang_sp,
                                u64 scheduler_registers)
{
    if (head->origin != STACK_ORIGIN_REGISTER && head->origin != STACK_ORIGIN_KEPT_REGISTER)
        return 0;
    u64 top = read_word(erlang_sp);
    return (top & 3) ? top : 0;
}

/* 0: fragment_call does not need the address of the scheduler's registers. */
#define FRAGMENT_CALL_NEEDS_REGISTERS 0

/* System call numbers, and the registers that hold the number and the second argument. */
#define SYSCALL_MMAP 9
#define SYSCALL_MUNMAP 11
#define SYSCALL_BRK 12
#define SYSCALL_NUMBER(regs) ((regs)->orig_rax)
#define SYSCALL_SECOND(regs) ((regs)->rsi)
