//! PerfTest: its options, and its command lines beside ours.

mod broker;
mod lines;
mod options;
mod programs;
mod side_by_side;
