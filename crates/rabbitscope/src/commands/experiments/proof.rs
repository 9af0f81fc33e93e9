//! Proof of a check's findings: its experiments as files, and the run of one of them.

use std::path::{Path, PathBuf};

use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_diagnosis::ExperimentFile;

use super::experiment::{Args, Options};
use crate::exit::Exit;

/// Writes experiments and their scenarios into a new or empty directory. Returns the paths of the experiments.
pub(in crate::commands) fn write_experiments(
    directory: &Path,
    files: &[ExperimentFile],
) -> anyhow::Result<Vec<PathBuf>> {
    let directory = RunDirectory::create(directory)?;
    let write = |name: &str, text: &str| -> anyhow::Result<PathBuf> {
        let path = directory.path().join(name);
        rabbitscope_files::write(&path, text.as_bytes())?;
        Ok(path)
    };
    let pair = |file: &ExperimentFile| {
        write(&file.scenario_name, &file.scenario)?;
        write(&file.name, &file.experiment)
    };
    files.iter().map(pair).collect()
}

/// Runs an experiment as `rabbitscope experiment FILE` does, on brokers of its own. An address in the environment is
/// ignored or refused.
pub(in crate::commands) fn prove(experiment: &Path, json: bool) -> anyhow::Result<Exit> {
    Args::new(experiment.to_owned(), Options::on_own_brokers(json)).execute()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(name: &str) -> ExperimentFile {
        ExperimentFile {
            rule: name.to_owned(),
            name: format!("{name}.toml"),
            experiment: "name = \"a\"".to_owned(),
            scenario_name: format!("{name}-load.toml"),
            scenario: "name = \"b\"".to_owned(),
        }
    }

    #[test]
    fn files_go_into_an_empty_directory_alone() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("new");
        let paths = write_experiments(&directory, &[file("a"), file("b")]).unwrap();
        assert_eq!(paths, ["a.toml", "b.toml"].map(|name| directory.join(name)));
        assert_eq!(fs::read_to_string(directory.join("a-load.toml")).unwrap(), "name = \"b\"");
        let refused = write_experiments(&directory, &[file("a")]).unwrap_err();
        assert!(refused.to_string().contains("is not empty"), "{refused}");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 4);
    }
}
