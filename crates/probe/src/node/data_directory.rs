//! The directory of a node's data.

use rabbitscope_machine::{
    host::DataDirectory,
    process::{arguments, open_files},
};

use super::process::Process;
use crate::permission::{NODE, raise};

/// Variables with the directory, the most exact first (`rabbitmq-env.conf`).
const VARIABLES: [&str; 3] = ["RABBITMQ_QUORUM_DIR", "RABBITMQ_MNESIA_DIR", "RABBITMQ_MNESIA_BASE"];

/// The directory of packages and images.
const USUAL: &str = "/var/lib/rabbitmq/mnesia";

impl Process {
    /// The directory of the node's data, preferably with the write-ahead log of quorum queues. `None` if nothing shows
    /// it.
    pub(super) fn data_directory(&self) -> Option<DataDirectory> {
        let path = self.open_data().or_else(|| self.configured_data());
        if let Some(path) = path {
            let mount = self.mount_of(&path);
            return Some(DataDirectory { path, mount });
        }
        let mount = self.mount_of(USUAL)?;
        Some(DataDirectory { path: USUAL.to_owned(), mount: Some(mount) })
    }

    /// The directory of an open file.
    fn open_data(&self) -> Option<String> {
        let _raised = raise(NODE);
        let found = directory_in(open_files(self.pid).ok()?);
        self.confirm().ok().and(found)
    }

    /// The directory in the environment or the arguments.
    fn configured_data(&self) -> Option<String> {
        let variables = self.variables(VARIABLES).unwrap_or_default();
        let named = variables.into_iter().flatten().find(|path| path.starts_with('/'));
        named.or_else(|| directory_argument(&arguments(self.pid)?))
    }
}

/// The directory of a write-ahead log, or else of Mnesia's log.
fn directory_in(paths: impl Iterator<Item = String>) -> Option<String> {
    let rank = |path: &str| match path.rsplit_once('.') {
        Some((log, "wal")) => Some(u8::from(!log.contains("/quorum/"))),
        _ => path.ends_with("/LATEST.LOG").then_some(2),
    };
    let (_, best) = paths.filter_map(|path| Some((rank(&path)?, path))).min()?;
    best.rsplit_once('/').map(|(directory, _)| directory.to_owned())
}

/// The directory in `-mnesia dir "/path"`, an Erlang string.
fn directory_argument(arguments: &[String]) -> Option<String> {
    let mut triples = arguments.windows(3);
    let found = triples.find(|triple| triple[0] == "-mnesia" && triple[1] == "dir")?;
    let path = found[2].trim_matches('"');
    path.starts_with('/').then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{directory_argument, directory_in};

    #[track_caller]
    fn check(paths: &[&str], expected: Option<&str>) {
        let found = directory_in(paths.iter().map(|path| (*path).to_owned()));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn the_log_of_quorum_queues_comes_first() {
        let (data, mnesia) = ("/d/rabbit@h", "/d/rabbit@h/LATEST.LOG");
        let quorum = "/wal/quorum/rabbit@h/00000003.wal";
        let coordination = "/d/rabbit@h/coordination/rabbit@h/00000001.wal";
        check(&["/dev/null", mnesia, coordination, quorum], Some("/wal/quorum/rabbit@h"));
        check(&[coordination, mnesia], Some("/d/rabbit@h/coordination/rabbit@h"));
        check(&[mnesia, "/usr/lib/erlang/x.so"], Some(data));
        check(&["/dev/null", "/x/wal"], None);
    }

    #[test]
    fn the_directory_among_the_arguments() {
        let check = |text: &str, expected: Option<&str>| {
            let arguments: Vec<String> = text.split(' ').map(str::to_owned).collect();
            assert_eq!(directory_argument(&arguments).as_deref(), expected, "{text}");
        };
        check(
            "beam.smp -mnesia dir \"/var/lib/rabbitmq/mnesia/rabbit@h\"",
            Some("/var/lib/rabbitmq/mnesia/rabbit@h"),
        );
        check("beam.smp -mnesia dir relative", None);
        check("beam.smp -sname x", None);
    }
}
