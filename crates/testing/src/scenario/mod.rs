//! Scenarios as text, built by calls: a key that does not exist does not compile.
//!
//! ```
//! use rabbitscope_testing::scenario::{Consumers, Publishers, Scenario};
//!
//! let scenario = Scenario::with_queue("orders")
//!     .publishers(Publishers::new("orders").rate(100).confirm_window(10))
//!     .consumers(Consumers::new("orders").prefetch(20))
//!     .duration("2s");
//! rabbitscope_runs::scenario::parse(&scenario.to_string(), "orders", &[]).unwrap();
//! ```
//!
//! Tests of wrong input add [text](Scenario::text).

mod tables;
mod whole;

pub use tables::{
    Churn, Consumers, Exchange, Fault, Poller, Profile, Publishers, Queue, Requests, Responders,
    raw,
};
pub use whole::Scenario;
