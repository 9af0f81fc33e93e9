//! Erlang expressions that harm a node, and that prove the harm.

/// A cookie that no node has. A connection to a node for which it is set fails in both directions, because each side
/// proves that it knows the other's cookie (Erlang's "Distributed Erlang", 15.7 "Security").
const CUT_COOKIE: &str = "'rabbitscope-cut'";

/// The call behind `rabbitmqctl stop`. The node answers before it has stopped.
pub(super) const STOP: &str = "erlang:spawn(rabbit, stop_and_halt, [])";

/// A resource whose limit a node exceeds. An operator sets the same limits with `rabbitmqctl
/// set_vm_memory_high_watermark` and `set_disk_free_limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Memory,
    Disk,
}

impl Resource {
    fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
        }
    }

    /// The module, and the suffix of its functions that get and set the limit.
    fn limit(self) -> (&'static str, &'static str) {
        match self {
            Self::Memory => ("vm_memory_monitor", "vm_memory_high_watermark"),
            Self::Disk => ("rabbit_disk_monitor", "disk_free_limit"),
        }
    }

    /// A limit that every node exceeds: a hundred-thousandth of the memory, or an exabyte of free disk.
    fn unkept(self) -> &'static str {
        match self {
            Self::Memory => "0.00001",
            Self::Disk => "1 bsl 60",
        }
    }

    /// Raises the alarm. The value is the former limit.
    pub(super) fn exhaust(self) -> String {
        let ((module, limit), unkept) = (self.limit(), self.unkept());
        format!("Former = {module}:get_{limit}(), {module}:set_{limit}({unkept}), Former")
    }

    /// Restores the former limit.
    pub(super) fn restore(self, former: &str) -> String {
        let (module, limit) = self.limit();
        format!("{module}:set_{limit}({former})")
    }

    /// Returns whether the node itself has raised the alarm.
    pub(super) fn is_exhausted(self) -> String {
        let word = self.word();
        format!(
            "lists:any(fun({{{{resource_limit, {word}, Node}}, _}}) -> Node =:= node(); (_) -> false end, \
             rabbit_alarm:get_alarms())"
        )
    }
}

/// Cuts the node off from these nodes for good. The value lists the nodes that it still reaches.
pub(super) fn cut_off(peers: &[String]) -> String {
    let peers = list(peers);
    format!(
        "Peers = {peers}, \
         [begin erlang:set_cookie(Peer, {CUT_COOKIE}), erlang:disconnect_node(Peer) end || Peer <- Peers], \
         [Peer || Peer <- Peers, net_adm:ping(Peer) =:= pong orelse lists:member(Peer, nodes())]"
    )
}

/// Lets the node connect to these nodes again.
pub(super) fn permit(peers: &[String]) -> String {
    format!("[erlang:set_cookie(Peer, erlang:get_cookie()) || Peer <- {}]", list(peers))
}

/// Connects the node to these nodes. The value lists the nodes that it does not reach.
pub(super) fn connect(peers: &[String]) -> String {
    format!("[Peer || Peer <- {}, net_adm:ping(Peer) =/= pong]", list(peers))
}

/// Formats names of nodes as a list of atoms.
fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_erlang() {
        let peers = ["b-1@localhost".to_owned(), "b-3@localhost".to_owned()];
        assert_eq!(list(&peers), "['b-1@localhost', 'b-3@localhost']");
        assert!(cut_off(&peers).starts_with("Peers = ['b-1@localhost', 'b-3@localhost'], ["));
        let is_exhausted = Resource::Memory.is_exhausted();
        assert!(is_exhausted.contains("fun({{resource_limit, memory, Node}, _}) ->"));
        let restored = Resource::Disk.restore("50000000");
        assert_eq!(restored, "rabbit_disk_monitor:set_disk_free_limit(50000000)");
    }
}
