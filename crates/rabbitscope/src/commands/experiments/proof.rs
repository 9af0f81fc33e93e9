//! Proof of a check's findings: its experiments as files, and the run of one of them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_diagnosis::{BaseScenario, ExperimentFile};

use super::experiment::{Args, Options};
use crate::exit::Exit;

/// Writes experiments and their scenarios into a new or empty directory, and the figures of the observed load if it is
/// one of these. Returns the paths of the experiments.
pub(in crate::commands) fn write_experiments(
    directory: &Path,
    files: &[ExperimentFile],
    likeness: Option<&str>,
) -> anyhow::Result<Vec<PathBuf>> {
    let directory = RunDirectory::create(directory)?;
    let write = |name: &str, text: &str| -> anyhow::Result<PathBuf> {
        let path = directory.path().join(name);
        rabbitscope_files::write(&path, text.as_bytes())?;
        Ok(path)
    };
    let scenarios: BTreeMap<&str, &str> =
        files.iter().map(|file| (&*file.scenario_name, &*file.scenario)).collect();
    for (name, text) in &scenarios {
        write(name, text)?;
    }
    if let (true, Some(text)) = (scenarios.contains_key(BaseScenario::FILE_NAME), likeness) {
        write(&BaseScenario::FILE_NAME.replace(".toml", ".likeness.json"), text)?;
    }
    files.iter().map(|file| write(&file.name, &file.experiment)).collect()
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
        let paths = write_experiments(&directory, &[file("a"), file("b")], Some("{}")).unwrap();
        assert_eq!(paths, ["a.toml", "b.toml"].map(|name| directory.join(name)));
        assert_eq!(fs::read_to_string(directory.join("a-load.toml")).unwrap(), "name = \"b\"");
        let refused = write_experiments(&directory, &[file("a")], None).unwrap_err();
        assert!(refused.to_string().contains("is not empty"), "{refused}");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 4);
    }

    #[test]
    fn the_observed_load_is_there_once_with_its_figures() {
        let place = tempfile::tempdir().unwrap();
        let on_observed = |name: &str| ExperimentFile {
            scenario_name: BaseScenario::FILE_NAME.to_owned(),
            ..file(name)
        };
        let files = [on_observed("a"), on_observed("b"), file("c")];
        write_experiments(place.path(), &files, Some("{}")).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 6);
        let figures = fs::read_to_string(place.path().join("observed-load.likeness.json"));
        assert_eq!(figures.unwrap(), "{}");
    }
}
