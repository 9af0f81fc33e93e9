//! The capabilities of the hidden node.
//! Source: "Distribution Protocol" in the ERTS user's guide, "Distribution Flags".
//!
//! `PUBLISHED` is left out, so that the node is hidden and no other node connects to it or counts it. The atom cache
//! and fragments are left out, so that each message is one frame that can be decoded alone.

const EXTENDED_REFERENCES: u64 = 0x4;
const DIST_MONITOR: u64 = 0x8;
const FUN_TAGS: u64 = 0x10;
const DIST_MONITOR_NAME: u64 = 0x20;
const NEW_FUN_TAGS: u64 = 0x80;
const EXTENDED_PIDS_PORTS: u64 = 0x100;
const EXPORT_PTR_TAG: u64 = 0x200;
const BIT_BINARIES: u64 = 0x400;
const NEW_FLOATS: u64 = 0x800;
const UTF8_ATOMS: u64 = 0x1_0000;
const MAP_TAG: u64 = 0x2_0000;
const BIG_CREATION: u64 = 0x4_0000;
const HANDSHAKE_23: u64 = 0x100_0000;
const UNLINK_ID: u64 = 0x200_0000;
const MANDATORY_25_DIGEST: u64 = 0x400_0000;
const V4_NC: u64 = 0x4_0000_0000;

/// The mandatory flags of OTP 25 and 26, and monitors.
pub(super) const OURS: u64 = EXTENDED_REFERENCES
    | DIST_MONITOR
    | FUN_TAGS
    | DIST_MONITOR_NAME
    | NEW_FUN_TAGS
    | EXTENDED_PIDS_PORTS
    | EXPORT_PTR_TAG
    | BIT_BINARIES
    | NEW_FLOATS
    | UTF8_ATOMS
    | MAP_TAG
    | BIG_CREATION
    | HANDSHAKE_23
    | UNLINK_ID
    | MANDATORY_25_DIGEST
    | V4_NC;
