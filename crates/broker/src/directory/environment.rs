//! The environment of a node. It has the caller's search path and the specification's variables, which cannot replace
//! ours.

use std::{env, fmt::Write, path::Path};

use rabbitscope_runs::scenario::ThrowawayBroker;

use super::{
    planned::PlannedNode,
    plugin_path::{VARIABLE, plugin_path},
};
use crate::{BrokerError, Installation};

/// Name of the file with the configuration of the VM.
pub(super) const VM_CONFIG: &str = "vm.config";

/// Name of the file with Erlang that loads RabbitMQ's modules before it starts, which halves the time of the start.
pub(super) const MODULES: &str = "load_modules.eval";

/// Configuration that closes logins without a password. RabbitMQ 3's AMQP 1.0 has the user `guest` for them, RabbitMQ 4
/// one user for all protocols. A scenario's configuration overrides this, which it could not do with flags of the VM.
pub(super) const NO_ANONYMOUS_LOGIN: &str = "[{rabbit, [{anonymous_login_user, none}]}, \
    {rabbitmq_amqp1_0, [{default_user, none}]}].\n";

/// Returns the variables as lines of a shell script. `cluster` has the nodes that find one another, and is empty for a
/// single node.
pub(super) fn environment(
    installation: &Installation,
    home: &Path,
    spec: &ThrowawayBroker,
    node: &PlannedNode,
    cluster: &[PlannedNode],
) -> Result<String, BrokerError> {
    let mut own = own_variables(installation, home, spec, node);
    let directory = home.parent().unwrap_or(home);
    own.push(("ERL_AFLAGS", vm_flags(directory, cluster)));
    let reserved = spec.environment.keys().find(|name| own.iter().any(|(own, _)| own == *name));
    if let Some(name) = reserved {
        return Err(BrokerError::Reserved { name: name.clone() });
    }
    let more = spec.environment.iter().map(|(name, value)| (&**name, value));
    let all = own.iter().map(|(name, value)| (*name, value)).chain(more);
    Ok(all.fold(String::new(), |mut script, (name, value)| {
        let _ = writeln!(script, "export {name}={}", quoted(value));
        script
    }))
}

/// Quotes any text as one word of a shell (POSIX, "Shell Command Language", 2.2.2).
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

fn own_variables(
    installation: &Installation,
    home: &Path,
    spec: &ThrowawayBroker,
    node: &PlannedNode,
) -> Vec<(&'static str, String)> {
    let inside = |name: &str| node.files.join(name).display().to_string();
    let erl_args =
        format!("-kernel inet_dist_use_interface {{127,0,0,1}} {}", spec.erl_args.trim());
    let more = plugin_path(installation, spec).map(|path| (VARIABLE, path));
    let pairs = [
        ("PATH", search_path()),
        ("LANG", "C.UTF-8".to_owned()),
        ("HOME", home.display().to_string()),
        ("ERL_CRASH_DUMP", inside("erl_crash.dump")),
        ("ERL_EPMD_ADDRESS", "127.0.0.1".to_owned()),
        ("ERL_EPMD_PORT", node.ports.epmd.to_string()),
        // Makes the server script replace itself by the node instead of waiting for it.
        ("RUNNING_UNDER_SYSTEMD", "true".to_owned()),
        // No file has this name, so that the machine's own configuration stays out.
        ("RABBITMQ_CONF_ENV_FILE", inside("rabbitmq-env.conf")),
        ("RABBITMQ_NODENAME", node.node_name.clone()),
        ("RABBITMQ_DIST_PORT", node.ports.distribution.to_string()),
        ("RABBITMQ_MNESIA_BASE", inside("data")),
        ("RABBITMQ_LOG_BASE", inside("log")),
        ("RABBITMQ_LOGS", node.log.display().to_string()),
        ("RABBITMQ_CONFIG_FILE", inside("rabbitmq.conf")),
        ("RABBITMQ_CONFIG_FILES", inside("conf.d/*.conf")),
        ("RABBITMQ_ADVANCED_CONFIG_FILE", inside("advanced.config")),
        ("RABBITMQ_GENERATED_CONFIG_DIR", inside("config")),
        ("RABBITMQ_SCHEMA_DIR", inside("schema")),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", inside("enabled_plugins")),
        ("RABBITMQ_PID_FILE", inside("rabbitmq.pid")),
        ("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", erl_args),
    ];
    pairs.into_iter().chain(more).collect()
}

/// Returns VM flags that precede all others.
///
/// - The guard starts the port mapper; a second one must not daemonize itself.
/// - Every listener shares its port with the socket that holds it (`ports.rs`).
/// - A client without a password gets no user ([`NO_ANONYMOUS_LOGIN`]).
/// - The node evaluates [`MODULES`] before it starts RabbitMQ. No word may contain a space or a quote.
/// - The nodes of a cluster know the ports of one another.
fn vm_flags(directory: &Path, cluster: &[PlannedNode]) -> String {
    let directory = directory.display();
    let mut flags = format!(
        "-start_epmd false -kernel inet_default_listen_options [{{raw,{},{},<<1:32/native>>}}] \
         -config \"{directory}/{VM_CONFIG}\" -rabbitscope_modules \"{directory}/{MODULES}\" \
         -eval file:eval(hd(hd(element(2,init:get_argument(rabbitscope_modules)))))",
        libc::SOL_SOCKET,
        libc::SO_REUSEPORT
    );
    if cluster.is_empty() {
        return flags;
    }
    let _ = write!(flags, " -pa \"{directory}\" -epmd_module rabbitscope_epmd -rabbitscope_ports");
    for node in cluster {
        let (name, _) = node.node_name.split_once('@').unwrap_or((&node.node_name, ""));
        let _ = write!(flags, " {name} {}", node.ports.distribution);
    }
    flags
}

/// The caller's search path, which the guard gets as well.
pub(crate) fn search_path() -> String {
    env::var("PATH").unwrap_or_else(|_| "/usr/sbin:/usr/bin:/sbin:/bin".to_owned())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_what_was_meant() {
        let check = |value: &str| {
            let script = format!("X={}; printf %s \"$X\"", quoted(value));
            let said = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), value);
        };
        check("");
        check("{127,0,0,1} +S 2");
        check("it's $HOME `id` \\ \"quoted\" 'x'\nand a line");
    }
}
