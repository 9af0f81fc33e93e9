//! All throwaway brokers of this user. The directories are the register: a broker is known by its
//! directory and alive when a process belongs to it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{BrokerError, Node, directory, guard, processes};

/// A directory younger than this may belong to a broker that is just being started.
const YOUNG: Duration = Duration::from_secs(60);

/// The brokers of this user on this machine.
#[derive(Clone, Debug)]
pub struct Registry {
    brokers: PathBuf,
}

/// What [`Registry::sweep`] found of a broker that no longer runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// Its name.
    pub name: String,
}

impl Registry {
    /// Opens the register, which is made when there is none.
    pub fn open() -> Result<Self, BrokerError> {
        Ok(Self { brokers: directory::brokers_directory()? })
    }

    /// Every broker that runs, in order of name.
    pub fn running(&self) -> Result<Vec<Node>, BrokerError> {
        let mut nodes: Vec<Node> = self
            .directories()?
            .iter()
            .filter_map(|own| read(own))
            .filter(Node::is_running)
            .collect();
        nodes.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(nodes)
    }

    /// The broker of that name.
    pub fn find(&self, name: &str) -> Result<Node, BrokerError> {
        let running = self.running()?;
        if let Some(node) = running.iter().find(|node| node.name == name) {
            return Ok(node.clone());
        }
        let names: Vec<&str> = running.iter().map(|node| node.name.as_str()).collect();
        let running = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(BrokerError::Unknown { name: name.to_owned(), running })
    }

    /// Removes what brokers left behind whose node and guard were both killed or that died with
    /// the machine.
    pub fn sweep(&self) -> Result<Vec<Swept>, BrokerError> {
        let dead: Vec<PathBuf> =
            self.directories()?.into_iter().filter(|own| is_dead(own)).collect();
        for own in &dead {
            guard::end_by_force(own);
        }
        Ok(dead.iter().map(|own| Swept { name: name_of(own) }).collect())
    }

    pub(crate) fn directory_of(&self, name: &str) -> PathBuf {
        self.brokers.join(name)
    }

    pub(crate) fn save(&self, node: &Node) -> Result<(), BrokerError> {
        let path = self.directory_of(&node.name).join("node.json");
        let text = serde_json::to_vec_pretty(node).map_err(io::Error::from);
        text.and_then(|text| fs::write(&path, text)).map_err(BrokerError::io("write", &path))
    }

    fn directories(&self) -> Result<Vec<PathBuf>, BrokerError> {
        let entries =
            fs::read_dir(&self.brokers).map_err(BrokerError::io("list", &self.brokers))?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    }
}

fn read(own: &Path) -> Option<Node> {
    serde_json::from_slice(&fs::read(own.join("node.json")).ok()?).ok()
}

fn name_of(own: &Path) -> String {
    own.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// No node runs, and none is being started.
fn is_dead(own: &Path) -> bool {
    match read(own) {
        Some(node) => !node.is_running(),
        None => is_old(own) && processes::of(own).is_empty(),
    }
}

fn is_old(own: &Path) -> bool {
    let modified = fs::metadata(own).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| {
        SystemTime::now().duration_since(modified).is_ok_and(|age| age > YOUNG)
    })
}
