//! The invariants of `ARCHITECTURE.md` that no lint can see.

mod crates;
