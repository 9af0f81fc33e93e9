//! `watch`: its recordings over a day, and its remains.
//!
//! [`watched`] is a running `watch`, [`coming_and_going`] a short day. [`judged`] checks its windows. [`served`] looks at its live page.
//! [`sandboxed`] runs it with the privileges of the unit in `deploy/`. [`soak`] runs hours of restarts (`make soak-watch`).

mod coming_and_going;
mod judged;
mod sandboxed;
mod served;
mod sinks;
mod soak;
mod watched;
