//! Which clock a process has.

use serde::{Deserialize, Serialize};

/// Which clock a process has: those of equal ones are one clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ClockIdentity {
    /// Of the running kernel: `/proc/sys/kernel/random/boot_id`.
    pub(crate) boot: String,
    /// `/proc/self/ns/time`; empty on a kernel that has none.
    pub(crate) time_namespace: String,
}
