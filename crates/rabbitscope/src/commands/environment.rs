//! Values of a scenario from environment variables. Variables of other programs may hold any bytes.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use crate::exit::UsageError;

/// What the name of such a variable starts with.
const PREFIX: &str = "RABBITSCOPE_SET_";

/// `key=value` for each variable that replaces a value of the scenario. In
/// `RABBITSCOPE_SET_PUBLISHERS__0__CONFIRM_WINDOW`, two underscores stand for a dot and one for a
/// hyphen; capital letters are small ones.
pub(super) fn overrides(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Vec<String>, UsageError> {
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(PREFIX.as_bytes());
    let of_scenario = variables.filter(|(name, _)| is_ours(name)).map(|(name, value)| {
        let text = (name.to_str(), value.to_str());
        let (Some(plain), Some(value)) = text else { return Err(not_text(&name)) };
        let key = plain[PREFIX.len()..].to_ascii_lowercase();
        Ok(format!("{}={value}", key.replace("__", ".").replace('_', "-")))
    });
    let mut overrides = of_scenario.collect::<Result<Vec<_>, _>>()?;
    // The order of the environment is no order.
    overrides.sort();
    Ok(overrides)
}

/// The text of a variable; absent when it is not set.
pub(super) fn text(name: &str) -> Result<Option<String>, UsageError> {
    let value = env::var_os(name).map(OsString::into_string);
    value.transpose().map_err(|_| not_text(name.as_ref()))
}

/// The value may be a secret, and is not shown.
fn not_text(name: &OsStr) -> UsageError {
    let name = name.to_string_lossy();
    UsageError(format!(
        "the environment variable {name} is not text in UTF-8: set it again, or unset it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_keys() {
        fn check(variable: (&str, &str), expected: Option<&str>) {
            let (name, value) = variable;
            let given = [(name.into(), value.into())].into_iter();
            assert_eq!(overrides(given).unwrap().first().map(String::as_str), expected);
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

    #[test]
    fn only_variables_of_a_scenario_have_to_be_text() {
        let any = || OsStr::from_bytes(b"x\xffy").to_owned();
        let given = |name: OsString| overrides([(name, any())].into_iter());
        for other in ["LS_COLORS".into(), any(), "RABBITSCOPE_URI".into()] {
            assert_eq!(given(other).unwrap(), [] as [String; 0]);
        }
        let refused = given("RABBITSCOPE_SET_NAME".into()).unwrap_err().to_string();
        assert!(refused.contains("RABBITSCOPE_SET_NAME is not text"), "{refused}");
        let name = OsStr::from_bytes(b"RABBITSCOPE_SET_\xff").to_owned();
        assert!(given(name).is_err());
    }
}
