//! A network of its own, as a container has one.

use std::{
    fs::{self, File},
    os::fd::AsFd,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::packets::{NetworkNamespace, PacketRing, explain_packets};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::conversation::{Conversation, drain};

/// A network with nothing but `lo`, and a process in it. Both go away with this.
struct Network {
    name: String,
    process: Child,
}

impl Network {
    fn new() -> Self {
        let random = fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap();
        let name = format!("rabbitscope-{}", random.trim());
        ip(&["netns", "add", &name]);
        ip(&["-n", &name, "link", "set", "lo", "up"]);
        // The program becomes the last word, so that it is a child of this process.
        let process = Command::new("ip")
            .args(["netns", "exec", &name, "sleep", "60"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { name, process }
    }

    /// A conversation within it.
    fn conversation(&self) -> Conversation {
        let network = File::open(format!("/run/netns/{}", self.name)).unwrap();
        let inside = move || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            Conversation::on("127.0.0.1")
        };
        thread::spawn(inside).join().unwrap()
    }

    /// As its process has it, once it has entered it.
    fn namespace(&self) -> NetworkNamespace {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let namespace = NetworkNamespace::of(self.process.id()).unwrap();
            if !namespace.is_own() {
                return namespace;
            }
            assert!(Instant::now() < deadline, "the process did not enter its network");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = Command::new("ip").args(["netns", "del", &self.name]).status();
    }
}

fn ip(arguments: &[&str]) {
    assert!(Command::new("ip").args(arguments).status().unwrap().success(), "ip {arguments:?}");
}

#[test]
fn a_conversation_in_another_network_is_captured() {
    let network = Network::new();
    let mut conversation = network.conversation();
    let namespace = network.namespace();
    let own = fs::read_link("/proc/thread-self/ns/net").unwrap();

    let before = conversation.segments(Some(&namespace));
    let mut here = PacketRing::open(&conversation.options("any"), None).unwrap();
    let mut there = PacketRing::open(&conversation.options("any"), Some(&namespace)).unwrap();
    let bytes = conversation.exchange(100, 1000);
    let segments = conversation.segments(Some(&namespace)) - before;

    let seen = drain(&mut there);
    assert_eq!(seen.len() as u64, segments);
    assert_eq!(seen.iter().map(|it| it.payload).sum::<u64>(), bytes);
    assert_eq!(there.interface_name(seen[0].interface).as_deref(), Some("lo"));
    assert_eq!(drain(&mut here).len(), 0);
    assert_eq!(conversation.sockets(None).len(), 0);
    assert_eq!(fs::read_link("/proc/thread-self/ns/net").unwrap(), own);
    assert!(explain_packets(Some(&namespace)).iter().take(2).all(|level| level.is_met));
}

#[test]
fn an_interface_that_is_down_is_said() {
    let network = Network::new();
    let conversation = network.conversation();
    let namespace = network.namespace();
    let options = conversation.options("lo");
    let mut ring = PacketRing::open(&options, Some(&namespace)).unwrap();
    ip(&["-n", &network.name, "link", "set", "lo", "down"]);
    let deadline = Instant::now() + Duration::from_secs(5);
    let refused = loop {
        match ring.next_block(Duration::from_millis(100)) {
            Ok(_) => assert!(Instant::now() < deadline, "nothing was said"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(refused.contains("lo is down"), "{refused}");
}
