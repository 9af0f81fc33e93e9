//! The complete analysis, from packets to the report.
//!
//! ```text
//! reading      a packet ─► decode ─► tcp, which reports to `observation`
//! observation  events of tcp, assigned to their connections
//! connection   a current connection: `frames`, `messages`, `latencies`, `payloads`, `ladder`, `trace`
//! events       problems that frames report, and those that the behaviour of the ends shows
//! busiest      ended connections; those with the most bytes have a row of their own
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
