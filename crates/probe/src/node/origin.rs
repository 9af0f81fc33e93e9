//! The origin of a node, as far as the operating system knows it: without the node's cookie, and without rights at
//! the API server of a cluster. The user who started the node set all of it, so that it proves nothing.

use rabbitscope_machine::process::arguments;

use super::{find::name_in, process::Process};
use crate::error::ProbeError;

/// Limit for the value of a variable, in bytes: it becomes a label.
const MAX_VALUE_BYTES: usize = 255;

/// Origin of a node. Unknown fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeOrigin {
    /// Node name (`rabbit@host`).
    pub name: Option<String>,
    /// True if the VM was started with RabbitMQ. Tools of RabbitMQ are VMs too.
    pub is_rabbitmq: bool,
    /// Version of RabbitMQ.
    pub version: Option<String>,
    /// Name of the pod (`MY_POD_NAME`, set by the cluster operator).
    pub pod: Option<String>,
    /// Namespace of the pod (`MY_POD_NAMESPACE`).
    pub namespace: Option<String>,
    /// The cluster's service (`K8S_SERVICE_NAME`).
    pub service: Option<String>,
    /// Id of the pod, from the control group.
    pub pod_uid: Option<String>,
    /// Id of the container, from the control group.
    pub container: Option<String>,
}

/// The origin of the node `pid`. Fails if it is no VM.
pub fn origin_of(pid: u32) -> Result<NodeOrigin, ProbeError> {
    let process = Process::open(pid)?;
    let arguments = arguments(pid).unwrap_or_default();
    let names = [
        "RABBITMQ_NODENAME",
        "RABBITMQ_VERSION",
        "RABBITMQ_HOME",
        "ERL_LIBS",
        "MY_POD_NAME",
        "MY_POD_NAMESPACE",
        "K8S_SERVICE_NAME",
    ];
    let [node, version, home, libraries, pod, namespace, service] =
        process.variables(names).unwrap_or_default().map(|value| value.and_then(label));
    let groups = process.control_groups().unwrap_or_default();
    let installed = || [home, libraries].into_iter().flatten().find_map(|path| version_in(&path));
    Ok(NodeOrigin {
        name: name_in(&arguments).or(node).and_then(label),
        is_rabbitmq: starts_rabbitmq(&arguments),
        version: version.or_else(installed),
        pod,
        namespace,
        service,
        pod_uid: groups.pod_uid(),
        container: groups.container(),
    })
}

fn label(text: String) -> Option<String> {
    let is_label =
        !text.is_empty() && text.len() <= MAX_VALUE_BYTES && !text.contains(char::is_control);
    is_label.then_some(text)
}

/// Returns whether the arguments start RabbitMQ: its start script ends the command line with `-s rabbit boot`.
fn starts_rabbitmq(arguments: &[String]) -> bool {
    arguments.windows(2).any(|pair| pair[0] == "-s" && pair[1] == "rabbit")
}

/// The version in a path such as `/usr/lib/rabbitmq/lib/rabbitmq_server-3.10.8/plugins`.
fn version_in(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("rabbitmq_server-")?;
    let end = rest.find(['/', ':']).unwrap_or(rest.len());
    Some(rest[..end].to_owned()).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{starts_rabbitmq, version_in};

    #[test]
    fn the_version_is_in_the_path_of_the_installation() {
        let version = |path| version_in(path).unwrap_or_default();
        assert_eq!(version("/usr/lib/rabbitmq/lib/rabbitmq_server-3.10.8/plugins"), "3.10.8");
        assert_eq!(version("/x/rabbitmq_server-4.3.0:/y"), "4.3.0");
        assert_eq!(version("/opt/rabbitmq"), "");
    }

    #[test]
    fn a_tool_of_rabbitmq_is_no_broker() {
        let arguments = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(starts_rabbitmq(&arguments(
            "beam.smp -- -noinput -s rabbit boot -boot start_sasl"
        )));
        assert!(!starts_rabbitmq(&arguments("beam.smp -- -s elixir start_cli -extra rabbitmqctl")));
    }
}
