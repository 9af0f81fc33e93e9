//! What limits a sender: its own buffer, or the receiver's window. Planted on a link of two megabits a second, the loopback of a
//! network that nothing else uses; the program looks into that network from outside.

use std::{
    fs::{self, File},
    os::fd::AsFd,
    process::Command,
    thread,
};

use rabbitscope_broker::Broker;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;

use super::{assert_told_apart, client::Client, look_in, may_capture, stop};
use crate::workbench::{Workbench, not_run, own_broker};

/// Send buffers that are smaller than what may be under way, from the smallest that the kernel allows. Whether the kernel counts the
/// time in which one is full depends on how writes and acknowledgements meet; of several it counts at least one nearly always.
const SMALL_BUFFERS: [usize; 4] = [4_608, 8_192, 12_288, 16_384];
/// More than the test has under way.
const LARGE_BUFFER: usize = 1 << 20;

/// A network of its own, in which packets of the loopback are as small as those of an Ethernet. Gone when dropped.
struct Network(String);

impl Network {
    fn new() -> Result<Self, String> {
        let random = fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap();
        let network = Self(format!("rabbitscope-{}", random.trim()));
        run(&format!("ip netns add {}", network.0))?;
        run(&format!("ip -n {} link set lo mtu 1500 up", network.0))?;
        Ok(network)
    }

    /// Two megabits a second with room for 40,000 bytes that wait: a round trip takes up to 160 ms.
    fn slow_down(&self) -> Result<(), String> {
        let bucket = "tbf rate 2mbit burst 3000 limit 40000";
        run(&format!("tc -n {} qdisc replace dev lo root {bucket}", self.0))
    }

    fn speed_up(&self) -> Result<(), String> {
        run(&format!("tc -n {} qdisc delete dev lo root", self.0))
    }

    /// What is done in it, on a thread that ends.
    fn within<T: Send>(&self, task: impl FnOnce() -> T + Send) -> T {
        let network = File::open(format!("/run/netns/{}", self.0)).unwrap();
        let inside = || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            task()
        };
        thread::scope(|scope| scope.spawn(inside).join().unwrap())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = run(&format!("ip netns delete {}", self.0));
    }
}

fn run(words: &str) -> Result<(), String> {
    let mut words_of = words.split(' ');
    let output = Command::new(words_of.next().unwrap()).args(words_of).output();
    let output = output.map_err(|error| format!("{words}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{words}: {said}")) }
}

/// A network that can be slowed down.
fn network() -> Result<Network, String> {
    let network = Network::new()?;
    network.slow_down()?;
    network.speed_up()?;
    Ok(network)
}

/// Connections by what limits their sender, and their counterparts. Open until they were looked at: of a connection that is
/// closed the kernel says nothing any more.
struct Limited {
    by_send_buffer: Vec<Client>,
    not_by_send_buffer: Client,
    receiver: [Client; 2],
}

#[test]
fn a_small_send_buffer_and_a_slow_receiver_are_told_apart() {
    let name = "a_small_send_buffer_and_a_slow_receiver_are_told_apart";
    if !may_capture(name) {
        return;
    }
    let network = match network() {
        Ok(network) => network,
        Err(reason) => return not_run(name, &reason),
    };
    let bench = Workbench::new("limited-packets");
    let broker = network.within(own_broker);
    let (pid, port) = (broker.pid.to_string(), broker.address().port());
    let looking =
        look_in(&bench, &pid, &format!("--pid {pid} --port {port} --duration 60s -o p.json"));
    let limited = network.within(|| plant(&network, &broker));
    stop(looking);
    let report = bench.json("p.json");
    assert_told_apart(
        &report,
        "receiver-limited",
        limited.receiver.each_ref().map(Client::local_port),
    );
    let counted = limited.by_send_buffer.iter().map(Client::local_port);
    let Some(shows) = counted.into_iter().find(|port| send_buffer_limited(&report, *port) > 0.5)
    else {
        return not_run(name, "the kernel counted no time in which a send buffer was full");
    };
    let does_not = limited.not_by_send_buffer.local_port();
    assert_told_apart(&report, "send-buffer-limited", [shows, does_not]);
    let findings = report["findings"].as_array().unwrap();
    let by_buffer = findings.iter().find(|it| it["rule"] == "send-buffer-limited").unwrap();
    assert_eq!(by_buffer["source"], "sockets", "no capture shows buffers");
}

/// The kernel's count for the client's end of a connection, as a share of the time in which it had something to send.
fn send_buffer_limited(report: &Value, port: u16) -> f64 {
    let local = format!("127.0.0.1:{port}");
    let sockets = report["sockets"].as_array().unwrap();
    let socket = sockets.iter().find(|it| it["local"] == *local).unwrap();
    socket["send-buffer-limited"].as_f64().unwrap() / socket["busy"].as_f64().unwrap()
}

fn plant(network: &Network, broker: &Broker) -> Limited {
    let mut feeder = Client::connect(broker, true);
    let mut stopped = Client::connect(broker, true);
    let queue = stopped.declare("stopped");
    stopped.consume(&queue, true);
    // More than both buffers take. None of it is read.
    feed(&mut feeder, &queue, 15);
    let mut reading = Client::connect(broker, true);
    let queue = reading.declare("read");
    feed(&mut feeder, &queue, 3);
    network.slow_down().unwrap();
    reading.consume(&queue, true);
    for _ in 0..3 {
        reading.delivery();
    }
    let by_send_buffer = SMALL_BUFFERS.iter().map(|buffer| publish(broker, *buffer)).collect();
    let not_by_send_buffer = publish(broker, LARGE_BUFFER);
    network.speed_up().unwrap();
    Limited { by_send_buffer, not_by_send_buffer, receiver: [stopped, reading] }
}

/// Messages of 100,000 bytes; returns when the broker has them.
fn feed(feeder: &mut Client, queue: &str, messages: usize) {
    let message = Client::publish(queue, &vec![7; 100_000]).concat();
    for _ in 0..messages {
        feeder.write(&message);
    }
    feeder.declare("fed");
}

/// As fast as the link takes it: about a second. The kernel says that the buffer is the limit only of programs that do not wait
/// within a write, and have nothing in the buffer that is not under way.
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
