//! Whose the samples of a profile are, in a few lines.

use std::fmt::{self, Write as _};

use rabbitscope_analysis::{Dimension, owner_shares, share};
use rabbitscope_profiles::Profile;
use serde::Serialize;

use rabbitscope_text::escapes;

/// Lines of each table.
const FIRST: usize = 5;

/// The owners with the largest shares. Empty where nobody asked the node.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Owners {
    roles: Vec<Owner>,
    queues: Vec<Owner>,
    channels: Vec<Owner>,
    connections: Vec<Owner>,
}

/// Shares are of all samples of the node, 0 to 1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Owner {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    vhost: String,
    share: f64,
    processes: usize,
}

impl Owners {
    pub(super) fn of(profile: &Profile) -> Self {
        let whole = profile.total();
        let first = |dimension| {
            let shares = owner_shares(profile, dimension).into_iter().take(FIRST);
            let owner = shares.map(|it| Owner {
                share: share(it.weight, whole),
                name: it.name,
                vhost: it.vhost,
                processes: it.processes,
            });
            owner.collect()
        };
        Self {
            roles: first(Dimension::Role),
            queues: first(Dimension::Queue),
            channels: first(Dimension::Channel),
            connections: first(Dimension::Connection),
        }
    }
}

impl fmt::Display for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = [
            ("Roles of processes", &self.roles),
            ("Queues", &self.queues),
            ("Channels", &self.channels),
        ];
        for (title, owners) in tables.into_iter().filter(|(_, owners)| !owners.is_empty()) {
            writeln!(f, "\n{title}")?;
            for owner in owners {
                writeln!(f, "{}", line(owner))?;
            }
        }
        Ok(())
    }
}

fn line(owner: &Owner) -> String {
    let mut line = format!("{:>6.1} %  {}", 100.0 * owner.share, escapes::value(&owner.name));
    if !owner.vhost.is_empty() && owner.vhost != "/" {
        let _ = write!(line, "  in {}", escapes::value(&owner.vhost));
    }
    if owner.processes > 1 {
        let _ = write!(line, "  ({} processes)", owner.processes);
    }
    line
}
