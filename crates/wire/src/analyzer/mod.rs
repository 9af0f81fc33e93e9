//! Packets in, a report out: every stage of the analysis, joined.
//!
//! ```text
//! reading      a packet ─► decode ─► tcp, which tells `observation`
//! observation  what tcp tells, for the connection that it is about
//! connection   a connection while it is read: `frames`, `messages`, `latencies`, `payloads`, `ladder`, `trace`
//! events       what goes wrong: what frames say, and what ends do without a word
//! busiest      connections that have ended, those with most bytes with a row of their own
//! whole        the report
//! ```

mod busiest;
mod connection;
mod events;
mod frames;
mod ladder;
mod latencies;
mod messages;
mod observation;
mod options;
mod payloads;
mod reading;
mod redaction;
mod segments;
mod sizes;
#[cfg(test)]
mod tests;
mod trace;
mod whole;

pub use options::AnalyzerOptions;
pub use reading::Analyzer;
pub use redaction::Payload;
