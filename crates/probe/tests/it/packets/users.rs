//! A user without any privilege: figures of all sockets, and a clear refusal of packets.

use rabbitscope_probe::{
    ErrorKind,
    packets::{
        CaptureInterface, PacketError, PacketRing, PortSet, RingOptions, WriteCounter,
        dump_sockets, explain_packets,
    },
};

use super::conversation::Conversation;
use crate::ordinary_user::OrdinaryUser;

const PORT: &str = "RABBITSCOPE_TEST_PORT";

#[test]
fn an_ordinary_user_gets_sockets_and_no_packets() {
    let mut conversation = Conversation::on("127.0.0.1");
    conversation.exchange(10, 100);
    let user = OrdinaryUser::new("packets");
    let port = conversation.port.to_string();
    let output = user.run_test_with("packets::users::without_privilege", PORT, &port);
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && said[0].contains("1 passed"), "{}", said.concat());
}

/// Runs as a separate process, started by the test above.
#[test]
#[ignore = "helper of another test"]
fn without_privilege() {
    let ports = PortSet::new([std::env::var(PORT).unwrap().parse().unwrap()]).unwrap();
    let (sockets, _) = dump_sockets(&ports, None, 10).unwrap();
    assert_eq!(sockets.len(), 2, "both belong to root");
    assert!(sockets.iter().all(|socket| socket.user == 0 && socket.info.sent_bytes == Some(1000)));

    let options = RingOptions::new(CaptureInterface::Any, ports.clone());
    let refused = PacketRing::open(&options, None).unwrap_err();
    assert!(matches!(refused, PacketError::NoRightToCapture), "{refused}");
    assert_eq!(refused.kind(), ErrorKind::Permission);
    assert!(WriteCounter::attach(std::process::id(), &ports).is_err());

    let levels = explain_packets(None);
    let met: Vec<bool> = levels.iter().map(|level| level.is_met).collect();
    assert_eq!(met, [true, false, false], "{levels:?}");
    assert!(levels[1].found.contains("CAP_NET_RAW") && levels[1].found.contains("sudo"));
    let is_there = !levels[2].found.contains("Linux 6.3");
    assert!(!is_there || levels[2].found.contains("CAP_BPF"), "{levels:?}");
}

#[test]
fn root_has_the_levels_that_the_kernel_has() {
    let levels = explain_packets(None);
    assert!(levels[0].is_met && levels[1].is_met, "{levels:?}");
    assert!(levels[2].is_met || levels[2].found.contains("Linux 6.3"), "{levels:?}");
}
