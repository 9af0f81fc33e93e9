//! Lines that PerfTest reads and refuses.

mod differential;
mod misspelt;
