//! The error of a user.

/// A command line or a configuration that cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
