//! Conclusions from the rounds of an experiment.
//!
//! The unit is a whole run. Within a round every arm runs once, in an order that is drawn for each round. If two arms
//! are equal, the logarithm of their ratio is therefore as likely to be positive as negative, even if the machine
//! changes meanwhile. The signed-rank test needs no more than that.

mod conclusion;
mod differences;
mod figures;
mod holm;
mod known;
mod latencies;
mod looks;
mod metrics;
mod recommendation;
mod sentences;
mod signed_rank;
#[cfg(test)]
mod tests;
mod warm_up;

pub use conclusion::{conclude, is_decided};
pub use figures::{Scale, change, p_in_words, percent, value_in_words, values_of_pair};
pub use latencies::median_spectrum;
pub use looks::{alpha_of_each_look, equivalence_alpha};
pub use metrics::value;
pub use signed_rank::SignedRank;
pub use warm_up::warm_up_seconds;
