//! `rabbitscope leftovers`: the objects that killed runs left on brokers that they did not start.

use std::{path::PathBuf, time::Duration};

use rabbitscope_machine::Liveness;
use rabbitscope_runner::{
    leftovers::{self, Entry, Journal, Management, Outcome, RemovalConsent},
    run,
};
use rabbitscope_runs::scenario::BrokerSpec;
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_text::display_utc;
use rabbitscope_topology::{BindingSource, Dialer};
use serde::Serialize;

use super::runs::read_scenario;
use rabbitscope_text::{Align, table};

use crate::exit::Exit;

/// List or remove the queues and exchanges that this user's killed runs left on brokers
///
/// Without --remove or --forget, the command only reads this user's journal.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Remove what ended runs declared on the broker, including messages
    ///
    /// Some objects stay: those that others use or may have bound, those that may belong to others, and all if
    /// another broker answers at the same address.
    #[arg(long, conflicts_with_all = ["forget"])]
    remove: bool,
    /// With `--remove`: check bindings through this URL: http://USER:PASSWORD@HOST:PORT
    ///
    /// The URL is that of the broker's management interface. An object without bindings other than the run's can be
    /// removed.
    #[arg(
        long,
        value_name = "URL",
        requires = "remove",
        env = "RABBITSCOPE_MANAGEMENT",
        hide_env_values = true
    )]
    management: Option<String>,
    /// With `--remove`: confirm that no application has since bound or declared the run's objects
    #[arg(long, requires = "remove", conflicts_with = "management")]
    assume_unbound: bool,
    /// Remove the run with this id from the journal, and leave the broker alone
    #[arg(long, value_name = "ID")]
    forget: Option<String>,
    /// URI of the broker: amqp://USER:PASSWORD@HOST:PORT/VHOST
    #[arg(long, env = "RABBITSCOPE_URI", hide_env_values = true)]
    uri: Option<String>,
    /// Use the broker, TLS and login of this scenario
    #[arg(long, value_name = "FILE", requires = "remove")]
    scenario: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// An entry in the list.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ListedEntry {
    id: String,
    started: String,
    broker: String,
    host: String,
    pid: u32,
    state: String,
    declared: Vec<String>,
}

/// The outcome of an entry.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct RemovalResult {
    id: String,
    removed: Vec<String>,
    left: Vec<String>,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let journal = Journal::open()?;
        if let Some(id) = &self.forget {
            return forget(&journal, id);
        }
        if self.remove {
            return self.remove(&journal);
        }
        let listed: Vec<ListedEntry> =
            journal.entries().iter().map(ListedEntry::from_entry).collect::<anyhow::Result<_>>()?;
        if self.json {
            output::json(&listed)?;
        } else if listed.is_empty() {
            output::result("no run of this user left anything on a broker");
        } else {
            output::result(&text_of(&listed));
        }
        Ok(Exit::Done)
    }

    fn remove(&self, journal: &Journal) -> anyhow::Result<Exit> {
        let asked = RemovalConsent { is_asked: true, is_unbound: self.assume_unbound };
        let management = self.management.as_deref().map(Management::parse).transpose()?;
        let source = management.as_ref().map(|management| management as &dyn BindingSource);
        let reports = leftovers::remove(journal, &self.dialer()?, asked, source)?;
        if self.json {
            let settled: Vec<RemovalResult> =
                reports.iter().map(RemovalResult::from_report).collect();
            output::json(&settled)?;
        } else if reports.iter().all(|report| report.outcome == Outcome::Running) {
            output::result("no ended run left anything there");
        }
        for sentence in reports.iter().flat_map(leftovers::Report::sentences) {
            if !self.json {
                output::result(&sentence);
            }
        }
        let is_open = reports.iter().any(leftovers::Report::is_open);
        Ok(if is_open { Exit::Failed } else { Exit::Done })
    }

    fn dialer(&self) -> anyhow::Result<Dialer> {
        let scenario = self.scenario.as_ref().map(|path| read_scenario(path, &[])).transpose()?;
        let uris = match (&self.uri, scenario.as_ref().map(|scenario| &scenario.broker.spec)) {
            (Some(uri), _) => vec![uri.clone()],
            (None, Some(BrokerSpec::Existing { uris })) => uris.clone(),
            (None, _) => {
                let reason = "say which broker: --uri, or --scenario with `[broker] uri`";
                return Err(UsageError(reason.to_owned()).into());
            }
        };
        let connecting = scenario.map(|scenario| scenario.broker.connecting).unwrap_or_default();
        run::dialer(&uris, &connecting, 1)
    }
}

fn forget(journal: &Journal, id: &str) -> anyhow::Result<Exit> {
    let entries: Vec<Entry> = journal
        .entries()
        .into_iter()
        .filter(|entry| entry.topology.token.starts_with(id))
        .collect();
    let [entry] = entries.as_slice() else {
        let reason =
            format!("no single run has the id {id}; `rabbitscope leftovers` lists all runs");
        return Err(UsageError(reason).into());
    };
    if entry.liveness()? == Liveness::Running {
        return Err(UsageError(format!("run {id} has not ended")).into());
    }
    journal.remove(&entry.topology.token);
    output::result(&format!("forgot run {} on {}", entry.id(), entry.broker));
    Ok(Exit::Done)
}

fn text_of(listed: &[ListedEntry]) -> String {
    let columns =
        ["run", "started", "state", "broker", "declared"].map(|title| (title, Align::Left));
    let rows: Vec<[String; 5]> = listed
        .iter()
        .map(|entry| {
            let declared = match entry.declared.as_slice() {
                [one] => one.clone(),
                [first, rest @ ..] => format!("{first} and {} more", rest.len()),
                [] => String::new(),
            };
            [
                entry.id.clone(),
                entry.started.clone(),
                entry.state.clone(),
                entry.broker.clone(),
                declared,
            ]
        })
        .collect();
    table(columns, &rows)
}

impl ListedEntry {
    fn from_entry(entry: &Entry) -> anyhow::Result<Self> {
        let state = match entry.liveness()? {
            Liveness::Running => "goes on".to_owned(),
            Liveness::Ended => "has ended".to_owned(),
            Liveness::OutOfSight { place } => format!("unknown: it ran {place}"),
        };
        Ok(Self {
            id: entry.id().to_owned(),
            started: display_utc(Duration::from_secs(entry.started_unix_seconds)).to_string(),
            broker: entry.broker.clone(),
            host: entry.origin.host.clone(),
            pid: entry.origin.process.pid(),
            state,
            declared: entry.topology.describe(),
        })
    }
}

impl RemovalResult {
    fn from_report(report: &leftovers::Report) -> Self {
        let (removed, left) = match &report.outcome {
            Outcome::Running => (Vec::new(), vec!["the run has not ended".to_owned()]),
            Outcome::LeftAlone(reason) => (Vec::new(), vec![reason.clone()]),
            Outcome::Removed(removal) => {
                let left = removal.kept.iter().map(ToString::to_string).collect();
                (removal.removed.clone(), left)
            }
        };
        Self { id: report.entry.id().to_owned(), removed, left }
    }
}
