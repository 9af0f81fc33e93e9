//! `experiment`, `sweep`, `find-rate` and `compare`.

mod find_rate;
mod rounds;
