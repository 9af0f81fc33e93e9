//! Synchronous methods and their answers.

/// Returns the method that a method answers.
pub(super) fn answered_by(kind: &str) -> Option<&str> {
    match kind {
        "basic.get-empty" => Some("basic.get"),
        _ => kind.strip_suffix("-ok"),
    }
}

/// Returns whether a method is answered by another one.
pub(super) fn is_synchronous(kind: &str) -> bool {
    matches!(
        kind,
        "connection.start"
            | "connection.secure"
            | "connection.tune"
            | "connection.open"
            | "connection.close"
            | "connection.update-secret"
            | "channel.open"
            | "channel.flow"
            | "channel.close"
            | "exchange.declare"
            | "exchange.delete"
            | "exchange.bind"
            | "exchange.unbind"
            | "queue.declare"
            | "queue.bind"
            | "queue.purge"
            | "queue.delete"
            | "queue.unbind"
            | "basic.qos"
            | "basic.consume"
            | "basic.cancel"
            | "basic.get"
            | "basic.recover"
            | "confirm.select"
            | "tx.select"
            | "tx.commit"
            | "tx.rollback"
            | "access.request"
    )
}
