//! What the broker answers to a policy or a parameter.

/// Why it was not taken; absent when it was.
pub(super) fn refusal(answer: &str) -> Option<String> {
    let words = answer.strip_prefix("{error_string,").and_then(|it| it.strip_suffix('}'));
    (answer != "ok").then(|| words.unwrap_or(answer).trim_matches('"').to_owned())
}
