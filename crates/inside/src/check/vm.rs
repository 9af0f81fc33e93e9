//! Schedulers and distribution of the VM, from the agent's answer.

use rabbitscope_diagnosis::{PeerNode, Vm};
use rabbitscope_erlang::Term;

use super::fields::Fields;
use crate::processes::{Microstates, SchedulerUse};

/// Reads figures of the VM. `seconds` is the time between its counters.
pub(super) fn vm(answer: Fields<'_>, seconds: f64) -> Option<Vm> {
    let vm = Fields(answer.term("vm")?);
    let looks = answer.term("flow").map(Fields);
    let looked = |key| looks.and_then(|looks| looks.number(key)).unwrap_or_default();
    let count = looked("looks");
    let per_look = |key| looked(key) as f64 / count.max(1) as f64;
    let schedulers = vm.term("schedulers").and_then(SchedulerUse::from_term).unwrap_or_default();
    let online = vm.number("online")?;
    Some(Vm {
        looks: count,
        schedulers_online: online,
        scheduler_use: schedulers.mean(online),
        busiest_scheduler: schedulers.busiest(online),
        run_queue: per_look("run_queue"),
        crowded_share: per_look("crowded"),
        microstates: answer
            .term("microstates")
            .and_then(Microstates::from_term)
            .map(|states| states.of_schedulers())
            .unwrap_or_default(),
        dirty_io_cores: schedulers.sum_after(vm.number("normal")? + vm.number("dirty_cpu")?),
        dirty_io_schedulers: vm.number("dirty_io")?,
        flags: vm.list("flags").iter().filter_map(flag).collect(),
        peers: peers(vm, looks, seconds),
    })
}

fn flag(term: &Term) -> Option<(String, String)> {
    let [name, value] = term.as_tuple()? else { return None };
    Some((name.to_text()?, value.to_text()?))
}

/// Combines the looks at the ports of other nodes with the traffic through them.
fn peers(vm: Fields<'_>, looks: Option<Fields<'_>>, seconds: f64) -> Vec<PeerNode> {
    let limit_bytes = vm.number("buffer_limit").unwrap_or_default();
    let looks = looks.map(|looks| looks.list("peers")).unwrap_or_default();
    let mut peers: Vec<PeerNode> =
        looks.iter().filter_map(|peer| peer_of(peer, limit_bytes)).collect();
    let traffic = vm.list("traffic").iter().filter_map(|one| match one.as_tuple()? {
        [node, received, sent, own, other] => {
            let ports = (tcp_port(own)?, tcp_port(other)?);
            Some((node.as_atom()?, received.as_f64()?, sent.as_f64()?, ports))
        }
        _ => None,
    });
    for (node, received, sent, ports) in traffic {
        if let Some(peer) = peers.iter_mut().find(|peer| peer.node == node) {
            peer.received_bytes_per_second = received / seconds;
            peer.sent_bytes_per_second = sent / seconds;
            peer.tcp_ports = Some(ports).filter(|(own, other)| *own > 0 && *other > 0);
        }
    }
    peers
}

fn tcp_port(term: &Term) -> Option<u16> {
    u16::try_from(term.as_u64()?).ok()
}

fn peer_of(term: &Term, limit_bytes: u64) -> Option<PeerNode> {
    let [node, looks, bytes, busy] = term.as_tuple()? else { return None };
    let looks = looks.as_f64()?.max(1.0);
    Some(PeerNode {
        node: node.as_atom()?.to_owned(),
        queued_bytes: bytes.as_f64()? / looks,
        limit_bytes,
        busy_share: busy.as_f64()? / looks,
        ..PeerNode::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Term {
        let scheduler = |id: i64, share: i64| Term::tuple([id.into(), share.into()]);
        let schedulers = [scheduler(1, 900), scheduler(2, 500), scheduler(3, 0), scheduler(4, 700)];
        let peer = [Term::atom("c@d"), 100.into(), 5000.into(), 25.into()];
        let traffic =
            [Term::atom("c@d"), 20_000.into(), 40_000.into(), 25_672.into(), 40_124.into()];
        Term::map([
            (
                "vm",
                Term::map([
                    ("online", 2.into()),
                    ("normal", 2.into()),
                    ("dirty_cpu", 1.into()),
                    ("dirty_io", 1.into()),
                    ("buffer_limit", 1000.into()),
                    ("schedulers", Term::list(schedulers)),
                    ("traffic", Term::list([Term::tuple(traffic)])),
                    ("flags", Term::list([Term::tuple([Term::text("+sbwt"), Term::text("none")])])),
                ]),
            ),
            (
                "flow",
                Term::map([
                    ("looks", 200.into()),
                    ("run_queue", 300.into()),
                    ("crowded", 50.into()),
                    ("peers", Term::list([Term::tuple(peer)])),
                ]),
            ),
            ("microstates", Term::atom("in_part")),
        ])
    }

    #[test]
    fn figures_of_the_looks_and_of_the_schedulers() {
        let vm = vm(Fields(&answer()), 10.0).unwrap();
        assert_eq!((vm.scheduler_use, vm.busiest_scheduler), (Some(0.7), Some(0.9)));
        assert_eq!((vm.looks, vm.run_queue, vm.crowded_share), (200, 1.5, 0.25));
        assert_eq!((vm.dirty_io_cores, vm.microstates.len()), (Some(0.7), 0));
        assert_eq!(vm.flags, [("+sbwt".to_owned(), "none".to_owned())]);
        let peer = &vm.peers[0];
        assert_eq!((peer.queued_bytes, peer.busy_share, peer.limit_bytes), (50.0, 0.25, 1000));
        let bytes = (peer.received_bytes_per_second, peer.sent_bytes_per_second);
        assert_eq!((bytes, peer.tcp_ports), ((2_000.0, 4_000.0), Some((25_672, 40_124))));
    }
}
