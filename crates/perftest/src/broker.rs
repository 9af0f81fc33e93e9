//! Parts of the run and the broker that the scenarios of all programs have.

use toml::Value;

use crate::{
    PerfTestError,
    arguments::Arguments,
    uris::without_password,
    writer::{Draft, Section},
};

/// Returns the section of a run that lasts for `duration`. A program without a limit would run until stopped.
pub(crate) fn run_of(
    arguments: &Arguments,
    duration: Option<String>,
    draft: &mut Draft,
) -> Result<Section, PerfTestError> {
    let mut run = Section::new("[run]");
    let counted = arguments.limit("pmessages")?.or(arguments.limit("cmessages")?).is_some();
    if duration.is_none() && !counted {
        let program = arguments.program().name();
        draft.note(format!("{program} would run until stopped: here, for a day"));
        run.set("duration", "24h");
    }
    run.set_some("duration", duration);
    Ok(run)
}

/// Returns the section of a broker with these URIs, of which it has the form without passwords.
pub(crate) fn broker_of(uris: &[String]) -> Section {
    let mut broker = Section::new("[broker]");
    let shown: Vec<_> = uris.iter().map(|uri| without_password(uri)).collect();
    match shown.as_slice() {
        [uri] => broker.set("uri", uri.as_str()),
        _ => broker.set("uris", Value::from(shown)),
    }
    broker
}

/// Writes the sizes of socket buffers, in bytes. Zero leaves the choice to the kernel.
pub(crate) fn set_buffers(
    broker: &mut Section,
    size: impl Fn(&'static str) -> Result<i64, PerfTestError>,
) -> Result<(), PerfTestError> {
    for (key, option) in
        [("send-buffer", "tcp-send-buffer-size"), ("receive-buffer", "tcp-receive-buffer-size")]
    {
        let bytes = size(option)?;
        broker.set_some(key, (bytes > 0).then(|| format!("{bytes}B")));
    }
    Ok(())
}

/// Returns the section of TLS with the name of the server; `None` without TLS, whose scheme is `scheme`.
pub(crate) fn tls_of(
    arguments: &Arguments,
    has_tls: bool,
    scheme: &str,
    draft: &mut Draft,
) -> Option<Section> {
    let names = arguments.text("server-name-indication");
    if !has_tls {
        if names.is_some() {
            draft.note(format!("--server-name-indication means nothing without {scheme}"));
        }
        return None;
    }
    let mut tls = Section::new("[broker.tls]");
    let mut names = names.into_iter().flat_map(|names| names.split(',').map(str::trim));
    tls.set_some("server-name", names.next());
    if names.next().is_some() {
        draft.note("--server-name-indication: only the first name is used");
    }
    Some(tls)
}
