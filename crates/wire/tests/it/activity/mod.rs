//! Activity of recorded clients: names, settings and sizes as tshark shows them.

mod heard;
mod links;
mod recorded;
