//! Experiments of planted cases, and of random ones with hostile names.

mod case;
mod clients;
mod node;
mod placed;
mod random;
