//! Captures that are made here, with what is true of them, and what the analyzer makes of them. `capture` is the language.

mod bounds;
mod capture;
mod events;
