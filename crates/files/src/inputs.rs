//! Protection of input files from being replaced by output.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Returns the input that `output` would replace: the same file, under any name. An input directory stands for the
/// files in it and below. Pages are excepted, because they are made from the other files.
pub fn replaced_input<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Option<&'a Path> {
    let target = fs::metadata(output).ok().filter(Metadata::is_file)?;
    let is_page = output.extension().is_some_and(|suffix| suffix == "html");
    inputs.into_iter().find(|input| match fs::metadata(input) {
        Ok(found) if found.is_dir() => !is_page && is_below(input, output),
        Ok(found) => (found.dev(), found.ino()) == (target.dev(), target.ino()),
        Err(_) => false,
    })
}

fn is_below(directory: &Path, file: &Path) -> bool {
    let real = |path: &Path| -> Option<PathBuf> { fs::canonicalize(path).ok() };
    real(directory).zip(real(file)).is_some_and(|(directory, file)| file.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_input_is_known_by_all_its_names() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("run/below")).unwrap();
        for name in ["a", "other", "run/profile", "run/report.html", "run/below/window"] {
            fs::write(at(name), "").unwrap();
        }
        fs::hard_link(at("a"), at("hard")).unwrap();
        symlink(at("a"), at("soft")).unwrap();
        let check = |output: &str, input: &str, expected: bool| {
            let (output, input) = (at(output), at(input));
            let found = replaced_input(&output, [input.as_path()]).is_some();
            assert_eq!(found, expected, "{} {}", output.display(), input.display());
        };
        check("a", "a", true);
        check("hard", "a", true);
        check("soft", "a", true);
        check("run/../a", "a", true);
        check("other", "a", false);
        check("none", "a", false);
        check("run/profile", "run", true);
        check("run/below/window", "run", true);
        check("run/report.html", "run", false);
        check("run/report.html", "run/report.html", true);
    }
}
