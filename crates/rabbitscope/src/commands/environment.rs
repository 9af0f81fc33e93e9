//! Values of a scenario from environment variables.

/// What the name of such a variable starts with.
const PREFIX: &str = "RABBITSCOPE_SET_";

/// `key=value` for each variable that replaces a value of the scenario. In
/// `RABBITSCOPE_SET_PUBLISHERS__0__CONFIRM_WINDOW`, two underscores stand for a dot and one for a
/// hyphen; capital letters are small ones.
pub(super) fn overrides(variables: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let of_scenario = variables.filter_map(|(name, value)| {
        let key = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
        Some(format!("{}={value}", key.replace("__", ".").replace('_', "-")))
    });
    let mut overrides: Vec<_> = of_scenario.collect();
    // The order of the environment is no order.
    overrides.sort();
    overrides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_keys() {
        fn check(variable: (&str, &str), expected: Option<&str>) {
            let (name, value) = variable;
            let given = [(name.to_owned(), value.to_owned())].into_iter();
            assert_eq!(overrides(given).first().map(String::as_str), expected);
        }
        check(("RABBITSCOPE_SET_RUN__DURATION", "9s"), Some("run.duration=9s"));
        check(
            ("RABBITSCOPE_SET_PUBLISHERS__0__CONFIRM_WINDOW", "a=b"),
            Some("publishers.0.confirm-window=a=b"),
        );
        check(
            ("RABBITSCOPE_SET_queues__0__arguments__x_max_length", "5"),
            Some("queues.0.arguments.x-max-length=5"),
        );
        check(("RABBITSCOPE_URI", "amqp://h"), None);
    }
}
