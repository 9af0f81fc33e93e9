//! The directory of one throwaway broker: configuration, cookie, data.
//!
//! ```text
//! $TMPDIR/rabbitscope-UID/brokers/NAME/      0700
//!     born                                   when it was made
//!     home/.erlang.cookie                    0600, random
//!     rabbitmq.conf                          0600, has the password of the first user
//!     advanced.config enabled_plugins
//!     guard.sh console.log epmd.log data/
//!     node.json                              0600, written once the node serves clients
//! ```

use std::{
    env, fs,
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rabbitscope_runs::scenario::ThrowawayBroker;

use crate::{
    BrokerError, Installation,
    listeners::{Ports, loopback_config},
    processes, removal,
};

/// The directory that holds the directories of all throwaway brokers of this user. It is made when
/// it is not there, and refused when others could have put something into it.
pub(crate) fn brokers_directory() -> Result<PathBuf, BrokerError> {
    let user = rustix::process::geteuid().as_raw();
    let temporary = std::path::absolute(env::temp_dir());
    let temporary = temporary.map_err(BrokerError::io("resolve", env::temp_dir()))?;
    let own = temporary.join(format!("rabbitscope-{user}"));
    let brokers = own.join("brokers");
    for directory in [&own, &brokers] {
        match make_private(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                require_private(directory)?;
            }
            made => made.map_err(BrokerError::io("make", directory))?,
        }
    }
    Ok(brokers)
}

fn make_private(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(directory)
}

fn require_private(directory: &Path) -> Result<(), BrokerError> {
    let metadata =
        fs::symlink_metadata(directory).map_err(BrokerError::io("look at", directory))?;
    let is_closed = metadata.permissions().mode().trailing_zeros() >= 6;
    if removal::is_own_directory(&metadata) && is_closed {
        return Ok(());
    }
    Err(BrokerError::NotPrivate { path: directory.to_owned() })
}

/// A fresh directory with everything a node reads when it starts.
pub(crate) fn prepare(
    installation: &Installation,
    directory: &Path,
    spec: &ThrowawayBroker,
    ports: &Ports,
) -> Result<(), BrokerError> {
    make_private(directory).map_err(BrokerError::io("make", directory))?;
    // Before any process can be there that belongs to it.
    write_private(&directory.join(processes::BORN), &processes::ticks_now()?.to_string())?;
    let home = directory.join("home");
    make_private(&home).map_err(BrokerError::io("make", &home))?;
    write_private(&home.join(".erlang.cookie"), &random_hex()?)?;
    let loopback = loopback_config(ports, |plugin| installation.has_plugin(plugin));
    let password = format!("default_pass = {}\n", random_hex()?);
    let config = loopback + &password + &spec.config + "\n";
    write_private(&directory.join("rabbitmq.conf"), &config)?;
    if !spec.advanced_config.is_empty() {
        write_private(&directory.join("advanced.config"), &spec.advanced_config)?;
    }
    write_private(&directory.join("enabled_plugins"), &format!("[{}].\n", spec.plugins.join(",")))
}

/// Writes a file that must not be there yet.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), BrokerError> {
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(BrokerError::io("write", path))
}

/// 128 random bits.
pub(crate) fn random_hex() -> Result<String, BrokerError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    fs::File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(BrokerError::io("read", source))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// The environment of the node: nothing of the caller's environment but the search path, and what the
/// specification adds, which cannot replace anything.
pub(crate) fn environment(
    installation: &Installation,
    directory: &Path,
    node_name: &str,
    spec: &ThrowawayBroker,
    ports: &Ports,
    log: &Path,
) -> Result<Vec<(String, String)>, BrokerError> {
    let inside = |name: &str| directory.join(name).display().to_string();
    let erl_args =
        format!("-kernel inet_dist_use_interface {{127,0,0,1}} {}", spec.erl_args.trim());
    let more = plugins_path(installation, spec).map(|path| ("RABBITMQ_PLUGINS_DIR", path));
    let pairs = [
        ("PATH", search_path()),
        ("LANG", "C.UTF-8".to_owned()),
        ("HOME", inside("home")),
        ("ERL_CRASH_DUMP", inside("erl_crash.dump")),
        ("ERL_EPMD_ADDRESS", "127.0.0.1".to_owned()),
        ("ERL_EPMD_PORT", ports.epmd.to_string()),
        // The port mapper is started by the guard; no second one may turn itself into a daemon.
        ("ERL_AFLAGS", "-start_epmd false".to_owned()),
        // With this the server script replaces itself by the node instead of waiting for it.
        ("RUNNING_UNDER_SYSTEMD", "true".to_owned()),
        // No such file: the machine's own configuration stays out.
        ("RABBITMQ_CONF_ENV_FILE", inside("rabbitmq-env.conf")),
        ("RABBITMQ_NODENAME", node_name.to_owned()),
        ("RABBITMQ_DIST_PORT", ports.distribution.to_string()),
        ("RABBITMQ_MNESIA_BASE", inside("data")),
        ("RABBITMQ_LOG_BASE", inside("log")),
        ("RABBITMQ_LOGS", log.display().to_string()),
        ("RABBITMQ_CONFIG_FILE", inside("rabbitmq.conf")),
        ("RABBITMQ_CONFIG_FILES", inside("conf.d/*.conf")),
        ("RABBITMQ_ADVANCED_CONFIG_FILE", inside("advanced.config")),
        ("RABBITMQ_GENERATED_CONFIG_DIR", inside("config")),
        ("RABBITMQ_SCHEMA_DIR", inside("schema")),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", inside("enabled_plugins")),
        ("RABBITMQ_PID_FILE", inside("rabbitmq.pid")),
        ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", erl_args),
    ];
    let own = pairs.into_iter().chain(more).map(|(name, value)| (name.to_owned(), value));
    let mut all: Vec<(String, String)> = own.collect();
    let reserved = spec.environment.keys().find(|name| all.iter().any(|(own, _)| own == *name));
    if let Some(name) = reserved {
        return Err(BrokerError::Reserved { name: name.clone() });
    }
    all.extend(spec.environment.iter().map(|(name, value)| (name.clone(), value.clone())));
    Ok(all)
}

/// The caller's plugins and those that came with the broker.
fn plugins_path(installation: &Installation, spec: &ThrowawayBroker) -> Option<String> {
    let own = Some(&spec.plugins_directory).filter(|path| !path.is_empty())?;
    let own = std::path::absolute(own).ok()?;
    Some(format!("{}:{}", own.display(), installation.plugins()?.display()))
}

fn search_path() -> String {
    env::var("PATH").unwrap_or_else(|_| "/usr/sbin:/usr/bin:/sbin:/bin".to_owned())
}
