//! The way to a node in a container: its own network, and its cookie below its own root directory.

use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use rabbitscope_erlang::{ConnectOptions, CookieSource, Network, VerifyPeer};
use rabbitscope_machine::process::environment;
use rabbitscope_probe::packets::NetworkNamespace;

use crate::peer::expected_node;

/// Home of RabbitMQ's user in packages and images.
const USUAL_HOME: &str = "/var/lib/rabbitmq";

/// Returns the options for the node with this process. If it has a network of its own, that is entered. If it has a
/// root directory of its own, the cookie comes from there, unless the user named a file.
///
/// The caller's own rights decide both. Without them the error of the connection says what is missing.
pub fn in_container(pid: u32, options: ConnectOptions) -> ConnectOptions {
    let network = NetworkNamespace::from_pid(pid).ok().filter(|network| !network.is_own());
    let network = network.map(|network| Arc::new(NodeNetwork(network)) as Arc<dyn Network>);
    // Others may listen in the same network, such as a second container of a pod.
    let verify = if network.is_some() {
        let cookie_is_chosen = matches!(options.cookie, CookieSource::File(_));
        Some(Arc::new(expected_node(Some(pid), cookie_is_chosen)) as Arc<dyn VerifyPeer>)
    } else {
        options.verify
    };
    let cookie = match options.cookie {
        CookieSource::UsualPlaces if has_other_root(pid) => {
            CookieSource::OtherRoot { root: root_of(pid), homes: homes(pid) }
        }
        cookie => cookie,
    };
    ConnectOptions { cookie, network, verify, ..options }
}

/// The network of a node's process.
#[derive(Debug)]
struct NodeNetwork(NetworkNamespace);

impl Network for NodeNetwork {
    fn run(&self, open: &mut (dyn FnMut() + Send)) -> Result<(), String> {
        let entered = self.0.run(|| {
            open();
            Ok(())
        });
        entered.map_err(|error| error.to_string())
    }
}

fn root_of(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/root"))
}

/// Returns whether the root directory of the process is visible and differs from that of this program.
fn has_other_root(pid: u32) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    match (identity(&root_of(pid)), identity(Path::new("/"))) {
        (Ok(theirs), Ok(own)) => theirs != own,
        _ => false,
    }
}

/// Returns the directories that may have the cookie: the home of the process, and the usual one.
fn homes(pid: u32) -> Vec<PathBuf> {
    let environment = environment(pid).unwrap_or_default();
    let home = environment.split(|byte| *byte == 0).find_map(|pair| pair.strip_prefix(b"HOME="));
    let home = home.map(|home| PathBuf::from(std::ffi::OsStr::from_bytes(home)));
    let usual = PathBuf::from(USUAL_HOME);
    let own = home.filter(|home| home.is_absolute() && *home != usual);
    own.into_iter().chain([usual]).collect()
}
