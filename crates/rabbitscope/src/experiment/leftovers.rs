//! Queues and exchanges that a killed run left on a broker it did not start.
//!
//! Before the first is declared their names are written to a file of this user; the file goes when
//! they are gone. A file whose process no longer exists is a debt of a run that was
//! killed, and is paid at the next run against the same broker.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_amqp::Uri;
use rabbitscope_load::{Belongings, Dialer};
use serde::{Deserialize, Serialize};

use crate::{atomic_file, machine::ProcessIdentity};

/// What a run may leave behind. Holds no password.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Debt {
    process: ProcessIdentity,
    /// User, address and virtual host.
    broker: String,
    queues: Vec<String>,
    #[serde(default)]
    exchanges: Vec<String>,
}

/// The file of one run.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    broker: String,
}

impl Ledger {
    /// The file for a run of this process against `uri`.
    pub(super) fn open(uri: &Uri) -> anyhow::Result<Self> {
        let directory = directory()?;
        let path = directory.join(format!("{}.json", std::process::id()));
        Ok(Self { path, broker: uri.to_string() })
    }

    /// Remembers what is about to be declared.
    pub(super) fn remember(&self, belongings: &Belongings) -> anyhow::Result<()> {
        let process = ProcessIdentity::of(std::process::id()).context("cannot read /proc/self")?;
        let Belongings { queues, exchanges } = belongings.clone();
        let debt = Debt { process, broker: self.broker.clone(), queues, exchanges };
        atomic_file::write(&self.path, &serde_json::to_vec_pretty(&debt)?)
    }

    /// They are gone.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Removes what runs against this broker that were killed had declared; says what was there.
    pub(super) fn pay_debts(&self, dialer: &Dialer) -> anyhow::Result<Vec<String>> {
        let mut removed = Vec::new();
        for (file, debt) in debts(self.path.parent().expect("a file in a directory")) {
            if debt.broker == self.broker && !debt.process.is_alive() {
                let Debt { queues, exchanges, .. } = debt;
                let there = rabbitscope_load::remove(dialer, &Belongings { queues, exchanges })?;
                removed.extend(there.queues.into_iter().chain(there.exchanges));
                let _ = fs::remove_file(file);
            }
        }
        Ok(removed)
    }
}

fn debts(directory: &Path) -> Vec<(PathBuf, Debt)> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    files
        .filter_map(|file| {
            let debt = serde_json::from_slice(&fs::read(&file).ok()?).ok()?;
            Some((file, debt))
        })
        .collect()
}

/// `$XDG_STATE_HOME/rabbitscope/queues`, by default below `~/.local/state`.
fn directory() -> anyhow::Result<PathBuf> {
    let state = match env::var_os("XDG_STATE_HOME").filter(|value| !value.is_empty()) {
        Some(state) => PathBuf::from(state),
        None => PathBuf::from(env::var_os("HOME").context("HOME is not set")?).join(".local/state"),
    };
    let directory = state.join("rabbitscope/queues");
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    Ok(directory)
}
