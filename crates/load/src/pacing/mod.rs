//! The due times of messages, and the reaction of threads and connections to them.
//!
//! [`ArrivalSchedule`] has the time of each message. [`DueQueue`] and [`RoundRobin`] select the next member. [`Pacer`]
//! and [`BurstLimiter`] decide how often and how much a thread sends. No file here depends on sockets or AMQP, except
//! [`Timer`], which wakes a poll.

mod arrival_schedule;
mod burst_limiter;
mod churn_cycle;
mod client_delay;
mod due_queue;
mod pacer;
mod round_robin;
mod timer;

pub(crate) use arrival_schedule::ArrivalSchedule;
pub(crate) use burst_limiter::BurstLimiter;
pub(crate) use churn_cycle::{ChurnCycle, RETRY_DELAY, slots_that_end};
pub(crate) use client_delay::ClientDelay;
pub(crate) use due_queue::DueQueue;
pub(crate) use pacer::{LATE_TOLERANCE, Pacer};
pub(crate) use round_robin::RoundRobin;
pub(crate) use timer::Timer;
