//! The line of `profile --explain` about servers of debug files. It makes no request.

use rabbitscope_probe::{Fact, MissingDebugFile, files_without_names};

use super::{
    cache::{Cache, Cached},
    outcome::short,
    settings::Settings,
};

/// Returns which servers a recording of the node with this pid would ask, and for which files.
pub fn explained(pid: u32) -> Fact {
    let (is_met, found) = sentence(Settings::from_environment(), &files_without_names(pid));
    Fact { what: "debuginfod", is_met, is_needed: false, found }
}

fn sentence(settings: Option<Settings>, missing: &[MissingDebugFile]) -> (bool, String) {
    let shown = |file: &MissingDebugFile| format!("{} ({})", short(&file.path), file.build_id);
    let list = |files: &[&MissingDebugFile]| {
        let names: Vec<String> = files.iter().map(|file| shown(file)).collect();
        names.join(", ")
    };
    let Some(settings) = settings else {
        let off = "off: DEBUGINFOD_URLS names no server of debug files";
        return match missing.len() {
            0 => (true, format!("{off}; none is needed")),
            count => (false, format!("{off}; servers might have those of {count} files")),
        };
    };
    let mut found = settings.unusable.clone();
    if settings.servers.is_empty() {
        return (false, found.join("; "));
    }
    if missing.is_empty() {
        found.push("not needed: all files have names".to_owned());
        return (true, found.join("; "));
    }
    let cache = Cache::look(settings.cache.as_deref());
    let is_there = |file: &&MissingDebugFile| {
        let Ok(Some(cache)) = &cache else { return false };
        matches!(cache.find(&file.build_id), Cached::File(_))
    };
    let (cached, asked): (Vec<_>, Vec<_>) = missing.iter().partition(is_there);
    if !asked.is_empty() {
        let servers = settings.names();
        found.push(format!(
            "after a recording, would ask {servers} for debug files of sampled files, among {}",
            list(&asked)
        ));
    }
    if !cached.is_empty() {
        found.push(format!("the cache has {}", list(&cached)));
    }
    if let Err(error) = &cache {
        found.push(format!("debug files would not be kept: {error}"));
    }
    (true, found.join("; "))
}
