//! The pages that a scenario's pollers request: the complete address, the password from its configured source and the
//! trusted authorities.

use std::{
    env::{self, VarError},
    path::Path,
};

use anyhow::Context;
use rabbitscope_files::MAX_TEXT_BYTES;
use rabbitscope_polling::Page;
use rabbitscope_runs::scenario::{PollerGroup, Scenario};
use rabbitscope_terminal::UsageError;

use super::broker::Target;

/// Refuses a password or an authority that is missing.
pub(super) fn check(scenario: &Scenario) -> anyhow::Result<()> {
    scenario.pollers.iter().try_for_each(|group| page(group, group.url.clone(), None).map(drop))
}

/// Returns the pages of all groups.
pub(super) fn for_scenario(scenario: &Scenario, target: &Target) -> anyhow::Result<Vec<Page>> {
    let throwaway = target.throwaway.as_ref().map(|broker| broker.login());
    scenario.pollers.iter().map(|group| page(group, address(group, target)?, throwaway)).collect()
}

fn address(group: &PollerGroup, target: &Target) -> Result<String, UsageError> {
    if !group.url.starts_with('/') {
        return Ok(group.url.clone());
    }
    let port = target.throwaway.as_ref().and_then(|broker| broker.management_port());
    let port = port.ok_or_else(|| {
        UsageError(format!("poller {}: the broker has no management listener", group.name))
    })?;
    Ok(format!("http://127.0.0.1:{port}{}", group.url))
}

/// Builds the page of a group. `throwaway` logs in to the management listener of a throwaway broker.
fn page(group: &PollerGroup, url: String, throwaway: Option<(&str, &str)>) -> anyhow::Result<Page> {
    let password = password(group)?;
    let login = match group.user.as_deref().zip(password.as_deref()) {
        Some(login) => Some(login),
        None => throwaway.filter(|_| group.url.starts_with('/')),
    };
    let authorities = match &group.ca {
        Some(file) => rabbitscope_files::read(Path::new(file), MAX_TEXT_BYTES)
            .map_err(|error| UsageError(format!("cannot read the authorities {file}: {error}")))?,
        None => Vec::new(),
    };
    Page::new(group, url, login, &authorities).with_context(|| format!("poller {}", group.name))
}

/// Reads the password of a group that logs in.
fn password(group: &PollerGroup) -> Result<Option<String>, UsageError> {
    match (&group.password_env, &group.password_file) {
        (Some(name), _) => {
            let reason = match env::var(name) {
                Ok(password) if !password.is_empty() => return Ok(Some(password)),
                Ok(_) | Err(VarError::NotPresent) => "set it",
                Err(VarError::NotUnicode(_)) => "it is not text in UTF-8",
            };
            let place = format!("set the variable {name} to the password of the poller");
            Err(UsageError(format!("{place}: {reason}")))
        }
        (None, Some(file)) => {
            let text = rabbitscope_files::read_text(Path::new(file), MAX_TEXT_BYTES);
            let text = text.map_err(|error| {
                UsageError(format!("cannot read the password file {file}: {error}"))
            })?;
            Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
        }
        (None, None) => Ok(None),
    }
}
