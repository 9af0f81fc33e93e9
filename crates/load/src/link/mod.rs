//! A connection under load.
//!
//! [`Link`] reads and writes. The trait in `role.rs` hides the work of the group's members: publishing, consuming,
//! calling, answering, churning. One match per call picks the role; everything below it is statically dispatched.

mod acceptance;
mod amqp091;
mod answering;
mod any_role;
mod calling;
mod churning;
mod consuming;
mod driven;
mod driver;
mod frame_cut;
mod limits;
mod publishing;
mod receiving;
mod role;
mod serve_context;
mod sharing;
mod socket;

pub(crate) use driver::Link;
pub(crate) use serve_context::ServeContext;
