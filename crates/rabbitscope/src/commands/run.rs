//! `rabbitscope run`: a scenario, once.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context;
use rabbitscope_data::scenario::{self, BrokerSpec, Scenario};
use rabbitscope_files::MOST_OF_A_TEXT;
use rabbitscope_load::unreadable_file;

use super::environment;
use crate::{
    exit::{Exit, UsageError},
    experiment,
    http::{Host, Listener, Listening, parse_address},
    interrupt,
    leftovers::Asked,
    output, perftest,
    rundir::RunDirectory,
    watch::{self, Watcher, Watchers},
};

/// Most of a file that a scenario names: a million names of queues.
const MOST_OF_A_LIST: u64 = 64 << 20;

/// Run a scenario: load, measurements, profile, report
///
/// Run only scenarios that you trust: one that starts a throwaway broker decides what code runs in it
/// (`erl-args`, `config`, `advanced-config`, `plugins-directory`), and any can send files of yours to a
/// broker that it names
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(super) struct Typed {
    /// The scenario, a TOML file
    #[arg(required_unless_present = "from_perftest")]
    scenario: Option<PathBuf>,
    /// Print the scenario that does what this PerfTest command line does, and run nothing
    #[arg(long, value_name = "COMMAND LINE", exclusive = true, allow_hyphen_values = true)]
    from_perftest: Option<String>,
    /// Replace a value of the scenario, for example `publishers.0.rate=5000`; the environment
    /// variable `RABBITSCOPE_SET_PUBLISHERS__0__RATE=5000` does the same
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Use this broker, whatever the scenario says: amqp://USER:PASSWORD@HOST:PORT/VHOST. Others
    /// can see a password on the command line; they cannot see one in the environment variable
    #[arg(long, env = "RABBITSCOPE_URI", hide_env_values = true)]
    uri: Option<String>,
    /// Directory for the results, new or empty [default: runs/TIME-NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Before it begins, also remove what killed runs of this user left on this broker with messages in
    /// it; without this only what is empty is removed, and the rest is said
    #[arg(long)]
    remove_leftovers: bool,
    /// Print the run record as JSON
    #[arg(long)]
    json: bool,
    /// Print every second as a line of JSON while the run goes, and no summary
    #[arg(long, conflicts_with = "json")]
    json_lines: bool,
    /// Write every second to this file as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Answer Prometheus at this address while the run goes, for example localhost:9419; one that
    /// other machines reach needs `--prometheus-auth-file`
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address)]
    prometheus: Option<SocketAddr>,
    /// With `--prometheus`: a file with `user:password` or a token that requests have to bring;
    /// others than its owner and group must not be able to read it
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    prometheus_auth_file: Option<PathBuf>,
    /// With `--prometheus`: a further name or address, without a port, that requests may have in
    /// `Host`
    #[arg(long = "allow-host", value_name = "NAME", requires = "prometheus")]
    allow_hosts: Vec<Host>,
    /// Show one line of progress instead of the live view
    #[arg(long)]
    plain: bool,
}

struct Valid {
    scenario: Scenario,
    asked: Asked,
    directory: RunDirectory,
    form: Form,
    watching: Watching,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Summary,
    Record,
    Seconds,
}

/// Who watches, besides the series.
#[derive(Debug)]
struct Watching {
    csv: Option<PathBuf>,
    prometheus: Option<Listener>,
    plain: bool,
}

impl Typed {
    fn validate(self) -> anyhow::Result<Valid> {
        let path = self.scenario.as_ref().expect("the command line asks for it");
        let mut scenario = read_scenario(path, &self.set)?;
        if let Some(uri) = &self.uri {
            scenario.broker = BrokerSpec::Existing { uris: vec![uri.clone()] };
        }
        if scenario.profile.is_none() {
            rabbitscope_probe::drop_privileges()?;
        }
        experiment::check(&scenario)?;
        let prometheus = self.listener()?;
        let directory = match self.out {
            Some(out) => RunDirectory::create(&out)?,
            None => RunDirectory::create_named(&scenario.name)?,
        };
        let form = match (self.json, self.json_lines) {
            (true, _) => Form::Record,
            (_, true) => Form::Seconds,
            _ => Form::Summary,
        };
        let watching = Watching { csv: self.csv, prometheus, plain: self.plain };
        let asked = Asked::explicitly_if(self.remove_leftovers);
        Ok(Valid { scenario, asked, directory, form, watching })
    }

    /// Where Prometheus may ask.
    fn listener(&self) -> anyhow::Result<Option<Listener>> {
        let bind = |address| {
            Listener::bind(Listening {
                address,
                auth_file: self.prometheus_auth_file.as_deref(),
                auth_option: "--prometheus-auth-file",
                hosts: self.allow_hosts.clone(),
            })
        };
        self.prometheus.map(bind).transpose()
    }

    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        if let Some(command_line) = &self.from_perftest {
            rabbitscope_probe::drop_privileges()?;
            output::result(perftest::scenario_of(command_line)?.trim_end());
            return Ok(Exit::Done);
        }
        let mut valid = self.validate()?;
        let stop = interrupt::watch()?;
        let finished = watchers(&mut valid, &stop)
            .and_then(|watchers| {
                experiment::run(&valid.scenario, valid.asked, &valid.directory, watchers, &stop)
            })
            .inspect_err(|_| valid.directory.discard_if_unused())?;
        match valid.form {
            Form::Record => output::json(&finished.record)?,
            Form::Seconds => {}
            Form::Summary => {
                output::result(&experiment::summary(&finished, valid.directory.path()));
            }
        }
        finished.unwritten.map_or_else(|| Ok(experiment::exit_code(&finished.record)), Err)
    }
}

/// Those who watch this run.
fn watchers(valid: &mut Valid, stop: &Arc<AtomicBool>) -> anyhow::Result<Watchers> {
    let Valid { scenario, form, watching, .. } = valid;
    let mut watchers: Vec<Box<dyn Watcher>> = Vec::new();
    if *form == Form::Seconds {
        watchers.push(Box::new(watch::JsonLines));
    }
    if let Some(path) = &watching.csv {
        watchers.push(Box::new(watch::Csv::create(path)?));
    }
    if let Some(listener) = watching.prometheus.take() {
        let endpoint = watch::Endpoint::start(listener, &scenario.name)?;
        output::note(&format!("Prometheus: http://{}/metrics", endpoint.address()));
        watchers.push(Box::new(endpoint));
    }
    if !watching.plain && output::can_show_a_view(*form == Form::Seconds) {
        let broker = match scenario.broker {
            BrokerSpec::Existing { .. } => "existing broker",
            BrokerSpec::Throwaway(_) => "throwaway broker",
        };
        let head = watch::Head {
            name: scenario.name.clone(),
            broker: broker.to_owned(),
            duration: scenario.stop.duration,
            ..watch::Head::default()
        };
        watchers.push(Box::new(watch::Live::new(head, Arc::clone(stop))));
    } else {
        watchers.push(Box::new(watch::Line::default()));
    }
    Ok(Watchers::new(watchers))
}

pub(super) fn read_scenario(path: &Path, overrides: &[String]) -> anyhow::Result<Scenario> {
    let file = path.display().to_string();
    let text = rabbitscope_files::read_text(path, MOST_OF_A_TEXT)
        .map_err(|error| UsageError(format!("cannot read the scenario {file}: {error}")))?;
    // What is typed comes last and so holds.
    let mut all = environment::overrides(std::env::vars());
    all.extend_from_slice(overrides);
    let mut read = |path: &str| {
        rabbitscope_files::read_text(Path::new(path), MOST_OF_A_LIST)
            .map_err(|error| error.to_string())
    };
    let parsed = scenario::parse_with_files(&text, &file, &all, &mut read);
    let checked = parsed.and_then(|scenario| match unreadable_file(&scenario) {
        None => Ok(scenario),
        Some((key, why)) => Err(scenario::refusal(&text, &file, &all, &key, why.to_string())),
    });
    checked.context("the scenario is not valid")
}
