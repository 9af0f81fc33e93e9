//! Random cases, the same for the same seed.

mod cases;
mod numbers;

pub(crate) use cases::HOSTILE;
pub(crate) use numbers::Random;
