//! The cache of debug files, in the layout of elfutils' client, so that gdb, perf and others share it:
//! `BUILD-ID/debuginfo`, an empty file if no server had one. `cache_miss_s` sets how long an empty file holds.
//!
//! The directory must belong to this user. Everything below it is opened relative to its descriptor and never through a
//! link. A file gets its name once it is complete; an interrupted download leaves nothing behind. elfutils removes old
//! files, this module does not.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rabbitscope_files::{Directory, WriteError};
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, linkat, mkdirat, openat, renameat, unlinkat},
    io::Errno,
    process::geteuid,
};
use thiserror::Error;

const NAME: &str = "debuginfo";
const MISS_SETTING: &str = "cache_miss_s";

/// Time for which a noted miss suppresses new requests, unless the cache sets another.
const DEFAULT_MISS: Duration = Duration::from_secs(600);

/// Write permission for group and others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const READING: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Reasons for not using a cache.
#[derive(Debug, Error)]
pub(super) enum CacheError {
    #[error("neither HOME nor DEBUGINFOD_CACHE_PATH is set")]
    NoPlace,
    #[error("{path} belongs to another user")]
    NotOurs { path: PathBuf },
    #[error("other users may write to {path}")]
    Writable { path: PathBuf },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

impl From<WriteError> for CacheError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Foreign { path, .. } | WriteError::ForeignLink { path, .. } => {
                Self::NotOurs { path }
            }
            WriteError::Writable { path } => Self::Writable { path },
            WriteError::Io { path, source, .. } => Self::Io { path, source },
        }
    }
}

/// The cache's answer for a build id.
#[derive(Debug)]
pub(super) enum Cached {
    File(File),
    /// No server had one recently.
    Missing,
    Nothing,
}

/// An open cache.
#[derive(Debug)]
pub(super) struct Cache {
    directory: Directory,
    miss: Duration,
}

impl Cache {
    /// Opens the cache at `path` and creates it if it is missing.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, CacheError> {
        let path = path.ok_or(CacheError::NoPlace)?;
        make(path)?;
        Self::open_existing(path)
    }

    /// Like [`Self::open`], but creates nothing: returns `None` if the cache does not exist yet.
    pub(super) fn look(path: Option<&Path>) -> Result<Option<Self>, CacheError> {
        let path = path.ok_or(CacheError::NoPlace)?;
        if fs::symlink_metadata(path).is_ok() {
            return Self::open_existing(path).map(Some);
        }
        require_own_parent(path).map(|()| None)
    }

    fn open_existing(path: &Path) -> Result<Self, CacheError> {
        let failed =
            |source: Errno| CacheError::Io { path: path.to_owned(), source: source.into() };
        let (parent, name) = Directory::of_file(path)?;
        let directory = parent.below(name)?;
        let found = fstat(&directory).map_err(failed)?;
        if !is_ours(&found) {
            return Err(CacheError::NotOurs { path: path.to_owned() });
        }
        if found.st_mode & WRITABLE_BY_OTHERS != 0 {
            return Err(CacheError::Writable { path: path.to_owned() });
        }
        let miss = miss_setting(&directory).unwrap_or(DEFAULT_MISS);
        Ok(Self { directory, miss })
    }

    /// Returns the entry of a build id.
    pub(super) fn find(&self, build_id: &str) -> Cached {
        let Ok(own) = self.own_directory(build_id) else { return Cached::Nothing };
        let Ok(file) = openat(&own, NAME, READING, Mode::empty()) else { return Cached::Nothing };
        let file = File::from(file);
        let Ok(found) = file.metadata() else { return Cached::Nothing };
        if !found.is_file() || found.uid() != geteuid().as_raw() {
            return Cached::Nothing;
        }
        if found.len() > 0 {
            return Cached::File(file);
        }
        // A modification time in the future comes from a wrong clock; elfutils trusts it as well.
        let age = found.modified().ok().map(|time| SystemTime::now().duration_since(time));
        let is_fresh = age.is_some_and(|age| age.unwrap_or_default() <= self.miss);
        if is_fresh { Cached::Missing } else { Cached::Nothing }
    }

    /// Returns an empty file without a name. Pass it to [`Self::keep`] once it is complete.
    pub(super) fn receive(&self, build_id: &str) -> io::Result<File> {
        let own = self.make_own_directory(build_id)?;
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        // Read-only like elfutils' files, so that no program writes to a file that another one has mapped.
        Ok(openat(own, ".", flags, Mode::RUSR)?.into())
    }

    /// Names a complete file, and replaces an earlier one of that name.
    pub(super) fn keep(&self, build_id: &str, file: &File) -> io::Result<()> {
        let own = self.own_directory(build_id)?;
        let held = format!("/proc/self/fd/{}", file.as_raw_fd());
        let since_1970 =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let unique = format!("{NAME}.{}-{}", std::process::id(), since_1970.as_nanos());
        linkat(CWD, held, &own, unique.as_str(), AtFlags::SYMLINK_FOLLOW)?;
        let renamed = renameat(&own, unique.as_str(), &own, NAME);
        // The unique name remains if the rename failed, or if `NAME` already was a link to this very file.
        let _ = unlinkat(&own, unique.as_str(), AtFlags::empty());
        Ok(renamed?)
    }

    /// Notes that no server has the file.
    pub(super) fn note_missing(&self, build_id: &str) -> io::Result<()> {
        let own = self.make_own_directory(build_id)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | READING;
        let make = || openat(&own, NAME, flags, Mode::RUSR | Mode::WUSR);
        let note = make().or_else(|error| {
            if error != Errno::EXIST || !matches!(self.find(build_id), Cached::Nothing) {
                return Err(error);
            }
            // An older note, or a file that proved not to be a debug file.
            unlinkat(&own, NAME, AtFlags::empty())?;
            make()
        });
        Ok(note.map(drop)?)
    }

    fn make_own_directory(&self, build_id: &str) -> io::Result<OwnedFd> {
        match mkdirat(&self.directory, build_id, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => self.own_directory(build_id),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the directory of one build id. A build id consists of hexadecimal digits, so it cannot lead elsewhere.
    fn own_directory(&self, build_id: &str) -> io::Result<OwnedFd> {
        let own = openat(&self.directory, build_id, DIRECTORY, Mode::empty())?;
        let found = fstat(&own)?;
        if is_ours(&found) && found.st_mode & WRITABLE_BY_OTHERS == 0 {
            return Ok(own);
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "other users have access to it"))
    }
}

fn is_ours(found: &Stat) -> bool {
    found.st_uid == geteuid().as_raw()
}

/// Creates the missing directories, accessible to this user only.
fn make(path: &Path) -> Result<(), CacheError> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    Ok(Directory::make(path).map(drop)?)
}

/// Refuses a place below a directory of another user except root, so that root leaves nothing in a user's home.
fn require_own_parent(path: &Path) -> Result<(), CacheError> {
    let existing = path.ancestors().skip(1).find_map(|path| Some((path, fs::metadata(path).ok()?)));
    let own = [geteuid().as_raw(), 0];
    match existing {
        Some((parent, found)) if !own.contains(&found.uid()) => {
            Err(CacheError::NotOurs { path: parent.to_owned() })
        }
        _ => Ok(()),
    }
}

fn miss_setting(directory: &Directory) -> Option<Duration> {
    let file = File::from(openat(directory, MISS_SETTING, READING, Mode::empty()).ok()?);
    let mut text = String::new();
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    file.take(32).read_to_string(&mut text).ok()?;
    Some(Duration::from_secs(text.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, FileTimes, Permissions},
        io::Write,
        os::unix::fs::{PermissionsExt, symlink},
        path::Path,
        time::{Duration, SystemTime},
    };

    use super::{Cache, CacheError, Cached};

    const BUILD: &str = "0123456789abcdef";

    fn age(path: &Path, seconds: u64) {
        let then = SystemTime::now() - Duration::from_secs(seconds);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_times(FileTimes::new().set_modified(then)).unwrap();
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a/b");
        let cache = Cache::open(Some(&path)).unwrap();
        let own = path.join(BUILD);
        let mut file = cache.receive(BUILD).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
        drop(file);
        let mut file = cache.receive(BUILD).unwrap();
        file.write_all(b"whole").unwrap();
        cache.keep(BUILD, &file).unwrap();
        assert!(matches!(cache.find(BUILD), Cached::File(_)));
        assert_eq!(fs::read(own.join("debuginfo")).unwrap(), b"whole");
        assert_eq!(
            fs::metadata(own.join("debuginfo")).unwrap().permissions().mode() & 0o777,
            0o400
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        cache.keep(BUILD, &file).unwrap();
        assert_eq!(fs::read_dir(&own).unwrap().count(), 1, "replaced");
    }

    #[test]
    fn what_no_server_has_is_known_for_a_while() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(place.path())).unwrap();
        cache.note_missing(BUILD).unwrap();
        assert!(matches!(cache.find(BUILD), Cached::Missing));
        let note = place.path().join(BUILD).join("debuginfo");
        age(&note, 700);
        assert!(matches!(cache.find(BUILD), Cached::Nothing));
        cache.note_missing(BUILD).unwrap();
        assert!(matches!(cache.find(BUILD), Cached::Missing));
        age(&note, 20);
        fs::write(place.path().join("cache_miss_s"), "10\n").unwrap();
        let again = Cache::open(Some(place.path())).unwrap();
        assert!(matches!(again.find(BUILD), Cached::Nothing));
    }

    #[test]
    fn a_cache_that_is_not_only_ours_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().join("real");
        fs::create_dir(&real).unwrap();
        let link = place.path().join("link");
        symlink(&real, &link).unwrap();
        assert!(matches!(Cache::open(Some(&link)), Err(CacheError::Io { .. })));
        fs::set_permissions(&real, Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(Cache::open(Some(&real)), Err(CacheError::Writable { .. })));
        assert!(matches!(Cache::open(None), Err(CacheError::NoPlace)));
        assert!(matches!(Cache::open(Some(Path::new("/proc/x/y"))), Err(CacheError::Io { .. })));
    }

    /// Only root can create a directory of another user.
    #[test]
    fn a_directory_of_another_user_gets_nothing() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(place.path(), Some(65534), None).unwrap();
        assert!(matches!(Cache::open(Some(place.path())), Err(CacheError::NotOurs { .. })));
        let below = place.path().join("x/y");
        assert!(matches!(Cache::open(Some(&below)), Err(CacheError::NotOurs { .. })));
        assert!(!place.path().join("x").exists());
    }

    #[test]
    fn links_and_pipes_within_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(place.path())).unwrap();
        symlink("/etc", place.path().join(BUILD)).unwrap();
        assert!(matches!(cache.find(BUILD), Cached::Nothing));
        assert!(cache.receive(BUILD).is_err() && cache.note_missing(BUILD).is_err());
        let other = place.path().join("fedcba98");
        fs::create_dir(&other).unwrap();
        symlink("/etc/passwd", other.join("debuginfo")).unwrap();
        assert!(matches!(cache.find("fedcba98"), Cached::Nothing));
        fs::remove_file(other.join("debuginfo")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(other.join("debuginfo")).status();
        assert!(made.unwrap().success());
        assert!(matches!(cache.find("fedcba98"), Cached::Nothing));
    }
}
