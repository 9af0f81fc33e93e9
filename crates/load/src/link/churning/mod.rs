//! Churn on one connection.

mod requests;
mod role;

pub(super) use role::Churning;
