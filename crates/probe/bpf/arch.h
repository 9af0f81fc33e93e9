/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * How the JIT uses the registers of x86-64 (`beam_asm.hpp`), for nodes without frame pointers. Another
 * architecture needs another file of this form and rows in src/beam/layout.rs.
 */
#pragma once
#include "kernel.h"

/* Callee-saved registers, in the order of the unwind rows. */
enum { REG_BX, REG_BP, REG_12, REG_13, REG_14, REG_15, SAVED_REGISTERS };

/* Holds the Erlang stack pointer while C runs that does not need it. */
#define REG_KEPT_SP REG_BP
/* Always holds the current process. */
#define REG_PROCESS REG_13

/* The user-space registers that the walks need. */
struct registers {
    u64 ip;
    u64 sp; /* in JIT code the Erlang stack pointer */
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

/* System call numbers, and the registers of the number and of the second argument. */
#define SYSCALL_MMAP 9
#define SYSCALL_MUNMAP 11
#define SYSCALL_BRK 12
#define SYSCALL_NUMBER(regs) ((regs)->orig_rax)
#define SYSCALL_SECOND(regs) ((regs)->rsi)
