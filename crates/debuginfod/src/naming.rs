//! Names the native functions of a recording from the debug files of servers.

use std::{
    collections::HashMap, fs::File, io::IsTerminal, sync::atomic::AtomicBool, thread,
    time::Duration,
};

use rabbitscope_probe::{Recorded, UnnamedCode};
use rabbitscope_profiles::Profile;
use rabbitscope_terminal::output;

use super::{
    fetch::{FetchProgress, fetch},
    outcome::{Named, failures, short, successes},
    settings::Settings,
};

/// Time after which progress is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(2);

/// Returns whether the environment names servers.
pub fn is_wanted() -> bool {
    Settings::from_environment().is_some()
}

/// Returns the profiles with the names that the debug files of servers have for nameless functions. Adds notes about
/// the requests and their results. Without servers in the environment the profiles stay unchanged. Never fails, because
/// a recording cannot be repeated.
pub fn named(recorded: Recorded, stop: &AtomicBool) -> Vec<Profile> {
    match Settings::from_environment() {
        Some(settings) => named_by(settings, recorded, stop),
        None => recorded.profiles,
    }
}

fn named_by(settings: Settings, recorded: Recorded, stop: &AtomicBool) -> Vec<Profile> {
    let Recorded { mut profiles, unnamed } = recorded;
    let wanted = unnamed.missing(&profiles);
    let mut notes =
        settings.unusable.iter().map(|note| format!("debuginfod: {note}")).collect::<Vec<_>>();
    if !wanted.is_empty() && !settings.servers.is_empty() {
        let mut shown = Shown::new(settings.names());
        let fetched = fetch(settings, wanted, stop, &mut |progress| shown.show(&progress));
        drop(shown);
        let mut successful = Vec::new();
        for outcome in &fetched.outcomes {
            let Some((file, origin)) = &outcome.found else { continue };
            let path = short(&outcome.wanted.path).to_owned();
            match names_from(&unnamed, &outcome.wanted.build_id, file) {
                Ok(names) => {
                    for profile in &mut profiles {
                        profile.rename_native(&names);
                    }
                    successful.push(Named {
                        file: path,
                        origin: origin.clone(),
                        functions: names.len(),
                    });
                }
                Err(reason) => notes.push(format!("debuginfod: the debug file of {path} {reason}")),
            }
        }
        notes.extend(successes(&successful));
        notes.extend(failures(&fetched.outcomes));
        notes.extend(fetched.cache_problem);
    }
    for profile in &mut profiles {
        profile.capture.notes.extend(notes.iter().cloned());
    }
    profiles
}

/// Reads the names on a separate thread. A malicious file that looks like a debug file may crash it, but not the
/// recording.
fn names_from(
    unnamed: &UnnamedCode,
    build_id: &str,
    file: &File,
) -> Result<HashMap<String, String>, String> {
    let read = thread::scope(|scope| scope.spawn(|| unnamed.names_from(build_id, file)).join());
    match read {
        Ok(names) => names.map_err(|error| error.to_string()),
        Err(_) => Err("could not be read".to_owned()),
    }
}

/// The progress line for a waiting user.
struct Shown {
    servers: String,
    line: output::ProgressLine,
    is_said: bool,
}

impl Shown {
    fn new(servers: String) -> Self {
        Self { servers, line: output::ProgressLine::default(), is_said: false }
    }

    fn show(&mut self, progress: &FetchProgress<'_>) {
        let FetchProgress { done, all, next, elapsed } = progress;
        if *elapsed < SHOWN_AFTER {
            return;
        }
        let text = format!("debug files: {done} of {all}, asking {} for {next}", self.servers);
        if std::io::stderr().is_terminal() {
            self.line.show(&text);
        } else if !self.is_said {
            output::note(&text);
        }
        self.is_said = true;
    }
}
