//! The files a profile can be written to and read from; the suffix of the name decides.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_data::profile::{
    Profile, read_folded, read_pprof, write_firefox, write_folded, write_pprof, write_speedscope,
};
use rabbitscope_web::{Report, write_report, write_svg};

use crate::{atomic_file::AtomicFile, exit::UsageError, rundir};

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
        .context("cannot write the profile")?;
        file.commit()
    }
}

/// Reads a profile from a run directory, a pprof file or folded stacks.
pub(crate) fn read_profile(input: &Path) -> anyhow::Result<Profile> {
    let path = if input.is_dir() { rundir::profile_path(input)? } else { input.to_owned() };
    let format = ProfileFormat::of(&path);
    let cannot = || format!("cannot read {}", path.display());
    let open = || File::open(&path).map(BufReader::new).with_context(cannot);
    match format {
        Some(ProfileFormat::Pprof) => read_pprof(open()?).with_context(cannot),
        Some(ProfileFormat::Folded) => read_folded(open()?).with_context(cannot),
        _ => Err(unknown_suffix(&path, &SUFFIXES[2..4]).into()),
    }
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
}
