//! Command lines that PerfTest accepts and refuses.

mod differential;
mod misspelt;
