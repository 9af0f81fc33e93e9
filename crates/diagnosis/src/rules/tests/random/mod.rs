//! Random cases, the same for the same seed.

mod cases;
mod numbers;

pub(super) use cases::HOSTILE;
pub(super) use numbers::Random;
