/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * What the JIT does with the registers of x86-64, without frame pointers (`beam_asm.hpp`). Another
 * architecture is another file of this shape, and rows in src/beam/layout.rs.
 */
#pragma once
#include "kernel.h"

/* The user-space registers that matter. */
struct registers {
    u64 ip;
    u64 sp;      /* in JIT code the Erlang stack */
    u64 kept_sp; /* holds the Erlang stack while C runs that does not need it */
    u64 process; /* in JIT code the current process */
};

/* A macro, as the verifier wants every field of a context read straight from it. */
#define READ_REGISTERS(to, from)        \
    do {                                \
        (to).ip = (from)->rip;          \
        (to).sp = (from)->rsp;          \
        (to).kept_sp = (from)->rbp;     \
        (to).process = (from)->r13;     \
    } while (0)

#define IS_USER_MODE(regs) (((regs)->cs & 3) == 3)

/* A C function pushes the callee-saved registers that it uses below its return address, in the
 * compilers' order r15 r14 r13 r12 rbp rbx. The value of rbx is known: it points to the scheduler's
 * registers, plus cfg_registers_bias. So where that value stands tells where the others stand:
 * words above it on the stack. */
#define PUSHED_WORDS 8
#define KEPT_SP_AFTER 1      /* rbp */
#define KEPT_PROCESS_AFTER 3 /* r13 */

/* JIT code goes on after a call into C by fetching its stack pointer from where it left it, within
 * this many bytes. */
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
