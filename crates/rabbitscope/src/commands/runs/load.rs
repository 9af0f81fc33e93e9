//! `rabbitscope load`: a load from PerfTest's options, without a scenario file.

use clap::{ArgAction, FromArgMatches};
use rabbitscope_runs::scenario::{BrokerSpec, Protocol, ThrowawayBroker};
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_text::escapes::shell_quoted;

use super::{
    broker_uri,
    run::{URI_VARIABLE, parse_scenario},
    run_options::RunOptions,
};
use rabbitscope_perftest as perftest;

use crate::{commands::environment, exit::Exit};

/// Run a load with the options of PerfTest: rabbitscope load -x 1 -y 2 -z 30
///
/// docs/reference/perftest.md describes how PerfTest's options are converted. Without `-h` and `RABBITSCOPE_URI`, the
/// command starts a throwaway broker. The run directory contains the resulting scenario.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, after_help = options_of_run())]
pub(in crate::commands) struct Args {
    /// Print help; `-h` is PerfTest's option for the broker's URI
    #[arg(long, action = ArgAction::HelpLong)]
    help: Option<bool>,
    /// Options of PerfTest and those below, in any order
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "OPTION"
    )]
    words: Vec<String>,
}

/// Options that PerfTest does not have.
#[derive(Debug, clap::Args)]
struct LoadOptions {
    /// Protocol of publishers and consumers: amqp-0-9-1, amqp-1.0 or stream
    #[arg(long, value_name = "NAME", default_value = "amqp-0-9-1")]
    protocol: Protocol,
    #[command(flatten)]
    run: RunOptions,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let (ours, perftest) = separate(self.words)?;
        let LoadOptions { protocol, run: options } = read(&ours)?;
        let converted = converted(&perftest, protocol)?;
        let mut scenario = parse_scenario(&converted.text(), "load", &options.set)?;
        let uris = match &converted.uris[..] {
            [] => environment::text(URI_VARIABLE)?.into_iter().collect(),
            uris => uris.to_vec(),
        };
        if !uris.is_empty() {
            broker_uri::replace(&mut scenario, uris);
        } else if !options.set.iter().any(|line| line.starts_with("broker.")) {
            scenario.broker.spec = BrokerSpec::Throwaway(ThrowawayBroker::default());
            scenario.enable_plugins();
        }
        for note in &converted.notes {
            output::note(note);
        }
        options.run(scenario)
    }
}

fn converted(words: &[String], protocol: Protocol) -> anyhow::Result<perftest::Converted> {
    if let Some(word) = words.first().filter(|word| !word.starts_with('-')) {
        let reason =
            format!("`{word}` is not an option of PerfTest; to run a scenario: `run {word}`");
        return Err(UsageError(reason).into());
    }
    if protocol == Protocol::Mqtt {
        let reason = "PerfTest's options are about queues, which MQTT does not have: write a scenario with `protocol = \"mqtt\"` \
                      for `run`";
        return Err(UsageError(reason.to_owned()).into());
    }
    let quoted = words.iter().map(|word| shell_quoted(word));
    Ok(perftest::convert(&quoted.collect::<Vec<_>>().join(" "), protocol)?)
}

/// Separates options of a run from PerfTest's, which share no name. PerfTest also accepts abbreviated options. An
/// abbreviation that is the full name of a run's option counts as that option.
fn separate(words: Vec<String>) -> Result<(Vec<String>, Vec<String>), UsageError> {
    let known = command();
    let (mut ours, mut perftest) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").map(|name| name.split('=').next().unwrap_or_default());
        let Some(option) =
            known.get_arguments().find(|argument| name.is_some() && argument.get_long() == name)
        else {
            perftest.push(word);
            continue;
        };
        let takes_value = option.get_action().takes_values() && !option.is_require_equals_set();
        let needs_value = takes_value && !word.contains('=');
        ours.push(word);
        if needs_value {
            let missing = || UsageError(format!("{} needs a value", ours[ours.len() - 1]));
            let value = words.next().ok_or_else(missing)?;
            ours.push(value);
        }
    }
    Ok((ours, perftest))
}

fn read(words: &[String]) -> Result<LoadOptions, UsageError> {
    let matches = command().no_binary_name(true).try_get_matches_from(words);
    let read = matches.and_then(|matches| LoadOptions::from_arg_matches(&matches));
    read.map_err(|error| {
        let text = error.render().to_string();
        // The rest of the message describes only our own command line.
        let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage"));
        let reason: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        UsageError(reason.join(" ").trim_start_matches("error: ").to_owned())
    })
}

/// Returns a command with only the options that PerfTest does not have.
fn command() -> clap::Command {
    <LoadOptions as clap::Args>::augment_args(clap::Command::new("load").disable_help_flag(true))
}

fn options_of_run() -> String {
    let options = command().help_template("{options}").render_long_help().to_string();
    format!("Options of rabbitscope, allowed among those of PerfTest:\n{options}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_told_apart() {
        fn check(args: &str, ours: &str, perftest: &str) {
            assert_eq!(separate(words(args)).unwrap(), (words(ours), words(perftest)), "{args}");
        }
        check("-x 1 -y 2 --out d -z 5", "--out d", "-x 1 -y 2 -z 5");
        check("--json -x 1 --set=a=b --json-body", "--json --set=a=b", "-x 1 --json-body");
        check("--uri amqp://h -u q", "", "--uri amqp://h -u q");
        assert!(separate(words("-x 1 --out")).is_err());
    }

    #[test]
    fn no_option_of_perftest_is_taken_for_one_of_a_run() {
        let known = command();
        let names = known.get_arguments().filter_map(clap::Arg::get_long);
        for name in names {
            assert!(!perftest::has_option(name), "PerfTest has --{name}, too");
        }
    }

    #[test]
    fn words_stay_as_they_were_typed() {
        let args = ["-u", "a queue's \"name\" \\", "-h", "amqp://me:secret@h"].map(str::to_owned);
        let converted = converted(&args, Protocol::default()).unwrap();
        let scenario = parse_scenario(&converted.text(), "test", &[]).unwrap();
        assert_eq!(scenario.queues[0].name, args[1]);
        assert_eq!(converted.uris, ["amqp://me:secret@h"]);
        assert!(!converted.text().contains("secret"));
    }

    #[test]
    fn what_a_run_would_refuse_is_refused() {
        fn check(args: &str, part: &str) {
            let message = read(&words(args)).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        check("--json --json-lines", "cannot be used with");
        check("--prometheus nowhere", "nowhere");
        check("--allow-host h", "--prometheus");
        check("--protocol amqp", "expected");
    }
}
