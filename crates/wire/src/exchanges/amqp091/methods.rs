//! Synchronous methods and their answers.

use rabbitscope_amqp::protocol::methods::Method;

/// Returns the method that a method answers.
pub(super) fn answered_by(kind: &str) -> Option<&str> {
    match kind {
        "basic.get-empty" => Some("basic.get"),
        _ => kind.strip_suffix("-ok"),
    }
}

/// Returns whether a method is answered by another one.
pub(super) fn is_synchronous(kind: &str) -> bool {
    Method::ALL.iter().any(|method| method.name.strip_suffix("-ok") == Some(kind))
}
