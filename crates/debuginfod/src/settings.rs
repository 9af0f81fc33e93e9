//! The settings of servers and cache from the environment: the variables of elfutils' client (debuginfod(7),
//! `debuginfod_find_debuginfo(3)`). Unlike there, time and size are always limited.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;

/// Time in which a server must start its answer, and then for each 100 KiB. elfutils waits 90 s; a recording waits for
/// this client, so it is shorter here.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15);

/// Time for all files of a recording together.
const DEFAULT_TOTAL: Duration = Duration::from_secs(120);
const MAX_TOTAL: Duration = Duration::from_secs(3600);

/// Size of one file, which is also the limit for reading a file of code. The emulator's debug file has some 30 MB.
const MAX_BYTES: u64 = 512 << 20;

/// Number of servers that are asked at most.
const MAX_SERVERS: usize = 16;

/// The servers, the limits of requests and the place of the cache.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) servers: Vec<Server>,
    /// Words of the variable that name no usable server, with reasons.
    pub(super) unusable: Vec<String>,
    pub(super) limits: Limits,
    /// Directory of the cache; `None` if the environment names no place for it.
    pub(super) cache: Option<PathBuf>,
}

/// Limits of a download, independent of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Time until the answer starts, and for each 100 KiB of it.
    pub(super) timeout: Duration,
    /// Time for all files together.
    pub(super) total: Duration,
    /// Size of one file.
    pub(super) bytes: u64,
}

/// A server of debug files.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// Address without login and without a trailing `/`.
    pub(super) url: String,
    /// Value of the header. Never shown.
    pub(super) authorization: Option<String>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.url)
    }
}

impl Settings {
    /// Reads the environment of this process; `None` unless it names servers.
    pub(super) fn from_environment() -> Option<Self> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let text = |name: &str| Some(variable(name)?.to_string_lossy().trim().to_owned());
        let urls = text("DEBUGINFOD_URLS").filter(|urls| !urls.is_empty())?;
        // `ima:…` in the list of servers is a setting of elfutils.
        let words = urls.split_whitespace().filter(|word| !word.starts_with("ima:"));
        let (servers, unusable): (Vec<_>, Vec<_>) =
            words.take(MAX_SERVERS).map(Server::parse).partition(Result::is_ok);
        let number = |name: &str| text(name)?.parse::<i64>().ok();
        let positive = |name: &str| {
            number(name).and_then(|value| u64::try_from(value).ok()).filter(|&value| value > 0)
        };
        let total = positive("DEBUGINFOD_MAXTIME").map_or(DEFAULT_TOTAL, Duration::from_secs);
        let total = total.min(MAX_TOTAL);
        let timeout = match number("DEBUGINFOD_TIMEOUT") {
            None => DEFAULT_TIMEOUT,
            Some(seconds) => match u64::try_from(seconds) {
                Ok(seconds) if seconds > 0 => Duration::from_secs(seconds),
                // For elfutils, this means no limit at all.
                _ => total,
            },
        };
        let bytes = positive("DEBUGINFOD_MAXSIZE").map_or(MAX_BYTES, |bytes| bytes.min(MAX_BYTES));
        Some(Self {
            servers: servers.into_iter().flatten().collect(),
            unusable: unusable.into_iter().filter_map(Result::err).collect(),
            limits: Limits { timeout: timeout.min(total), total, bytes },
            cache: cache_directory(variable),
        })
    }

    /// Returns the addresses of the servers as text.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.servers.iter().map(|server| server.url.as_str()).collect();
        names.join(", ")
    }
}

impl Server {
    /// Parses one word of the variable. The error is a message for the user.
    fn parse(word: &str) -> Result<Self, String> {
        let shown = without_login(word);
        let Some((scheme, rest)) =
            word.split_once("://").filter(|(scheme, _)| ["http", "https"].contains(scheme))
        else {
            return Err(format!("{shown} is not used: it must start with http or https"));
        };
        if rest.contains(['?', '#']) {
            return Err(format!("{shown} is not used: a server's address has no query"));
        }
        let authority = rest.split('/').next().unwrap_or_default();
        let (login, host) = authority
            .rsplit_once('@')
            .map_or((None, authority), |(login, host)| (Some(login), host));
        if host.is_empty() {
            return Err(format!("{shown} is not used: it has no host"));
        }
        let decoded = |login| percent_decode_str(login).collect::<Vec<u8>>();
        let authorization = login.map(|login| format!("Basic {}", STANDARD.encode(decoded(login))));
        let url = format!("{scheme}://{host}{}", &rest[authority.len()..]);
        Ok(Self { url: url.trim_end_matches('/').to_owned(), authorization })
    }
}

/// Returns a word in a form that is safe to show.
fn without_login(word: &str) -> String {
    let (scheme, rest) = word.split_once("://").unwrap_or(("", word));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{}", rest.split(['?', '#']).next().unwrap_or_default())
}

/// Finds the cache in the order of elfutils: the variable, the old place if it exists, the directory for caches.
fn cache_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = path("DEBUGINFOD_CACHE_PATH") {
        return Some(named);
    }
    let home = path("HOME");
    let old = home.as_ref().map(|home| home.join(".debuginfod_client_cache"));
    if let Some(old) = old.filter(|old| old.is_dir()) {
        return Some(old);
    }
    let caches = path("XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache")))?;
    Some(caches.join("debuginfod_client"))
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, ffi::OsString, path::Path, time::Duration};

    use super::Settings;

    fn settings(variables: &[(&str, &str)]) -> Option<Settings> {
        let all: HashMap<&str, OsString> =
            variables.iter().map(|&(name, value)| (name, value.into())).collect();
        Settings::from_variables(|name| all.get(name).cloned())
    }

    #[test]
    fn nothing_is_asked_unless_a_server_is_named() {
        assert!(settings(&[]).is_none());
        assert!(settings(&[("DEBUGINFOD_URLS", " \n"), ("HOME", "/h")]).is_none());
    }

    #[track_caller]
    fn check_servers(urls: &str, expected: &[&str], unusable: usize) {
        let found = settings(&[("DEBUGINFOD_URLS", urls)]).unwrap();
        let servers: Vec<&str> = found.servers.iter().map(|server| server.url.as_str()).collect();
        assert_eq!((servers.as_slice(), found.unusable.len()), (expected, unusable));
        assert!(!format!("{found:?}").contains("secret"), "{found:?}");
    }

    #[test]
    fn servers_are_separated_by_spaces() {
        check_servers("https://a/ http://b:8002/x/", &["https://a", "http://b:8002/x"], 0);
        check_servers("ima:enforcing https://a", &["https://a"], 0);
        check_servers("file:///a secret@x ftp://u:secret@h http:// http://h/?secret", &[], 5);
    }

    #[test]
    fn a_login_is_sent_and_not_shown() {
        let found = settings(&[("DEBUGINFOD_URLS", "https://user:s%40cret@host:1/x")]).unwrap();
        assert_eq!(found.servers[0].url, "https://host:1/x");
        // "user:s@cret"
        assert_eq!(found.servers[0].authorization.as_deref(), Some("Basic dXNlcjpzQGNyZXQ="));
        check_servers("https://user:secret@host", &["https://host"], 0);
    }

    #[track_caller]
    fn check_limits(variables: &[(&str, &str)], timeout: u64, total: u64, bytes: u64) {
        let urls = [("DEBUGINFOD_URLS", "http://a")];
        let limits = settings(&[&urls, variables].concat()).unwrap().limits;
        assert_eq!(
            (limits.timeout, limits.total),
            (Duration::from_secs(timeout), Duration::from_secs(total))
        );
        assert_eq!(limits.bytes, bytes);
    }

    #[test]
    fn there_is_always_a_limit() {
        check_limits(&[], 15, 120, 512 << 20);
        check_limits(&[("DEBUGINFOD_TIMEOUT", "3"), ("DEBUGINFOD_MAXSIZE", "1000")], 3, 120, 1000);
        check_limits(
            &[("DEBUGINFOD_TIMEOUT", "0"), ("DEBUGINFOD_MAXTIME", "40")],
            40,
            40,
            512 << 20,
        );
        check_limits(
            &[("DEBUGINFOD_TIMEOUT", "-1"), ("DEBUGINFOD_MAXSIZE", "0")],
            120,
            120,
            512 << 20,
        );
        check_limits(&[("DEBUGINFOD_MAXTIME", "999999999")], 15, 3600, 512 << 20);
        check_limits(
            &[("DEBUGINFOD_TIMEOUT", "x"), ("DEBUGINFOD_MAXSIZE", "1e9")],
            15,
            120,
            512 << 20,
        );
    }

    #[track_caller]
    fn check_cache(variables: &[(&str, &str)], expected: Option<&str>) {
        let urls = [("DEBUGINFOD_URLS", "http://a")];
        let found = settings(&[&urls, variables].concat()).unwrap();
        assert_eq!(found.cache.as_deref(), expected.map(Path::new));
    }

    #[test]
    fn the_cache_is_where_elfutils_has_it() {
        check_cache(&[("HOME", "/h")], Some("/h/.cache/debuginfod_client"));
        check_cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")], Some("/c/debuginfod_client"));
        check_cache(&[("HOME", "/h"), ("DEBUGINFOD_CACHE_PATH", "/d")], Some("/d"));
        check_cache(&[], None);
        let home = tempfile::tempdir().unwrap();
        let old = home.path().join(".debuginfod_client_cache");
        std::fs::create_dir(&old).unwrap();
        check_cache(&[("HOME", home.path().to_str().unwrap())], old.to_str());
    }
}
