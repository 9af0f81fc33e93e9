//! A broker that cannot be seen from elsewhere: from another pid namespace, from a container that mounts its
//! directory, or after an apparent restart of the machine. It survives with its messages.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use rabbitscope_amqp::{Event, Properties, Request, Table};
use rabbitscope_testing::{Ends, Workbench, connect, durable_queue, take};

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
    let Some(bench) = Workbench::for_root("sight") else { return };
    bench.file("container.sh", CONTAINER);
    bench.file("restarted.sh", RESTARTED);
    let started = bench.rabbitscope("broker start --json").code(0);
    let broker = started.json();
    let text = |key: &str| broker[key].as_str().unwrap().to_owned();
    let (name, uri, directory) = (text("name"), text("uri"), text("directory"));
    publish(&uri);
    make_old(&directory);

    for (place, enter) in ELSEWHERE {
        let run = |arguments: &str| {
            bench.command_through(&format!("timeout --signal=KILL 60 {enter}"), arguments).ended()
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
fn publish(uri: &str) {
    let (mut client, channel) = connect(uri);
    client.call(channel, &durable_queue(QUEUE, false, &Table::default())).unwrap();
    client.call(channel, &Request::ConfirmSelect).unwrap();
    for _ in 0..MESSAGES {
        client.publish(channel, QUEUE, &Properties::default(), b"kept");
        client.wait(|event| matches!(event, Event::Confirm { .. }).then_some(Ok(()))).unwrap();
    }
}

/// Takes all messages of the queue, and returns their number.
fn drain(uri: &str) -> usize {
    let (mut client, channel) = connect(uri);
    std::iter::from_fn(|| take(&mut client, channel, QUEUE)).count()
}

/// Makes a directory look old. Directories of the last minute may belong to a broker that starts.
fn make_old(directory: &str) {
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    fs::File::open(directory).unwrap().set_modified(hour_ago).unwrap();
}
