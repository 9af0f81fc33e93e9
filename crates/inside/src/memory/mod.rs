//! Memory of a node per kind, and its holders: processes, queues, tables, sockets.
//!
//! ```text
//! MemoryReader ── request `memory` of agent/rabbitscope_memory.erl ──► MemoryReport (text: report_text, sentences: notes)
//! ```

mod kinds;
mod notes;
mod reader;
mod report;
mod report_text;

pub use reader::MemoryReader;
pub use report::MemoryReport;
