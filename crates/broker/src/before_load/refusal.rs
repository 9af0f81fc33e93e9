//! The broker's answer to a policy or a parameter.

/// Returns the reason for a refusal, and nothing when the broker accepted.
pub(super) fn refusal(answer: &str) -> Option<String> {
    let words = answer.strip_prefix("{error_string,").and_then(|words| words.strip_suffix('}'));
    (answer != "ok").then(|| words.unwrap_or(answer).trim_matches('"').to_owned())
}
