//! Tests of limits: planted ones with their healthy counterparts, and the certainty of answers.

mod backlogs;
mod cases;
mod certainty;
mod machine;
mod planted;
mod publishers;
mod schedulers;
