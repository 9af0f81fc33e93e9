//! A connection under load.
//!
//! [`Link`] reads and writes; what the members of its group do with it is behind the trait in
//! `role.rs`: publishing, consuming, calling, answering, churning. One match per call picks the
//! role; everything below it is statically dispatched.

mod acceptance;
mod answering;
mod any_role;
mod calling;
mod churning;
mod consuming;
mod driver;
mod limits;
mod publishing;
mod role;
mod serve_context;
mod socket;

pub(crate) use driver::Link;
pub(crate) use serve_context::ServeContext;
