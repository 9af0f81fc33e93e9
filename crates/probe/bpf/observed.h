/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Checks if the running thread belongs to the observed process, by the process's id in its own pid namespace.
 */
#pragma once
#include "interface.h"

/* Constants that the loader sets before the verifier runs. */
volatile const u64 cfg_pidns_dev = 0;
volatile const u64 cfg_pidns_ino = 0;
volatile const u32 cfg_tgid = 0;

/* Fills `ids`. In the initial pid namespace the cheaper helper is enough. */
ALWAYS_INLINE int is_observed(struct bpf_pidns_info *ids)
{
    if (cfg_pidns_ino == INITIAL_PID_NAMESPACE) {
        u64 both = bpf_get_current_pid_tgid();
        ids->pid = both;
        ids->tgid = both >> 32;
        return ids->tgid == cfg_tgid;
    }
    return bpf_get_ns_current_pid_tgid(cfg_pidns_dev, cfg_pidns_ino, ids, sizeof(*ids)) == 0 &&
           ids->tgid == cfg_tgid;
}
