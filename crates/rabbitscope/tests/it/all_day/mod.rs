//! `watch`: what it records all day, and what a day leaves behind.
//!
//! [`watched`] is one that runs, [`coming_and_going`] a day in short, [`sandboxed`] one with the privileges of the unit in
//! `deploy/`, [`soak`] hours of restarts (`make soak-watch`).

mod coming_and_going;
mod sandboxed;
mod soak;
mod watched;
