//! All throwaway brokers of this user. The directories are the registry: each broker has one. `remains.rs` tells live
//! brokers from dead ones.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rabbitscope_runs::scenario::MAX_NODES;

use crate::{
    BrokerError, Node,
    directory::{self, DirectoryLock, Unlockable},
    guard, node,
    remains::{self, Remains},
    removal,
};

/// Prefix of every broker's name.
pub(crate) const NAME_PREFIX: &str = "rabbitscope-";

/// Name of the file that describes a node.
const NODE: &str = "node.json";

/// The brokers of this user on this machine.
#[derive(Clone, Debug)]
pub struct Registry {
    brokers: PathBuf,
}

/// A broker that no longer runs, as [`Registry::sweep`] found it.
#[derive(Debug)]
pub struct SweptBroker {
    /// Its name.
    pub name: String,
    /// The reason why its directory is still there; absent if it was removed.
    pub left: Option<BrokerError>,
}

impl Registry {
    /// Opens the registry and makes it if it is missing.
    pub fn open() -> Result<Self, BrokerError> {
        Ok(Self { brokers: directory::brokers_directory()? })
    }

    /// All running nodes, in order of broker and number.
    pub fn running(&self) -> Result<Vec<Node>, BrokerError> {
        let directories = self.directories()?;
        let known = directories.iter().flat_map(|own| nodes_of(own));
        let mut nodes: Vec<Node> = known.filter(Node::is_running).collect();
        nodes
            .sort_by(|left, right| left.name.cmp(&right.name).then(left.number.cmp(&right.number)));
        Ok(nodes)
    }

    /// Returns the broker's only node, or the first running node of its cluster.
    pub fn find(&self, name: &str) -> Result<Node, BrokerError> {
        let running = self.running()?;
        if let Some(node) = running.iter().find(|node| node.name == name) {
            return Ok(node.clone());
        }
        let own = self.directory_of(name);
        let is_one = self.directories()?.contains(&own);
        if is_one && matches!(DirectoryLock::take(&own), Err(Unlockable::Held)) {
            return Err(BrokerError::OutOfSight { path: own });
        }
        let mut names: Vec<&str> = running.iter().map(|node| node.name.as_str()).collect();
        names.dedup();
        let running = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(BrokerError::Unknown { name: name.to_owned(), running })
    }

    /// Removes the directories of dead brokers, whose node and guard were both killed or died with the machine. Leaves
    /// every directory whose broker may live.
    pub fn sweep(&self) -> Result<Vec<SweptBroker>, BrokerError> {
        let swept = |own: PathBuf| {
            let left = match remains::state(&own, &nodes_of(&own)) {
                Remains::InUse => return None,
                Remains::Dead => guard::end_by_force(&own).err(),
                Remains::Unproven(error) => Some(error),
            };
            Some(SweptBroker { name: name_of(&own), left })
        };
        Ok(self.directories()?.into_iter().filter_map(swept).collect())
    }

    pub(crate) fn directory_of(&self, name: &str) -> PathBuf {
        self.brokers.join(name)
    }

    fn directories(&self) -> Result<Vec<PathBuf>, BrokerError> {
        let entries =
            fs::read_dir(&self.brokers).map_err(BrokerError::io("list", &self.brokers))?;
        let own = entries.flatten().map(|entry| entry.path()).filter(|path| is_broker(path));
        Ok(own.collect())
    }
}

/// Registers a node among its own files.
pub(crate) fn save(node: &Node) -> Result<(), BrokerError> {
    let path = node.files().join(NODE);
    let text = serde_json::to_string_pretty(node).map_err(io::Error::from);
    let text = text.map_err(BrokerError::io("write", &path))?;
    // A rename replaces the file whole, because another process may be reading it.
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(BrokerError::io("remove", new)(error));
        }
        _ => {}
    }
    directory::write_private(&new, &text)?;
    fs::rename(&new, &path).map_err(BrokerError::io("write", &path))
}

/// Returns whether the path is a directory of this user with a broker's name, and not a foreign entry.
fn is_broker(path: &Path) -> bool {
    name_of(path).starts_with(NAME_PREFIX)
        && fs::symlink_metadata(path).is_ok_and(|metadata| removal::is_own_directory(&metadata))
}

/// Returns the nodes of the broker in this directory that have served clients, and none from a copy of another
/// directory.
fn nodes_of(own: &Path) -> Vec<Node> {
    let read = |files: PathBuf| -> Option<Node> {
        let node: Node = serde_json::from_slice(&fs::read(files.join(NODE)).ok()?).ok()?;
        (node.directory == own && node.files() == files).then_some(node)
    };
    let members = (1..=MAX_NODES).map(|number| node::files(own, Some(number)));
    [own.to_owned()].into_iter().chain(members).filter_map(read).collect()
}

fn name_of(own: &Path) -> String {
    own.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::processes::BrokerProcesses;

    #[test]
    fn what_is_no_broker_is_not_swept() {
        let (place, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let registry = Registry { brokers: place.path().to_owned() };
        fs::write(others.path().join("precious"), "").unwrap();
        std::os::unix::fs::symlink(others.path(), registry.directory_of("rabbitscope-1")).unwrap();
        fs::create_dir(registry.directory_of("something-else")).unwrap();
        assert!(registry.directories().unwrap().is_empty());
        assert!(registry.sweep().unwrap().is_empty() && others.path().join("precious").exists());
        assert!(registry.directory_of("something-else").exists());
    }

    /// A directory without the files of this version, and a process that names it.
    #[test]
    fn a_broker_of_another_version_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let registry = Registry { brokers: place.path().to_owned() };
        let own = registry.directory_of("rabbitscope-1a2b3c");
        fs::create_dir(&own).unwrap();
        fs::write(own.join(NODE), r#"{ "name": "rabbitscope-1a2b3c" }"#).unwrap();
        let aged = Command::new("touch").args(["-d", "1 hour ago"]).arg(&own).status();
        assert!(aged.unwrap().success());
        let mut named =
            Command::new("sleep").arg("60").env("RABBITSCOPE_BROKER", &own).spawn().unwrap();
        // The kernel shows no environment while a program replaces another.
        while !BrokerProcesses::new(&own).is_named() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let swept = registry.sweep().unwrap();
        named.kill().unwrap();
        named.wait().unwrap();
        assert!(swept.is_empty(), "{swept:?}");
        // Without a lock nothing proves that no process in another namespace uses the directory.
        let left = registry.sweep().unwrap().remove(0).left.unwrap().to_string();
        assert!(left.contains("by hand") && own.exists(), "{left}");
    }
}
