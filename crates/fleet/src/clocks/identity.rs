//! Identity of a process's clock.

use serde::{Deserialize, Serialize};

/// Identity of a process's clock. Processes with equal identities share a clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ClockIdentity {
    /// Id of the running kernel's boot: `/proc/sys/kernel/random/boot_id`.
    pub(crate) boot: String,
    /// Target of `/proc/self/ns/time`; empty on a kernel without time namespaces.
    pub(crate) time_namespace: String,
}
