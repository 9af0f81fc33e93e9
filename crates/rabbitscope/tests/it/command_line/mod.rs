//! Wrong input, and refusals of brokers: message and exit code.

mod refusals;
mod wrong_input;
