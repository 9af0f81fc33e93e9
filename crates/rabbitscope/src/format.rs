//! The files a profile can be written to and read from. The suffix of the name decides what is
//! written, the beginning of a file what is read: `perf.data` and the text of `perf script` have no
//! names of their own.

use std::{
    io::{BufRead, BufReader, Seek},
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_files::AtomicFile;
use rabbitscope_probe::RecordedNames;
use rabbitscope_profiles::{
    Profile, is_perf_script, read_folded_within, read_perf_data_within, read_perf_script_within,
    read_pprof_within, write_firefox, write_folded, write_pprof, write_speedscope,
};
use rabbitscope_web::{Report, write_report, write_svg};

use crate::{archive, exit::UsageError, rundir};

/// A file format of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfileFormat {
    Html,
    Svg,
    Pprof,
    Folded,
    Speedscope,
    Firefox,
}

const SUFFIXES: [(&str, ProfileFormat); 6] = [
    (".html", ProfileFormat::Html),
    (".svg", ProfileFormat::Svg),
    (".pb.gz", ProfileFormat::Pprof),
    (".folded", ProfileFormat::Folded),
    (".speedscope.json", ProfileFormat::Speedscope),
    (".firefox.json", ProfileFormat::Firefox),
];

/// Bytes by which a file is recognised.
const START: usize = 64 << 10;

impl ProfileFormat {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix)).map(|&(_, format)| format)
    }
}

/// A place for a profile that was checked before the recording started.
#[derive(Debug)]
pub(crate) struct ProfileFile {
    format: ProfileFormat,
    path: PathBuf,
}

impl ProfileFile {
    /// Refuses an unknown suffix, and a place that cannot be written to. Leaves nothing there.
    pub(crate) fn check(path: &Path) -> anyhow::Result<Self> {
        let format = ProfileFormat::of(path).ok_or_else(|| unknown_suffix(path, &SUFFIXES))?;
        drop(AtomicFile::create(path)?);
        Ok(Self { format, path: path.to_owned() })
    }

    /// Writes the profile in the form that the suffix asks for.
    pub(crate) fn write(&self, profile: &Profile) -> anyhow::Result<()> {
        let mut file = AtomicFile::create(&self.path)?;
        let out = file.writer();
        match self.format {
            ProfileFormat::Html => {
                let report = Report { profile: Some(profile), ..Report::default() };
                write_report(out, &report)
            }
            ProfileFormat::Svg => write_svg(out, profile),
            ProfileFormat::Pprof => write_pprof(profile, out),
            ProfileFormat::Folded => write_folded(profile, out),
            ProfileFormat::Speedscope => write_speedscope(profile, out),
            ProfileFormat::Firefox => write_firefox(profile, out),
        }
        .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(file.commit()?)
    }

    /// As it was named.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a profile from a run directory, from windows of `watch`, or from any file that is known. It may take so much
/// memory.
pub(crate) fn read_profile(input: &Path, limit_bytes: u64) -> anyhow::Result<Profile> {
    let (input, selection) = archive::split_selection(input)?;
    if archive::is_archive(&input) || !selection.is_everything() {
        return archive::sum(&input, &selection, limit_bytes);
    }
    let path = if input.is_dir() { rundir::profile_path(&input)? } else { input };
    read_file(&path, limit_bytes).with_context(|| format!("cannot read {}", path.display()))
}

fn read_file(path: &Path, limit: u64) -> anyhow::Result<Profile> {
    // However long it is, no more is kept of it than may be.
    let mut input = BufReader::with_capacity(START, rabbitscope_files::open(path, u64::MAX)?);
    let start = input.fill_buf()?;
    Ok(match Source::of(start, path) {
        Some(Source::Pprof) => read_pprof_within(input, limit)?,
        Some(Source::PerfData) => {
            let mut file = input.into_inner();
            file.rewind()?;
            read_perf_data_within(file, &mut RecordedNames::default(), limit)?
        }
        Some(Source::PerfScript) => read_perf_script_within(input, limit)?,
        Some(Source::Folded) => read_folded_within(input, limit)?,
        None => return Err(unknown_input().into()),
    })
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Pprof,
    PerfData,
    PerfScript,
    Folded,
}

impl Source {
    fn of(start: &[u8], path: &Path) -> Option<Self> {
        if start.starts_with(b"PERFILE2") || start.starts_with(b"2ELIFREP") {
            return Some(Self::PerfData);
        }
        match ProfileFormat::of(path) {
            Some(ProfileFormat::Pprof) => return Some(Self::Pprof),
            Some(ProfileFormat::Folded) => return Some(Self::Folded),
            Some(_) => return None,
            None => {}
        }
        if start.starts_with(&[0x1f, 0x8b]) {
            return Some(Self::Pprof);
        }
        if is_perf_script(start) {
            return Some(Self::PerfScript);
        }
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        match suffix {
            Some("pb" | "pprof") => Some(Self::Pprof),
            Some("data") => Some(Self::PerfData),
            Some("txt" | "script") => Some(Self::PerfScript),
            Some("collapsed") => Some(Self::Folded),
            _ => is_folded(start).then_some(Self::Folded),
        }
    }
}

/// Whether the first line ends in a space and a number, as in folded stacks.
fn is_folded(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let line = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let count = line.and_then(|line| line.trim_end().rsplit_once(' ')).map(|(_, count)| count);
    count.is_some_and(|count| count.parse::<u64>().is_ok())
}

fn unknown_input() -> UsageError {
    UsageError(
        "it is no profile that rabbitscope reads: a run directory, pprof (.pb.gz), folded stacks \
         (.folded), perf.data, or the text of `perf script`"
            .to_owned(),
    )
}

/// Refuses a page with another suffix than `.html`.
pub(crate) fn require_html(path: &Path) -> Result<(), UsageError> {
    if path.extension().is_some_and(|suffix| suffix == "html") {
        return Ok(());
    }
    Err(UsageError(format!("what is written is an .html file, not {}", path.display())))
}

fn unknown_suffix(path: &Path, allowed: &[(&str, ProfileFormat)]) -> UsageError {
    let allowed: Vec<&str> = allowed.iter().map(|&(suffix, _)| suffix).collect();
    let path: PathBuf = path.into();
    UsageError(format!(
        "the name {} does not say what form it has; allowed suffixes: {}",
        path.display(),
        allowed.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_decides() {
        fn check(path: &str, expected: Option<ProfileFormat>) {
            assert_eq!(ProfileFormat::of(Path::new(path)), expected, "{path}");
        }
        check("a/b.html", Some(ProfileFormat::Html));
        check("b.pb.gz", Some(ProfileFormat::Pprof));
        check("b.folded", Some(ProfileFormat::Folded));
        check("b.svg", Some(ProfileFormat::Svg));
        check("b.gz", None);
        check("html", None);
        check("/", None);
        check("a.speedscope.json", Some(ProfileFormat::Speedscope));
        check("a.firefox.json", Some(ProfileFormat::Firefox));
        check("a.json", None);
    }

    #[test]
    fn the_beginning_tells_what_a_file_holds() {
        fn check(start: &[u8], path: &str, expected: Option<Source>) {
            assert_eq!(Source::of(start, Path::new(path)), expected, "{path}");
        }
        check(b"PERFILE2....", "x", Some(Source::PerfData));
        check(b"", "perf.data", Some(Source::PerfData));
        check(b"\x1f\x8b", "x", Some(Source::Pprof));
        check(b"x 1 1.5: 1 cycles: \n", "x", Some(Source::PerfScript));
        check(b"a;b 12\n", "x", Some(Source::Folded));
        check(b"a;b 12\n", "x.svg", None);
        check(b"\x7fELF\0", "x", None);
    }
}
