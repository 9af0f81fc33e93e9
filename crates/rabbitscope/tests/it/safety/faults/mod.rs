//! The fault campaign. Every command is killed at random instants, stopped, and hung up on. It gets a full disk,
//! broken sockets, peers that answer garbage or nothing, and nodes that die. After each fault, only the named results
//! may be left on the node, in the kernel and on the disk. All recorded data must be readable.
//!
//! ```text
//! make test-faults                        all of it, at most 20 minutes; ends with a table
//! RABBITSCOPE_FAULT_SEED=7 make …         other instants; the table says which seed it was
//! ```
//!
//! `make test` runs a small part of it.

mod campaign;
mod disk;
mod kills;
mod nodes;
mod peers;
mod random;
mod stops;
mod table;
mod world;
