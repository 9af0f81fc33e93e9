//! The limit of a sender: its own buffer, or the receiver's window. Both are planted on a link of two megabits a
//! second, the loopback of a separate network. The program looks into that network from outside.

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Network, Workbench, broker_with, find, is_root, not_run};
use serde_json::Value;

use super::{
    client::Client,
    looking::{assert_told_apart, look_in, stop},
};

/// Send buffers smaller than the possible data in flight, from the smallest that the kernel allows. The kernel's
/// count of the time with a full buffer depends on how writes and acknowledgements meet. It nearly always counts at
/// least one of several.
const SMALL_BUFFERS: [usize; 4] = [4_608, 8_192, 12_288, 16_384];
/// More than the test has in flight.
const LARGE_BUFFER: usize = 1 << 20;

/// Limits the link to two megabits a second, with room for 40,000 waiting bytes: a round trip takes up to 160 ms.
fn slow_down(network: &Network) -> Result<(), String> {
    let bucket = "tbf rate 2mbit burst 3000 limit 40000";
    network.configure("tc", &format!("qdisc replace dev lo root {bucket}"))
}

fn speed_up(network: &Network) -> Result<(), String> {
    network.configure("tc", "qdisc delete dev lo root")
}

/// Makes a network that can be slowed down, whose loopback packets are as small as those of an Ethernet.
fn network() -> Result<Network, String> {
    let network = Network::new()?;
    network.configure("ip", "link set lo mtu 1500")?;
    slow_down(&network)?;
    speed_up(&network)?;
    Ok(network)
}

/// Connections by their sender's limit, and their counterparts. They stay open until they are examined, because the
/// kernel has no figures for a closed connection.
struct Limited {
    by_send_buffer: Vec<Client>,
    not_by_send_buffer: Client,
    receiver: [Client; 2],
}

#[test]
fn a_small_send_buffer_and_a_slow_receiver_are_told_apart() {
    if !is_root() {
        return;
    }
    let network = match network() {
        Ok(network) => network,
        Err(reason) => return not_run(&reason),
    };
    let bench = Workbench::new("limited-packets");
    let broker = network.within(|| broker_with(|_| ()));
    let (pid, port) = (broker.pid.to_string(), broker.address().port());
    let looking =
        look_in(&bench, &pid, &format!("--pid {pid} --port {port} --duration 60s -o p.json"));
    let limited = network.within(|| plant(&network, &broker));
    stop(looking);
    let report = bench.json("p.json");
    let receiver = format!("127.0.0.1:{}", limited.receiver[0].local_port());
    let way = &find(&report["connections"], "client", &receiver)["kernel-round-trip-nanos"];
    assert!((1..1_000_000_000).contains(&way.as_u64().unwrap()), "{way}");
    assert_told_apart(
        &report,
        "receiver-limited",
        limited.receiver.each_ref().map(Client::local_port),
    );
    let counted = limited.by_send_buffer.iter().map(Client::local_port);
    let Some(shows) = counted.into_iter().find(|port| send_buffer_limited(&report, *port) > 0.5)
    else {
        return not_run("the kernel counted no time in which a send buffer was full");
    };
    let does_not = limited.not_by_send_buffer.local_port();
    assert_told_apart(&report, "send-buffer-limited", [shows, does_not]);
    let by_buffer = find(&report["findings"], "rule", "send-buffer-limited");
    assert_eq!(by_buffer["source"], "sockets", "no capture shows buffers");
}

/// Returns the kernel's count for the client's end of a connection, as a share of the time in which it had data to
/// send.
fn send_buffer_limited(report: &Value, port: u16) -> f64 {
    let local = format!("127.0.0.1:{port}");
    let socket = find(&report["sockets"], "local", &local);
    socket["send-buffer-limited"].as_f64().unwrap() / socket["busy"].as_f64().unwrap()
}

fn plant(network: &Network, broker: &Broker) -> Limited {
    let mut feeder = Client::connect(broker, true);
    let mut stopped = Client::connect(broker, true);
    let queue = stopped.declare("stopped");
    stopped.consume(&queue, true);
    // More than both buffers hold, and none of it is read.
    feed(&mut feeder, &queue, 15);
    let mut reading = Client::connect(broker, true);
    let queue = reading.declare("read");
    feed(&mut feeder, &queue, 3);
    slow_down(network).unwrap();
    reading.consume(&queue, true);
    for _ in 0..3 {
        reading.delivery();
    }
    let by_send_buffer = SMALL_BUFFERS.iter().map(|buffer| publish(broker, *buffer)).collect();
    let not_by_send_buffer = publish(broker, LARGE_BUFFER);
    speed_up(network).unwrap();
    Limited { by_send_buffer, not_by_send_buffer, receiver: [stopped, reading] }
}

/// Publishes messages of 100,000 bytes; returns when the broker has them.
fn feed(feeder: &mut Client, queue: &str, messages: usize) {
    let message = Client::publish(queue, &vec![7; 100_000]).concat();
    for _ in 0..messages {
        feeder.write(&message);
    }
    feeder.declare("fed");
}

/// Publishes as fast as the link allows, for about a second. The kernel reports the buffer as the limit only under
/// two conditions: the program does not wait within a write, and all data in the buffer are in flight.
fn publish(broker: &Broker, send_buffer: usize) -> Client {
    let mut client = Client::connect(broker, true);
    client.limit_send_buffer(send_buffer);
    let queue = client.declare("published");
    let message = Client::publish(&queue, &[7; 1_800]).concat();
    for _ in 0..150 {
        client.write_without_waiting(&message);
    }
    client.declare("end");
    client
}
