//! The search path of plugins, and the names on it. The plugins that listen are in `plugins.rs`.

use std::{fs, path::PathBuf};

use rabbitscope_runs::scenario::{ThrowawayBroker, nearest_name};

use crate::{BrokerError, Installation};

/// The variable with the search path.
pub(super) const VARIABLE: &str = "RABBITMQ_PLUGINS_DIR";

/// The search path: the caller's directory, then those of the installation. Without the former RabbitMQ knows its own.
pub(super) fn plugin_path(installation: &Installation, spec: &ThrowawayBroker) -> Option<String> {
    let own = own_directory(spec)?;
    let installed = installation.plugin_directories();
    (!installed.is_empty()).then(|| joined(&[vec![own], installed].concat(), ":"))
}

/// Refuses plugins that are nowhere on the search path. RabbitMQ itself would start without them, and say so in its log
/// alone.
pub(crate) fn require_plugins(
    installation: &Installation,
    spec: &ThrowawayBroker,
) -> Result<(), BrokerError> {
    if let Some(own) = own_directory(spec) {
        let seen = installation.seen_from_here(&own);
        fs::read_dir(seen).map_err(|source| BrokerError::Unreadable { path: own, source })?;
    }
    let places = places(installation, spec);
    let known = installation.plugin_names_in(&places);
    let missing = spec.plugins.iter().find(|name| !known.contains(name));
    match missing {
        Some(name) if !known.is_empty() => Err(BrokerError::NoPlugin {
            name: name.clone(),
            places: joined(&places, ", "),
            hint: hint(name, &known),
        }),
        // Without a single known name the places are not what this program takes them for.
        _ => Ok(()),
    }
}

fn places(installation: &Installation, spec: &ThrowawayBroker) -> Vec<PathBuf> {
    if let Some(path) = spec.environment.get(VARIABLE) {
        return path.split(':').map(PathBuf::from).collect();
    }
    own_directory(spec).into_iter().chain(installation.plugin_directories()).collect()
}

fn own_directory(spec: &ThrowawayBroker) -> Option<PathBuf> {
    let own = Some(&spec.plugins_directory).filter(|path| !path.is_empty())?;
    std::path::absolute(own).ok()
}

/// The end of the refusal: a similar name, if there is one.
fn hint(name: &str, known: &[String]) -> String {
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let with_prefix = format!("rabbitmq_{name}");
    let similar = nearest_name(name, &names).or_else(|| nearest_name(&with_prefix, &names));
    similar.map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"))
}

fn joined(paths: &[PathBuf], separator: &str) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(separator)
}
