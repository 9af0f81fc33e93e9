//! Validation of `[[exporters]]`.

use std::{fmt, path::PathBuf, time::Duration};

use rabbitscope_text::parse_duration;

use super::{Credentials, ExporterKind, ExporterOptions, ExporterToml, ServerTrust};

/// Limit of exporters in a configuration. Each has a thread.
const MAX_EXPORTERS: usize = 16;

const TIMEOUT: Duration = Duration::from_secs(10);
const TIMEOUT_MIN: Duration = Duration::from_millis(100);
const TIMEOUT_MAX: Duration = Duration::from_secs(60);

/// Reason why a configuration is invalid, with its key, such as `exporters.0.url`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Dotted path of the key.
    pub key: String,
    /// Error and allowed values. Never shows a value that may hold a password.
    pub reason: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.key, self.reason)
    }
}

impl std::error::Error for ConfigProblem {}

/// A key of one table, and the reason why it is invalid.
type Refusal = (&'static str, String);

/// Validates the exporters of a configuration file.
pub fn validate_exporters(wire: Vec<ExporterToml>) -> Result<Vec<ExporterOptions>, ConfigProblem> {
    if wire.len() > MAX_EXPORTERS {
        let reason = format!("has {} tables; at most {MAX_EXPORTERS} are allowed", wire.len());
        return Err(ConfigProblem { key: "exporters".to_owned(), reason });
    }
    let mut exporters: Vec<ExporterOptions> = Vec::new();
    for (index, wire) in wire.into_iter().enumerate() {
        let problem = |(key, reason): Refusal| ConfigProblem {
            key: format!("exporters.{index}.{key}"),
            reason,
        };
        let exporter = exporter(wire).map_err(problem)?;
        if exporters.iter().any(|other| other.name == exporter.name) {
            let reason =
                format!("`{}` is already in use: give each exporter its own name", exporter.name);
            return Err(problem(("name", reason)));
        }
        exporters.push(exporter);
    }
    Ok(exporters)
}

fn exporter(wire: ExporterToml) -> Result<ExporterOptions, Refusal> {
    let name = wire.name.clone().unwrap_or_else(|| wire.kind.name().to_owned());
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name = (1..=60).contains(&name.len()) && name.chars().all(plain);
    // The name becomes the name of a directory.
    if !is_name || name.starts_with('.') {
        return refuse(
            "name",
            "must have 1 to 60 letters, digits, `-`, `_` or `.`, and no `.` first",
        );
    }
    let trust = trust(&wire)?;
    Ok(ExporterOptions {
        name,
        kind: wire.kind,
        url: complete_url(wire.kind, &wire.url)?,
        timeout: timeout(wire.timeout.as_deref())?,
        tenant: tenant(wire.tenant)?,
        credentials: credentials(wire.user, wire.password_file, wire.token_file)?,
        trust,
    })
}

fn refuse<T>(key: &'static str, reason: impl Into<String>) -> Result<T, Refusal> {
    Err((key, reason.into()))
}

/// Path at which a backend of this kind takes requests, for a URL without a path.
fn usual_path(kind: ExporterKind) -> &'static str {
    match kind {
        ExporterKind::Pyroscope => "/push.v1.PusherService/Push",
        ExporterKind::Parca => "/api/profiles/writeraw",
        ExporterKind::OtlpProfiles => "/v1development/profiles",
        ExporterKind::RemoteWrite => "/api/v1/write",
        ExporterKind::Influx => "/write?db=rabbitscope",
    }
}

/// Checks a URL and adds the usual path. An error never quotes the URL, which may hold a password.
fn complete_url(kind: ExporterKind, url: &str) -> Result<String, Refusal> {
    let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else {
        return refuse("url", "must start with `http://` or `https://`");
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, place) = rest.split_at(end);
    if authority.contains('@') {
        return refuse(
            "url",
            "must not contain credentials: give `user` with `password-file`, or `token-file`",
        );
    }
    check_authority(authority)?;
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) || place.contains('#') {
        return refuse("url", "must not contain spaces or `#`");
    }
    let usual = if matches!(place, "" | "/") { usual_path(kind) } else { place };
    let scheme = if url.starts_with("https") { "https" } else { "http" };
    Ok(format!("{scheme}://{authority}{usual}"))
}

fn check_authority(authority: &str) -> Result<(), Refusal> {
    // In `[::1]` a colon does not begin a port.
    let after_brackets = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match authority[after_brackets..].rfind(':') {
        Some(colon) => {
            let colon = after_brackets + colon;
            (&authority[..colon], Some(&authority[colon + 1..]))
        }
        None => (authority, None),
    };
    if host.is_empty() {
        return refuse("url", "has no host");
    }
    if port.is_some_and(|port| !matches!(port.parse::<u16>(), Ok(1..))) {
        return refuse("url", "has a port that is not a number from 1 to 65535");
    }
    Ok(())
}

fn timeout(text: Option<&str>) -> Result<Duration, Refusal> {
    let Some(text) = text else { return Ok(TIMEOUT) };
    let timeout = parse_duration(text).map_err(|error| ("timeout", error.to_string()))?;
    if !(TIMEOUT_MIN..=TIMEOUT_MAX).contains(&timeout) {
        return refuse("timeout", "must be from 100ms to 60s");
    }
    Ok(timeout)
}

fn tenant(tenant: Option<String>) -> Result<Option<String>, Refusal> {
    let plain = |c: char| c.is_ascii_graphic();
    match tenant {
        Some(name) if !(1..=150).contains(&name.len()) || !name.chars().all(plain) => {
            refuse("tenant", "must have 1 to 150 visible ASCII characters")
        }
        tenant => Ok(tenant),
    }
}

fn credentials(
    user: Option<String>,
    password: Option<String>,
    token: Option<String>,
) -> Result<Credentials, Refusal> {
    let file = PathBuf::from;
    match (user, password, token) {
        (None, None, None) => Ok(Credentials::Nobody),
        (None, None, Some(token)) => Ok(Credentials::Token { file: file(token) }),
        (Some(user), Some(password), None) => {
            if user.contains(':') || user.chars().any(char::is_control) {
                return refuse(
                    "user",
                    "must not contain `:`, which ends the user's name in a request",
                );
            }
            Ok(Credentials::Password { user, file: file(password) })
        }
        (_, _, Some(_)) => refuse("token-file", "give this, or `user` and `password-file`"),
        (Some(_), None, None) => refuse("user", "needs `password-file`"),
        (None, Some(_), None) => refuse("password-file", "needs `user`"),
    }
}

fn trust(wire: &ExporterToml) -> Result<ServerTrust, Refusal> {
    let insecure = wire.insecure.unwrap_or(false);
    if !wire.url.starts_with("https://") && (insecure || wire.ca.is_some()) {
        let key = if insecure { "insecure" } else { "ca" };
        return refuse(key, "applies to `https` only, and `url` does not use it");
    }
    match &wire.ca {
        Some(_) if insecure => refuse("ca", "has no effect with `insecure`: remove one"),
        Some(path) => Ok(ServerTrust::Authorities(PathBuf::from(path))),
        None if insecure => Ok(ServerTrust::Anybody),
        None => Ok(ServerTrust::System),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ExporterOptions, String> {
        #[derive(serde::Deserialize)]
        struct File {
            exporters: Vec<ExporterToml>,
        }
        let file: File = toml::from_str(&format!("[[exporters]]\n{text}"))
            .map_err(|error| error.message().to_owned())?;
        let mut exporters =
            validate_exporters(file.exporters).map_err(|problem| problem.to_string())?;
        Ok(exporters.remove(0))
    }

    #[test]
    fn urls_are_completed() {
        fn check(kind: &str, url: &str, expected: &str) {
            let exporter = read(&format!("kind = '{kind}'\nurl = '{url}'")).unwrap();
            assert_eq!(exporter.url, expected);
        }
        check("remote-write", "http://h:9090", "http://h:9090/api/v1/write");
        check("remote-write", "https://h/mimir/push", "https://h/mimir/push");
        check("pyroscope", "http://[::1]:4040/", "http://[::1]:4040/push.v1.PusherService/Push");
        check("influx", "http://h:8086", "http://h:8086/write?db=rabbitscope");
        check("influx", "http://[::1]/write?db=x", "http://[::1]/write?db=x");
    }

    #[test]
    fn what_is_wrong_is_named_and_never_shown() {
        fn check(text: &str, expected: &str) {
            let said = read(text).unwrap_err();
            assert!(said.contains(expected), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
        let with = |line: &str| format!("kind = 'parca'\nurl = 'https://h'\n{line}");
        check("kind = 'parca'", "url");
        check("kind = 'parka'\nurl = 'http://h'", "parka");
        check("kind = 'parca'\nurl = 'h:1'", "`exporters.0.url`: must start with");
        check("kind = 'parca'\nurl = 'http://u:secret@h'", "must not contain credentials");
        check("kind = 'parca'\nurl = 'http://'", "has no host");
        check("kind = 'parca'\nurl = 'http://:80'", "has no host");
        check("kind = 'parca'\nurl = 'http://h:99999'", "has a port");
        check("kind = 'parca'\nurl = 'http://h/a b'", "spaces or `#`");
        check("kind = 'parca'\nurl = 'http://h'\nca = 'f'", "applies to `https` only");
        check(&with("password = 'secret'"), "unknown field `password`");
        check(&with("user = 'u'"), "needs `password-file`");
        check(&with("password-file = 'f'"), "needs `user`");
        check(&with("ca = 'f'\ninsecure = true"), "has no effect");
        check(&with("timeout = '2h'"), "from 100ms to 60s");
        check(&with("tenant = ''"), "1 to 150");
        check(&with("name = ''"), "1 to 60");
        check(
            &with("[[exporters]]\nkind = 'parca'\nurl = 'http://i'"),
            "`parca` is already in use",
        );
    }
}
