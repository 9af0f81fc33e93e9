//! Analysis of a broker's packets: TCP connections, the frames of its protocols in them, and latencies between frames.
//!
//! Data goes one way:
//!
//! ```text
//! capture   a file's or a ring's packets ─► Packet
//! decode    Packet ─► Segment                 link, IP and TCP headers
//! tcp       Segment ─► Chunk, Gap             bytes of each direction in order; retransmissions, windows, round trips
//! protocols Chunk ─► Frame                    AMQP 0-9-1, AMQP 1.0, stream protocol, MQTT, TLS records
//! exchanges Frame ─► latencies                publish and confirm, deliver and ack, request and reply
//! activity  Frame ─► events                   methods and messages with names and settings, for a listener
//! analyzer  all of them ─► report             figures by connection and channel
//! findings  report ─► findings                rules with their evidence
//! ```
//!
//! [`turns`] are types only, for what others find in the activity.
//!
//! No code here reads a clock, a network, a disk or a process. Files are read from `impl Read` and written to `impl
//! Write`; times are those of the packets. Memory is always bounded: each stage has its limit and counts the data that
//! it left out.

pub mod activity;
pub mod analyzer;
pub mod capture;
pub mod decode;
pub mod exchanges;
pub mod findings;
pub mod packet;
pub mod protocols;
pub mod report;
pub mod segment;
pub mod stream;
pub mod tcp;
pub mod turns;
