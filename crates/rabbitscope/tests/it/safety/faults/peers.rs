//! Peers that send nothing or garbage, close at once, or disappear in the middle.

use std::{
    io::Write,
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use rabbitscope_testing::{Forwarder, evaluate};

use super::{campaign::Extent, random::Random, table::Table, world::World};

/// The behaviour of a peer that is neither broker nor node.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Silent,
    Garbage,
    ClosesAtOnce,
    /// Sends a byte a second.
    Trickles,
}

const MANNERS: [Manner; 4] =
    [Manner::Silent, Manner::Garbage, Manner::ClosesAtOnce, Manner::Trickles];

/// Maximum number of garbage bytes.
const GARBAGE_BYTES: usize = 8 << 20;

pub(super) fn run(world: &World, extent: Extent, random: &mut Random, table: &mut Table) {
    let cookie = world.broker.distribution().0.join(".erlang.cookie");
    for manner in MANNERS {
        let address = listen(manner, random.next());
        let (port, cookie) = (address.port(), cookie.display());
        let node = format!("--node nobody@localhost --cookie-file {cookie} --dist-port {port}");
        let quick = "--set broker.connect-timeout=3s";
        let all = [
            ("run", format!("run run.toml {quick} --uri amqp://{address} --out out/run")),
            ("trace", format!("trace lists:map/2 --duration 2s {node}")),
            ("queues", format!("queues {node}")),
            ("top", format!("top --once {node}")),
            ("leftovers", format!("leftovers --remove --uri amqp://{address}")),
        ];
        let commands = if extent == Extent::Whole { &all[..] } else { &all[..2] };
        for (name, command) in commands {
            let mut outcome = world.outcome(world.start(command), &[]);
            if outcome.code == "exit 0" && *name != "leftovers" {
                outcome.leftovers.push("it says that this went well".to_owned());
            }
            table.add(&format!("peer {manner:?}: {name}"), outcome);
        }
    }
    for _ in 0..extent.count(6, 6) {
        cut(world, random, table);
    }
}

/// A connection that breaks at a random instant, in the middle of any exchange.
fn cut(world: &World, random: &mut Random, table: &mut Table) {
    let port = evaluate(
        &world.broker,
        "{port, P, _} = erl_epmd:port_please(hd(string:lexemes(atom_to_list(node()), \"@\")), \
         \"localhost\"), P",
    );
    let distribution = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    let amqp = Forwarder::new(world.broker.address());
    amqp.break_after(random.next() % 400_000);
    let through = amqp.uri(&world.broker);
    let child = world.start(&format!("run run.toml --uri {through} --out out/run"));
    let outcome = World::end_of(child);
    // The network is back. The journal knows the broker by the address of the forwarder.
    amqp.break_after(u64::MAX);
    world.bench.rabbitscope(&format!("leftovers --remove --assume-unbound --uri {through}"));
    table.add("connection cut: run", world.look_around(outcome, &[]));

    let node = Forwarder::new(distribution);
    node.break_after(random.next() % 30_000);
    let inside = world.node().replace("--epmd-port", "--dist-port #");
    let inside = inside.split(" --dist-port").next().unwrap().to_owned();
    let inside = format!("{inside} --dist-port {}", node.address.port());
    for (name, command) in [
        (
            "trace",
            format!("trace timer:sleep/1 --process busy --limit 100000 --duration 3s {inside}"),
        ),
        ("queues", format!("queues --watch {inside}")),
    ] {
        if name == "queues" && random.next().is_multiple_of(2) {
            continue;
        }
        let child = world.start(&format!("{command} --dead-man 4s"));
        table.add(&format!("connection cut: {name}"), world.outcome(child, &[]));
    }
}

fn listen(manner: Manner, seed: u64) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut open = Vec::new();
        for client in listener.incoming().flatten() {
            match manner {
                Manner::Silent => open.push(client),
                Manner::ClosesAtOnce => drop(client),
                Manner::Garbage => drop(thread::spawn(move || send_garbage(client, seed))),
                Manner::Trickles => drop(thread::spawn(move || trickle(client))),
            }
        }
    });
    address
}

fn send_garbage(mut client: TcpStream, seed: u64) {
    let mut state = seed | 1;
    let mut block = vec![0; 4096];
    for _ in 0..GARBAGE_BYTES / block.len() {
        for byte in &mut block {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        if client.write_all(&block).is_err() {
            return;
        }
    }
}

fn trickle(mut client: TcpStream) {
    while client.write_all(b"\0").is_ok() {
        thread::sleep(Duration::from_secs(1));
    }
}
