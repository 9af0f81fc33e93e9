//! The journal: one file per run that has declared something on a broker that it did not start.

use std::{
    env,
    ffi::OsStr,
    io::Write,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, bail};
use rabbitscope_files::Directory;
use rabbitscope_machine::{Liveness, ProcessOrigin};
use rabbitscope_topology::OwnedTopology;
use serde::{Deserialize, Serialize};

/// Size limit of an entry. An entry of ten thousand queues takes about 1.2 MB.
const ENTRY_BYTES_MAX: u64 = 64 << 20;

/// The objects that a run may leave behind. Holds no password.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Entry {
    /// User, address and virtual host.
    pub broker: String,
    /// Seconds since 1970.
    pub started_unix_seconds: u64,
    /// The run's process, with its boot, machine and container.
    pub origin: ProcessOrigin,
    /// The objects that the run was about to declare.
    #[serde(alias = "belongings")]
    pub topology: OwnedTopology,
}

impl Entry {
    /// Returns a short name for the user.
    pub fn id(&self) -> &str {
        let token = &self.topology.token;
        token.get(..8).unwrap_or(token)
    }

    /// Returns whether the run's process is still alive, as far as this machine can tell.
    pub fn liveness(&self) -> anyhow::Result<Liveness> {
        let here = ProcessOrigin::here().context("cannot read /proc/self")?;
        Ok(self.origin.liveness(&here))
    }
}

/// The entries of this user.
#[derive(Clone, Debug)]
pub struct Journal {
    directory: Arc<Directory>,
}

impl Journal {
    /// Opens `$XDG_STATE_HOME/rabbitscope/runs`, by default below `~/.local/state`. Removals rely on its
    /// entries, so that the directory must be this user's, and others may not write to it.
    pub fn open() -> anyhow::Result<Self> {
        Self::at(&state_home()?.join("rabbitscope/runs"))
    }

    fn at(path: &Path) -> anyhow::Result<Self> {
        let directory = Directory::make(path)?;
        require_private(&directory)?;
        Ok(Self { directory: Arc::new(directory) })
    }

    /// Records the objects that this process is about to declare.
    pub fn add(&self, broker: &str, topology: &OwnedTopology) -> anyhow::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let entry = Entry {
            broker: broker.to_owned(),
            started_unix_seconds: now.as_secs(),
            origin: ProcessOrigin::here().context("cannot read /proc/self")?,
            topology: topology.clone(),
        };
        let name = file_name(&entry.topology.token);
        let text = serde_json::to_vec_pretty(&entry)?;
        let cannot = || format!("cannot write {}", self.directory.path().join(&name).display());
        let mut file = self.directory.create_new(name.as_ref()).with_context(cannot)?;
        // The entry must be on the disk before the first queue is declared.
        file.write_all(&text)
            .and_then(|()| file.sync_all())
            .inspect_err(|_| drop(self.directory.remove_file(name.as_ref())))
            .with_context(cannot)
    }

    /// Removes the entry of a run whose objects are all gone from the broker.
    pub fn remove(&self, token: &str) {
        let _ = self.directory.remove_file(file_name(token).as_ref());
    }

    /// Returns all entries, the oldest first. Other files are ignored.
    pub fn entries(&self) -> Vec<Entry> {
        let names = self.directory.names().unwrap_or_default();
        let mut entries: Vec<Entry> = names.iter().filter_map(|name| self.read(name)).collect();
        entries.sort_by_key(|entry| entry.started_unix_seconds);
        entries
    }

    fn read(&self, name: &OsStr) -> Option<Entry> {
        let file = self.directory.open_file(name, ENTRY_BYTES_MAX).ok()?;
        if file.metadata().ok()?.uid() != own_user() {
            return None;
        }
        let text = rabbitscope_files::read_all(file, ENTRY_BYTES_MAX).ok()?;
        let entry: Entry = serde_json::from_slice(&text).ok()?;
        // The token names the markers and the entry's own file.
        let is_own = entry.topology.has_token() && *name == *file_name(&entry.topology.token);
        is_own.then_some(entry)
    }
}

fn file_name(token: &str) -> String {
    format!("{token}.json")
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn require_private(directory: &Directory) -> anyhow::Result<()> {
    let place = directory.path().display();
    if directory.is_of_others().with_context(|| format!("cannot look at {place}"))? {
        bail!(
            "{place} must be a directory of this user that others cannot write to; remove it, or set XDG_STATE_HOME"
        );
    }
    Ok(())
}

fn state_home() -> anyhow::Result<PathBuf> {
    if let Some(state) = env::var_os("XDG_STATE_HOME").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(state));
    }
    let home = env::var_os("HOME").filter(|value| !value.is_empty());
    let home = home.context("HOME is not set; set XDG_STATE_HOME")?;
    Ok(PathBuf::from(home).join(".local/state"))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::*;

    fn journal(name: &str) -> Journal {
        let own = format!("rabbitscope-journal-{name}-{}", std::process::id());
        let directory = env::temp_dir().join(own);
        let _ = fs::remove_dir_all(&directory);
        Journal::at(&directory).unwrap()
    }

    fn path(journal: &Journal, token: &str) -> PathBuf {
        journal.directory.path().join(file_name(token))
    }

    fn topology(digit: char) -> OwnedTopology {
        OwnedTopology { token: digit.to_string().repeat(32), ..OwnedTopology::default() }
    }

    #[test]
    fn entries_are_read_back_and_removed() {
        let journal = journal("round");
        journal.add("u@h:1/v", &topology('a')).unwrap();
        journal.add("u@h:1/v", &topology('b')).unwrap();
        // A token is never used twice.
        journal.add("u@h:1/v", &topology('a')).unwrap_err();
        let tokens: Vec<_> = journal.entries().iter().map(|entry| entry.id().to_owned()).collect();
        assert_eq!(tokens.len(), 2, "{tokens:?}");
        assert_eq!(journal.entries()[0].liveness().unwrap(), Liveness::Running);
        journal.remove(&topology('a').token);
        assert_eq!(journal.entries()[0].id(), "bbbbbbbb");
        fs::remove_dir_all(journal.directory.path()).unwrap();
    }

    #[test]
    fn what_is_no_entry_is_left_alone() {
        let journal = journal("others");
        journal.add("u@h:1/v", &topology('a')).unwrap();
        let good = path(&journal, &topology('a').token);
        fs::copy(&good, path(&journal, "renamed")).unwrap();
        symlink(&good, path(&journal, &topology('c').token)).unwrap();
        fs::write(path(&journal, &topology('d').token), "no JSON").unwrap();
        let path = path(&journal, &topology('e').token);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        assert_eq!(journal.entries().len(), 1);
        fs::remove_dir_all(journal.directory.path()).unwrap();
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let journal = journal("open");
        require_private(&journal.directory).unwrap();
        fs::set_permissions(journal.directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let refused = require_private(&journal.directory).unwrap_err().to_string();
        assert!(refused.contains("others cannot write"), "{refused}");
        fs::remove_dir_all(journal.directory.path()).unwrap();
    }
}
