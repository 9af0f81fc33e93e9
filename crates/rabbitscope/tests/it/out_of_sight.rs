//! A broker that cannot be seen from elsewhere: from another pid namespace, from a container that mounts its
//! directory, or after an apparent restart of the machine. It survives with its messages.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use rabbitscope_amqp::{Event, Properties, Request, Table, Uri, blocking::Client};

use crate::workbench::{Ended, Workbench, may_profile, not_run};

const QUEUE: &str = "kept";
const MESSAGES: usize = 20;

/// Prefixes that run the rest of the command line in separate namespaces.
const ELSEWHERE: [(&str, &str); 4] = [
    ("another pid namespace", "unshare --pid --fork --mount-proc"),
    (
        "a container with the directory",
        "unshare --pid --fork --mount-proc --uts --ipc sh container.sh",
    ),
    ("another start of the machine", "unshare --mount sh restarted.sh"),
    ("another clock of the machine", "unshare --time --boottime 100000000 --fork"),
];

/// A different host and machine, with the same files at a different path.
const CONTAINER: &str = "
set -e
hostname elsewhere
echo 0123456789abcdef0123456789abcdef >machine-id
[ ! -e /etc/machine-id ] || mount --bind machine-id /etc/machine-id
mkdir -p mounted
mount --bind tmp mounted
TMPDIR=$PWD/mounted exec \"$@\"
";

const RESTARTED: &str = "
set -e
echo 01234567-89ab-cdef-0123-456789abcdef >boot-id
mount --bind boot-id /proc/sys/kernel/random/boot_id
exec \"$@\"
";

#[test]
fn a_broker_out_of_sight_keeps_its_directory_and_messages() {
    const TEST: &str = "a_broker_out_of_sight_keeps_its_directory_and_messages";
    if !may_profile() {
        return not_run(TEST, "namespaces need root");
    }
    let bench = Workbench::new("sight");
    bench.file("container.sh", CONTAINER);
    bench.file("restarted.sh", RESTARTED);
    let started = bench.rabbitscope("broker start --json").code(0);
    let broker: serde_json::Value = serde_json::from_str(&started.stdout).unwrap();
    let text = |key: &str| broker[key].as_str().unwrap().to_owned();
    let (name, uri, directory) = (text("name"), text("uri"), text("directory"));
    plant(&uri);
    make_old(&directory);

    let program = env!("CARGO_BIN_EXE_rabbitscope");
    for (place, enter) in ELSEWHERE {
        let run = |arguments: &str| {
            let bounded = format!("timeout --signal=KILL 60 {enter} {program} {arguments}");
            Ended::from(bench.command_line(&bounded).output().unwrap())
        };
        let looked = run("broker status");
        assert_eq!(looked.code, Some(0), "{place}: {looked:?}");
        assert!(!looked.stderr.contains("removed"), "{place}: {looked:?}");
        if place.contains("namespace") || place.contains("container") {
            let stopped = run(&format!("broker stop {name}"));
            assert!(
                stopped.stderr.contains("outside the view of this process"),
                "{place}: {stopped:?}"
            );
            assert_eq!(stopped.code, Some(1), "{place}: {stopped:?}");
        }
        assert!(Path::new(&directory).join("node.json").exists(), "{place}: {looked:?}");
    }
    assert_eq!(drain(&uri), MESSAGES);
    bench.rabbitscope(&format!("broker stop {name}")).code(0);
    assert!(!Path::new(&directory).exists());
    bench.assert_nothing_left();
}

/// Declares the queue and publishes to it, with confirms.
fn plant(uri: &str) {
    let (mut client, channel) = connect(uri);
    let declare = Request::QueueDeclare {
        queue: QUEUE,
        passive: false,
        durable: true,
        exclusive: false,
        auto_delete: false,
        arguments: &Table::default(),
    };
    client.call(channel, &declare).unwrap();
    client.call(channel, &Request::ConfirmSelect).unwrap();
    for _ in 0..MESSAGES {
        client.publish(channel, QUEUE, &Properties::default(), b"kept");
        client.wait(|event| matches!(event, Event::Confirm { .. }).then_some(Ok(()))).unwrap();
    }
}

/// Takes all messages of the queue, and returns their number.
fn drain(uri: &str) -> usize {
    let (mut client, channel) = connect(uri);
    for taken in 0.. {
        client.send(channel, &Request::Get { queue: QUEUE, auto_ack: true });
        let is_message = client.wait(|event| match event {
            Event::Got { .. } => Some(Ok(true)),
            Event::GetEmpty { .. } => Some(Ok(false)),
            _ => None,
        });
        if !is_message.unwrap() {
            return taken;
        }
    }
    unreachable!("a queue has an end")
}

fn connect(uri: &str) -> (Client, u16) {
    let uri = Uri::parse(uri).unwrap();
    let mut client = Client::connect(&uri, "out-of-sight", Duration::from_secs(10)).unwrap();
    let channel = client.open_channel().unwrap();
    (client, channel)
}

/// Makes a directory look old. Directories of the last minute may belong to a broker that starts.
fn make_old(directory: &str) {
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    fs::File::open(directory).unwrap().set_modified(hour_ago).unwrap();
}
