//! The HTML report: one file that works offline and loads nothing.

use std::io::{self, Write};

use crate::{
    assets::{PAGE_SCRIPT, PAGE_STYLE},
    document::Document,
    escape::{Markup, ScriptJson},
    page::diff::DiffReport,
    page::whole::{PageData, Report},
};

/// The page may run and style itself, also in a worker that it makes from its own text, and nothing else: no network, no
/// frames, no forms.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; worker-src blob:; \
                      style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                      form-action 'none'";

/// Writes the report as one HTML file.
pub fn write_report(out: impl Write, report: &Report<'_>) -> io::Result<()> {
    write_page(out, &of_file(&title(report)), &PageData::new(report))
}

/// Writes the comparison of two profiles as one HTML file.
pub fn write_diff(out: impl Write, report: DiffReport<'_>) -> io::Result<()> {
    let (before, after) = (report.before.name, report.after.name);
    let title = format!("{before} against {after} · rabbitscope");
    write_page(out, &of_file(&title), &PageData::of_diff(report))
}

/// Writes a page of blocks as one HTML file.
pub(crate) fn write_document(out: impl Write, document: &Document) -> io::Result<()> {
    write_document_with(out, document, None)
}

/// Writes a page of blocks with a comparison of profiles below them.
pub(crate) fn write_document_with(
    out: impl Write,
    document: &Document,
    diff: Option<DiffReport<'_>>,
) -> io::Result<()> {
    let title = format!("{} · rabbitscope", document.title);
    let data = diff.map_or_else(PageData::empty, PageData::of_diff);
    write_page(out, &of_file(&title), &data.with_document(document))
}

/// The page around its data.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    /// What the page may do (Content-Security-Policy).
    pub(crate) policy: &'static str,
    pub(crate) script: &'static str,
}

/// Returns the frame of a file.
fn of_file(title: &str) -> Frame<'_> {
    Frame { title, policy: POLICY, script: PAGE_SCRIPT }
}

/// Writes a page.
pub(crate) fn write_page(
    mut out: impl Write,
    frame: &Frame<'_>,
    data: &PageData<'_>,
) -> io::Result<()> {
    let Frame { title, policy, script } = frame;
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"rabbitscope {}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n\
         <main id=\"page\"></main>\n\
         <noscript>This page draws its figures with a script; please allow it.</noscript>\n\
         <script type=\"application/json\" id=\"data\">",
        env!("CARGO_PKG_VERSION"),
        Markup(title),
    )?;
    serde_json::to_writer(ScriptJson(&mut out), data)?;
    if let Some(columns) = &data.columns {
        out.write_all(b"</script>\n<script type=\"application/octet-stream\" id=\"columns\">")?;
        columns.write_text(&mut out)?;
    }
    write!(out, "</script>\n<script>{script}</script>\n</body>\n</html>\n")?;
    out.flush()
}

fn title(report: &Report<'_>) -> String {
    match (report.run, report.profile) {
        (Some(run), _) => format!("{} · rabbitscope", run.name),
        (None, Some(profile)) => format!("{} profile · rabbitscope", profile.value_name()),
        (None, None) => "rabbitscope".to_owned(),
    }
}
