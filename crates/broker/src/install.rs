//! Locates the distribution's RabbitMQ and Erlang.
//!
//! The command in `/usr/sbin` is a wrapper that insists on root and changes to the `rabbitmq` user. A throwaway node
//! belongs to the user who starts it, so it uses the script behind the wrapper, which stands beside `rabbitmq-env`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::BrokerError;

/// The variable with the root directory of another system whose RabbitMQ and Erlang are used, such as one that
/// debootstrap made. Live tests use it to run against other releases. The port mapper remains this system's. Needs
/// root.
pub const ROOT_VARIABLE: &str = "RABBITSCOPE_BROKER_ROOT";

const SERVER: &str = "rabbitmq-server";
const PACKAGE: &str = "/usr/lib/rabbitmq";
const SCRIPTS: &str = "/usr/lib/rabbitmq/bin";
const SYSTEM_DIRECTORIES: [&str; 4] = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin"];

/// The programs that a throwaway broker needs.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The root directory in which the node starts, if it is another system's.
    pub root: Option<PathBuf>,
    /// The script that becomes the node, by its path in the node's system.
    pub server: PathBuf,
    /// The port mapper, which runs on a port of its own.
    pub epmd: PathBuf,
    /// The Erlang emulator, which compiles a module for the nodes of a cluster and reads files of Erlang terms.
    pub erl: PathBuf,
}

impl Installation {
    /// Looks in the usual places and in `PATH`. With [`ROOT_VARIABLE`], looks for the server in that root.
    pub fn find() -> Result<Self, BrokerError> {
        let root = env::var_os(ROOT_VARIABLE).filter(|root| !root.is_empty()).map(PathBuf::from);
        Self::below(root)
    }

    /// Looks for the server in this root directory; an empty `root` means [`Self::find`].
    pub(crate) fn find_in(root: &str) -> Result<Self, BrokerError> {
        if root.is_empty() {
            return Self::find();
        }
        let root = Path::new(root);
        let resolved = root.canonicalize().map_err(BrokerError::io("find the root", root))?;
        if find_server_below(&resolved).is_none() {
            return Err(BrokerError::NoInstallation { root: root.to_owned() });
        }
        if !rustix::process::geteuid().is_root() {
            return Err(BrokerError::RootNeeded { root: root.to_owned() });
        }
        Self::below(Some(resolved))
    }

    fn below(root: Option<PathBuf>) -> Result<Self, BrokerError> {
        let server = root.as_deref().map_or_else(find_server, find_server_below);
        Ok(Self {
            root,
            server: server.ok_or(missing(SERVER, SERVER))?,
            epmd: find_erlang("epmd").ok_or(missing("epmd", "erlang-base"))?,
            erl: find_erlang("erl").ok_or(missing("erl", "erlang-base"))?,
        })
    }

    /// The directories of the installation's plugins, by their paths in the node's system. A packaged server also looks
    /// at one for plugins of others (`rabbit_env:get_default_plugins_path_from_env/1`).
    pub(crate) fn plugin_directories(&self) -> Vec<PathBuf> {
        let Some(plugins) = self.plugins() else { return Vec::new() };
        let of_others = plugins.starts_with(PACKAGE).then(|| Path::new(PACKAGE).join("plugins"));
        of_others.into_iter().chain([plugins]).collect()
    }

    /// The directory of the plugins that came with the server, by its path in the node's system.
    fn plugins(&self) -> Option<PathBuf> {
        let Some(root) = &self.root else { return plugins_beside(&self.server) };
        let found = plugins_beside(&root.join(self.server.strip_prefix("/").ok()?))?;
        Some(Path::new("/").join(found.strip_prefix(root.canonicalize().ok()?).ok()?))
    }

    /// Returns whether the installation has this plugin, as a directory or as an archive.
    pub fn has_plugin(&self, name: &str) -> bool {
        self.plugin_names().iter().any(|found| found == name)
    }

    /// Names of the installation's plugins and of libraries beside them; empty if none can be read.
    pub fn plugin_names(&self) -> Vec<String> {
        self.plugin_names_in(&self.plugin_directories())
    }

    /// Names of the plugins in these directories of the node's system, and of libraries beside them.
    pub(crate) fn plugin_names_in(&self, directories: &[PathBuf]) -> Vec<String> {
        let places = directories.iter().map(|directory| self.seen_from_here(directory));
        let entries = places.filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
        let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
        files.filter_map(|file| Some(file.split(['-', '.']).next()?.to_owned())).collect()
    }

    /// The path by which this process reaches a path of the node's system. Temporary files are the same in both.
    pub(crate) fn seen_from_here(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) if !path.starts_with(env::temp_dir()) => {
                root.join(path.strip_prefix("/").unwrap_or(path))
            }
            _ => path.to_owned(),
        }
    }
}

fn missing(program: &'static str, package: &'static str) -> BrokerError {
    BrokerError::NotInstalled { program, package }
}

fn find_server() -> Option<PathBuf> {
    let behind_wrappers = on_path(SERVER).filter_map(|found| script_behind(&found));
    Some(Path::new(SCRIPTS).join(SERVER))
        .filter(|script| script.is_file())
        .or_else(|| behind_wrappers.into_iter().next())
}

fn find_server_below(root: &Path) -> Option<PathBuf> {
    let script = Path::new(SCRIPTS).join(SERVER);
    root.join(script.strip_prefix("/").ok()?).is_file().then_some(script)
}

/// The plugins' directory, found from the real path of the start script.
fn plugins_beside(server: &Path) -> Option<PathBuf> {
    let plugins = server.canonicalize().ok()?.parent()?.parent()?.join("plugins");
    plugins.is_dir().then_some(plugins)
}

/// The script behind a link or wrapper.
fn script_behind(found: &Path) -> Option<PathBuf> {
    let real = found.canonicalize().ok()?;
    let scripts = real.parent()?;
    scripts.join("rabbitmq-env").is_file().then(|| scripts.join(SERVER))
}

/// Looks in `PATH`, then beside the `erl` that `PATH` leads to.
fn find_erlang(program: &str) -> Option<PathBuf> {
    on_path(program).next().or_else(|| {
        let erl = on_path("erl").next()?.canonicalize().ok()?;
        Some(erl.with_file_name(program)).filter(|path| path.is_file())
    })
}

fn on_path(program: &str) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let named: Vec<PathBuf> = env::split_paths(&path).collect();
    named
        .into_iter()
        .chain(SYSTEM_DIRECTORIES.map(PathBuf::from))
        .map(move |directory| directory.join(program))
        .filter(|candidate| candidate.is_file())
}
