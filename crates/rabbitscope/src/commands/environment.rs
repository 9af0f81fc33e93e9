//! Options and values of a scenario from environment variables. An empty variable counts as unset, and the command
//! line takes precedence. Variables of other programs may hold any bytes.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use clap::{
    Arg, ArgMatches, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use rabbitscope_terminal::UsageError;

/// A name that no variable has. Clap cannot remove a variable from an argument.
const NO_VARIABLE: &str = "=";

/// Parses a command line whose options may come from variables.
pub(super) fn matches(
    command: Command,
    line: &[OsString],
) -> Result<(Command, ArgMatches), clap::Error> {
    let is_empty =
        |arg: &Arg| arg.get_env().and_then(env::var_os).is_some_and(|value| value.is_empty());
    let command = without_variables(command, &is_empty);
    let error = match command.clone().try_get_matches_from(line) {
        Ok(matches) => return Ok((command, matches)),
        Err(error) if error.kind() == ErrorKind::ArgumentConflict => error,
        Err(error) => return Err(error),
    };
    // One of the two may come from a variable rather than from the command line.
    let named = named_in(&error);
    let is_named =
        |long: &str| named.iter().any(|name| name.split(' ').next() == Some(&format!("--{long}")));
    let typed = without_variables(command, &|arg| arg.get_long().is_some_and(is_named));
    let matches = typed.clone().try_get_matches_from(line).map_err(|_| error)?;
    Ok((typed, matches))
}

/// Returns the command without the variables of the arguments for which `of` holds, in all subcommands.
fn without_variables(command: Command, of: &impl Fn(&Arg) -> bool) -> Command {
    let without = |arg: Arg| arg.env(NO_VARIABLE).hide_env(true);
    let command = command.mut_args(|arg| if of(&arg) { without(arg) } else { arg });
    command.mut_subcommands(|subcommand| without_variables(subcommand, of))
}

/// Returns the arguments that the error names, as it writes them.
fn named_in(error: &clap::Error) -> Vec<String> {
    let named = [ContextKind::InvalidArg, ContextKind::PriorArg];
    let values = named.into_iter().filter_map(|kind| error.get(kind));
    let each = values.flat_map(|value| match value {
        ContextValue::String(name) => vec![name.clone()],
        ContextValue::Strings(several) => several.clone(),
        _ => Vec::new(),
    });
    each.collect()
}

/// The prefix of variables that set a value of the scenario.
const PREFIX: &str = "RABBITSCOPE_SET_";

/// Returns `key=value` for each variable that replaces a value of the scenario. In
/// `RABBITSCOPE_SET_PUBLISHERS__0__CONFIRM_WINDOW`, two underscores stand for a dot and one for a hyphen; capital
/// letters become small ones.
pub(super) fn overrides(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Vec<String>, UsageError> {
    let is_ours = |(name, value): &(OsString, OsString)| {
        name.as_bytes().starts_with(PREFIX.as_bytes()) && !value.is_empty()
    };
    let of_scenario = variables.filter(is_ours).map(|(name, value)| {
        let text = (name.to_str(), value.to_str());
        let (Some(plain), Some(value)) = text else { return Err(not_text(&name)) };
        let key = plain[PREFIX.len()..].to_ascii_lowercase();
        Ok(format!("{}={value}", key.replace("__", ".").replace('_', "-")))
    });
    let mut overrides = of_scenario.collect::<Result<Vec<_>, _>>()?;
    // Variables have no defined order.
    overrides.sort();
    Ok(overrides)
}

/// Returns the text of a variable; absent if it is unset or empty.
pub(super) fn text(name: &str) -> Result<Option<String>, UsageError> {
    let value = env::var_os(name).filter(|value| !value.is_empty()).map(OsString::into_string);
    value.transpose().map_err(|_| not_text(name.as_ref()))
}

/// Returns an error without the value, which may be a secret.
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
        check(("RABBITSCOPE_SET_NAME", ""), None);
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
