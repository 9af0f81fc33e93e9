//! A dry run of `watch`.

use rabbitscope_erlang::CookieSource;
use rabbitscope_export::ExporterOptions;
use rabbitscope_probe::{NodeScan, origin_of};

use super::{
    config::{ConfigSource, InsideOptions, WatchOptions},
    nodes::{described, labels_of},
};

/// Describes the configuration and the nodes. Fails if `watch` would refuse to start, or if the cookie file cannot be
/// read.
pub fn check(source: &ConfigSource) -> anyhow::Result<String> {
    let options = source.read()?;
    // `watch` starts even without the cookie, but could then ask no node.
    if let Some(named) = options.inside.as_ref().filter(|inside| inside.cookie_file.is_some()) {
        cookie_of(named).check()?;
    }
    let mut lines = vec![recording(&options)];
    lines.extend(options.directory.as_ref().map(|directory| {
        let limits = directory.limits;
        let age = rabbitscope_text::display_duration(limits.max_age);
        let size = rabbitscope_text::human_bytes(limits.max_bytes);
        format!("directory  {}, for {age}, {size} at most", directory.path.display())
    }));
    lines.extend(options.exporters.iter().map(exporter));
    lines.extend(
        options
            .listen
            .as_ref()
            .map(|scrape| format!("metrics    at http://{}/metrics", scrape.address)),
    );
    if options.is_served {
        lines.push("page       in a browser on this machine, at a secret address".to_owned());
    }
    lines.push(format!("inside     {}", inside(&options)));
    lines.extend(nodes(&options)?);
    lines.extend(
        rabbitscope_probe::explain(None)
            .into_iter()
            .filter(|fact| !fact.is_met)
            .map(|fact| format!("missing    {}: {}", fact.what, fact.found)),
    );
    Ok(lines.join("\n"))
}

/// Describes whether nodes are asked.
pub(super) fn inside(options: &WatchOptions) -> String {
    match &options.inside {
        None => "nodes are not asked: profiles have no roles and queues, metrics no messages; to ask them, set \
                 `[inside] ask = true`"
            .to_owned(),
        Some(inside) if cookie_of(inside).check().is_err() => format!(
            "nodes cannot be asked ({}), except throwaway brokers, which have their own cookie: profiles have no \
             roles and queues, metrics no messages",
            cookie_of(inside).check().err().map_or_else(String::new, |error| error.to_string()),
        ),
        Some(inside) => {
            let cookie = inside.cookie_file.as_ref();
            let cookie = cookie.map_or_else(
                || "the cookie from the usual places".to_owned(),
                |file| format!("the cookie from {}", file.display()),
            );
            format!("nodes are asked for roles, queues and figures, with {cookie}")
        }
    }
}

fn cookie_of(inside: &InsideOptions) -> CookieSource {
    inside.cookie_file.clone().map_or(CookieSource::UsualPlaces, CookieSource::File)
}

/// Describes an exporter without the text after `?`. Backends take passwords there (`?u=…&p=…`), and a journal keeps
/// this description.
fn exporter(options: &ExporterOptions) -> String {
    let ExporterOptions { name, kind, url, .. } = options;
    let (place, rest) = url.split_once('?').map_or((url.as_str(), ""), |(place, _)| (place, "?…"));
    format!("exporter   {name} ({}) to {place}{rest}", kind.name())
}

fn recording(options: &WatchOptions) -> String {
    let off_cpu = if options.has_off_cpu { ", time off the CPU" } else { "" };
    let window = rabbitscope_text::display_duration(options.window);
    format!("record     {} Hz on each CPU{off_cpu}, windows of {window}", options.freq_hz)
}

fn nodes(options: &WatchOptions) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for pid in NodeScan::default().scan()? {
        lines.push(match origin_of(pid) {
            Ok(origin) => {
                let is_meant = options.nodes.has(&origin);
                let word = if is_meant { "node" } else { "left out" };
                format!("{word:<10} {}", described(pid, &labels_of(&origin, options)))
            }
            Err(error) => format!("refused    pid {pid}: {error}"),
        });
    }
    if lines.is_empty() {
        lines.push("no node runs on this machine now".to_owned());
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{super::config::TypedOptions, *};

    fn source(file: &Path) -> ConfigSource {
        ConfigSource { file: Some(file.to_owned()), typed: TypedOptions::default() }
    }

    #[test]
    fn a_password_in_a_url_is_not_shown() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("watch.toml");
        let text = "[[exporters]]\nkind = 'influx'\nurl = 'http://h:8086/write?db=x&u=a&p=secret'";
        fs::write(&file, text).unwrap();
        let said = exporter(&source(&file).read().unwrap().exporters[0]);
        assert_eq!(said, "exporter   influx (influx) to http://h:8086/write?…");
    }
}
