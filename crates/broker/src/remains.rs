//! Tells the directory of a dead broker from that of a live one, which may be out of sight.
//!
//! | lock of the directory | machine and boot | broker |
//! | --- | --- | --- |
//! | held | any | lives, out of sight unless its processes are seen here |
//! | free | this boot | dead: this kernel would know the holder, in any namespace |
//! | free | an earlier boot of this machine | dead |
//! | free | another machine, or unknown | not judged: a shared disk may not share its locks |
//! | no such file | any | not judged: another version of this program made it |

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant, SystemTime},
};

use rabbitscope_machine::{Liveness, ProcessOrigin};

use crate::{
    BrokerError, Node,
    directory::{DirectoryLock, LOCK, ORIGIN, Unlockable},
    processes::{BORN, BrokerProcesses},
};

/// Age below which a directory may belong to a broker that is just starting.
const YOUNG: Duration = Duration::from_secs(60);

/// Longest time that a killed process takes to close its files: a node that frees much memory, on a busy machine. The
/// tests of this file have no such process.
const ENDING: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// The state of a broker's directory.
#[derive(Debug)]
pub(crate) enum Remains {
    /// The broker lives or is starting.
    InUse,
    /// The broker is dead: neither guard nor node lives.
    Dead,
    /// The broker may live; the error has the place or the missing proof.
    Unproven(BrokerError),
}

/// Returns the state of this directory. `nodes` are those nodes of its broker that have served clients.
pub(crate) fn state(own: &Path, nodes: &[Node]) -> Remains {
    let family = BrokerProcesses::new(own);
    let is_alive = || {
        let has_node = || match nodes {
            // The broker is starting, or another version of this program made the directory.
            [] => family.is_named(),
            nodes => nodes.iter().any(Node::is_running),
        };
        BrokerProcesses::guard_of(own).is_named() || has_node()
    };
    let began = Instant::now();
    loop {
        let lock = DirectoryLock::take(own);
        if is_alive() {
            return Remains::InUse;
        }
        if !matches!(lock, Err(Unlockable::Held)) {
            return without_holder(own, lock);
        }
        // Other processes of the broker, such as a program that a node started, end with the directory.
        if !family.members().is_empty() {
            return Remains::Dead;
        }
        // A process that is ending shows no environment any more, but still holds its files for a moment.
        if began.elapsed() > ENDING || !is_of_this_namespace(own) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    if is_old(own) {
        Remains::Unproven(BrokerError::OutOfSight { path: own.to_owned() })
    } else {
        Remains::InUse
    }
}

/// Returns the state of a directory without a visible process, whose lock no process of this kernel holds.
fn without_holder(own: &Path, lock: Result<DirectoryLock, Unlockable>) -> Remains {
    match lock {
        // A starting process may not have written the next file yet.
        _ if is_bare(own) => {
            if is_old(own) {
                Remains::Dead
            } else {
                Remains::InUse
            }
        }
        Ok(_) => match unknown_machine(own) {
            None => Remains::Dead,
            Some(reason) => unproven(own, reason),
        },
        Err(Unlockable::Unknown(error)) => Remains::Unproven(BrokerError::io("lock", own)(error)),
        Err(Unlockable::Missing | Unlockable::Held) => unproven(own, "it has no lock"),
    }
}

fn is_of_this_namespace(own: &Path) -> bool {
    let here = origin_of(own).zip(ProcessOrigin::here());
    here.is_some_and(|(origin, here)| {
        !matches!(origin.liveness(&here), Liveness::OutOfSight { .. })
    })
}

fn origin_of(own: &Path) -> Option<ProcessOrigin> {
    serde_json::from_slice(&fs::read(own.join(ORIGIN)).ok()?).ok()
}

fn unproven(own: &Path, reason: &'static str) -> Remains {
    Remains::Unproven(BrokerError::Unproven { path: own.to_owned(), reason })
}

/// Returns the reason why this machine's kernel may not know the holder of the lock.
fn unknown_machine(own: &Path) -> Option<&'static str> {
    let Some((origin, here)) = origin_of(own).zip(ProcessOrigin::here()) else {
        return Some("the machine that created it is unknown");
    };
    let is_known = origin.shares_kernel(&here) || origin.liveness(&here) == Liveness::Ended;
    (!is_known).then_some("another machine created it, or a container before its restart")
}

/// Returns whether the directory holds only files that are made before [`ORIGIN`].
fn is_bare(own: &Path) -> bool {
    let first = [LOCK, BORN];
    fs::read_dir(own).is_ok_and(|mut entries| {
        entries.all(|entry| {
            entry.is_ok_and(|entry| first.iter().any(|name| entry.file_name() == *name))
        })
    })
}

fn is_old(own: &Path) -> bool {
    let modified = fs::symlink_metadata(own).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| {
        SystemTime::now().duration_since(modified).is_ok_and(|age| age > YOUNG)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes;

    /// A directory with the first files of a broker, an hour old.
    fn directory(origin: Option<&str>) -> (tempfile::TempDir, DirectoryLock) {
        let own = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::create(own.path()).unwrap();
        let born = processes::ticks_now().unwrap().to_string();
        fs::write(own.path().join(BORN), born).unwrap();
        if let Some(origin) = origin {
            fs::write(own.path().join(ORIGIN), origin).unwrap();
        }
        age(own.path());
        (own, lock)
    }

    fn age(own: &Path) {
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        fs::File::open(own).unwrap().set_modified(hour_ago).unwrap();
    }

    fn here() -> serde_json::Value {
        serde_json::to_value(ProcessOrigin::here().unwrap()).unwrap()
    }

    /// Checks the state of a directory. A child of another test holds a lock that was dropped until its program starts.
    #[track_caller]
    fn check(own: &Path, expected: &str) {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let said = format!("{:?}", state(own, &[]));
            if said.starts_with(expected) {
                return;
            }
            assert!(Instant::now() < end, "{said}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_held_lock_keeps_a_directory_whatever_else_is_said() {
        for origin in [None, Some("{}"), Some(here().to_string().as_str())] {
            let (own, lock) = directory(origin);
            check(own.path(), "Unproven(OutOfSight");
            drop(lock);
        }
    }

    #[test]
    fn a_free_lock_of_this_kernel_is_of_a_dead_broker() {
        let mut elsewhere = here();
        let (own, lock) = directory(Some(&elsewhere.to_string()));
        drop(lock);
        check(own.path(), "Dead");
        // A container of this machine has the same kernel.
        elsewhere["host"] = "0123456789ab".into();
        elsewhere["pid-namespace"] = 7.into();
        fs::write(own.path().join(ORIGIN), elsewhere.to_string()).unwrap();
        check(own.path(), "Dead");
        elsewhere["boot-id"] = "another".into();
        fs::write(own.path().join(ORIGIN), elsewhere.to_string()).unwrap();
        check(own.path(), "Unproven(Unproven");
    }

    #[test]
    fn a_start_that_was_interrupted_leaves_a_bare_directory() {
        let (own, lock) = directory(None);
        drop(lock);
        check(own.path(), "Dead");
        fs::write(own.path().join("precious"), "").unwrap();
        age(own.path());
        check(own.path(), "Unproven(Unproven");
        fs::remove_file(own.path().join("precious")).unwrap();
        check(own.path(), "InUse");
    }
}
