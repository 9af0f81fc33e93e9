//! A run's directory, its ends, and its watchers.

mod ending;
mod kept_files;
mod live;
mod nodes_at_uris;
mod run_directory;
mod serving;
mod stopping_early;
mod watchers;
