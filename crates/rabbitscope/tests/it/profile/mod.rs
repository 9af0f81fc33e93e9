//! `profile`, `flamegraph` and `diff`.

mod debuginfod;
mod foreign;
mod owners;
mod pages;
mod planted_changes;
mod recordings;
mod routers;
