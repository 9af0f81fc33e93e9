//! Options of a run, for any source of its scenario: its results and its watchers.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use rabbitscope_analysis::FailureWatch;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_runner::{
    fleet::{self, FleetSettings},
    leftovers::RemovalConsent,
    progress::{self, Watcher, Watchers},
    run,
};
use rabbitscope_runs::scenario::{BrokerSpec, Scenario};
use rabbitscope_terminal::{UsageError, output};

use rabbitscope_http::{Host, ListenOptions, Listener, parse_address};

use super::{
    consent::ConsentArgs, exit_code::exit_code, fleet_args::FleetArgs, live_page::LivePage, serve,
};

use crate::{exit::Exit, interrupt};

#[derive(Debug, clap::Args)]
#[group(id = "RunOptions", multiple = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(super) struct RunOptions {
    /// Replace a value of the scenario, for example `publishers.0.rate=5000`
    ///
    /// The environment variable `RABBITSCOPE_SET_PUBLISHERS__0__RATE=5000` has the same effect.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    /// Directory for the results, new or empty [default: runs/TIME-NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    consent: ConsentArgs,
    /// Print the run record as JSON, with the limit of the run as `check`
    #[arg(long)]
    json: bool,
    /// Print one line of JSON per second, and no summary
    #[arg(long, conflicts_with = "json")]
    json_lines: bool,
    /// Write one line per second to this file, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Serve metrics for Prometheus at this address during the run, for example localhost:9419
    ///
    /// An address that other machines can reach requires `--prometheus-auth-file`.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address)]
    prometheus: Option<SocketAddr>,
    /// With `--prometheus`: file with `user:password` or a token that requests must send
    ///
    /// Only its owner and group may have permission to read the file.
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    prometheus_auth_file: Option<PathBuf>,
    /// With `--prometheus`: additional name or address, without a port, to accept in `Host`
    #[arg(long = "allow-host", value_name = "NAME", requires = "prometheus")]
    allow_hosts: Vec<Host>,
    /// Show the run live in a browser on this machine, at the printed address, which is secret
    ///
    /// A free port is taken unless you give one: `--serve=8080`. The page ends with the report.
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        value_parser = serve::port
    )]
    serve: Option<u16>,
    /// Stop the run when a limit of `[expect]` has failed for good, as `run.stop-on-failure` does
    #[arg(long)]
    stop_on_failure: bool,
    /// Show one line of progress instead of the live view
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

struct Options {
    scenario: Scenario,
    asked: RemovalConsent,
    directory: RunDirectory,
    form: Form,
    watching: WatchOptions,
    fleet: Option<FleetSettings>,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Summary,
    Record,
    Seconds,
}

/// The watchers besides the series.
#[derive(Debug)]
struct WatchOptions {
    csv: Option<PathBuf>,
    prometheus: Option<Listener>,
    serve: Option<Listener>,
    plain: bool,
}

impl RunOptions {
    /// Returns the path of the CSV file.
    pub(super) fn csv(&self) -> Option<&Path> {
        self.csv.as_deref()
    }

    /// Runs the scenario with these options.
    pub(super) fn run(self, scenario: Scenario) -> anyhow::Result<Exit> {
        let mut valid = self.validate(scenario)?;
        let stop = interrupt::watch()?;
        let mut live = LivePage::default();
        let finished = watchers(&mut valid, &mut live, &stop).and_then(|watchers| {
            let Options { scenario, asked, directory, fleet, .. } = &valid;
            run::run(scenario, *asked, directory, watchers, fleet.as_ref(), &stop)
        });
        live.end(&finished);
        let finished = finished.inspect_err(|_| {
            live.linger(&stop);
            valid.directory.discard_if_unused();
        })?;
        match valid.form {
            Form::Record => output::json(&finished.printed())?,
            Form::Seconds => {}
            Form::Summary => {
                output::result(&run::summary(&finished, &valid.scenario, valid.directory.path()));
            }
        }
        live.linger(&stop);
        finished.unwritten.map_or_else(|| Ok(exit_code(&finished.record)), Err)
    }

    fn validate(self, mut scenario: Scenario) -> anyhow::Result<Options> {
        scenario.run.stop_on_failure |= self.stop_on_failure;
        can_stop_on_failure(&scenario)?;
        if scenario.profile.is_none() {
            rabbitscope_probe::drop_privileges()?;
        }
        run::check(&scenario)?;
        let prometheus = self.listener()?;
        let serve = self.serve.map(serve::listen).transpose()?;
        let fleet = self.fleet.validate()?;
        fleet.iter().try_for_each(|fleet| fleet::check(&scenario, fleet))?;
        scenario.seed = scenario.seed.or_drawn(run::drawn_seed());
        let directory = match self.out {
            Some(out) => RunDirectory::create(&out)?,
            None => RunDirectory::create_named(&scenario.name)?,
        };
        let form = match (self.json, self.json_lines) {
            (true, _) => Form::Record,
            (_, true) => Form::Seconds,
            _ => Form::Summary,
        };
        let watching = WatchOptions { csv: self.csv, prometheus, serve, plain: self.plain };
        let asked = self.consent.consent();
        Ok(Options { scenario, asked, directory, form, watching, fleet })
    }

    /// Opens the listener for Prometheus.
    fn listener(&self) -> anyhow::Result<Option<Listener>> {
        let bind = |address| {
            Listener::bind(ListenOptions {
                address,
                auth_file: self.prometheus_auth_file.as_deref(),
                auth_option: "--prometheus-auth-file",
                hosts: self.allow_hosts.clone(),
            })
        };
        Ok(self.prometheus.map(bind).transpose()?)
    }
}

/// Refuses to wait for a failure that cannot be detected.
fn can_stop_on_failure(scenario: &Scenario) -> Result<(), UsageError> {
    if scenario.run.stop_on_failure && FailureWatch::from_scenario(scenario).is_empty() {
        let reason = "no limit of [expect] can fail before the end: for stop-on-failure, give an upper limit for a \
                      count that never falls, for a `max`, or for a percentile of `confirm` or `round-trip` with a \
                      constant rate or `messages`";
        return Err(UsageError(reason.to_owned()));
    }
    Ok(())
}

/// Creates the watchers of this run.
fn watchers(
    valid: &mut Options,
    live: &mut LivePage,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Watchers> {
    let Options { scenario, form, watching, .. } = valid;
    let mut watchers: Vec<Box<dyn Watcher>> = Vec::new();
    if *form == Form::Seconds {
        watchers.push(Box::new(progress::JsonLines));
    }
    if let Some(path) = &watching.csv {
        watchers.push(Box::new(progress::Csv::create(path)?));
    }
    if let Some(listener) = watching.prometheus.take() {
        let endpoint = progress::Endpoint::start(listener, &scenario.name)?;
        output::note(&format!("Prometheus: http://{}/metrics", endpoint.address()));
        watchers.push(Box::new(endpoint));
    }
    if let Some(listener) = watching.serve.take() {
        watchers.push(Box::new(live.start(listener, scenario)?));
    }
    if !watching.plain && output::can_show_a_view(*form == Form::Seconds) {
        let broker = match scenario.broker.spec {
            BrokerSpec::Existing { .. } => "existing broker",
            BrokerSpec::Throwaway(_) => "throwaway broker",
        };
        let head = progress::RunHeader {
            name: scenario.name.clone(),
            broker: broker.to_owned(),
            duration: scenario.run.duration,
            ..progress::RunHeader::default()
        };
        watchers.push(Box::new(progress::Live::new(head, Arc::clone(stop))));
    } else {
        watchers.push(Box::new(progress::Line::default()));
    }
    Ok(Watchers::new(watchers))
}
