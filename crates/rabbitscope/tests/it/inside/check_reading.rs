//! The parts of a check that come from inside a node: flow control, clients, queues, the VM.

use std::{thread, time::Duration};

use rabbitscope_amqp::{Properties, Request, Table, blocking::Client};
use rabbitscope_broker::Broker;
use rabbitscope_erlang::Connection;
use rabbitscope_inside::{CheckReader, NodeParts};
use rabbitscope_testing::{
    connect, connection_to, consume, durable_queue, evaluate, own_broker, plant, take,
};

use super::remains::assert_nothing_left;

/// Reads the node for some seconds.
fn read(broker: &Broker, seconds: u64) -> NodeParts {
    let connection = Connection::open(&connection_to(broker)).unwrap();
    let mut reader = CheckReader::new(&connection).unwrap();
    let parts = reader.read(Duration::from_secs(seconds)).unwrap();
    reader.end().unwrap();
    parts
}

/// Lets the broker count messages, and write its tables each second.
fn count_messages(broker: &Broker) {
    plant(
        broker,
        "application:set_env(rabbit, collect_statistics, fine), \
         application:set_env(rabbit, collect_statistics_interval, 1000), ok",
    );
}

fn connect_with_queue(broker: &Broker, queue: &str) -> (Client, u16) {
    let (mut client, channel) = connect(&broker.uri());
    client.call(channel, &durable_queue(queue, false, &Table::default())).unwrap();
    (client, channel)
}

/// Publishes this many messages without waiting for their acceptance.
fn publish(client: &mut Client, channel: u16, queue: &str, count: usize) {
    for _ in 0..count {
        client.publish(channel, queue, &Properties::default(), b"message");
    }
    client.poll(Duration::from_millis(300), |_| false).unwrap();
}

/// Erlang that changes the queue's process: `suspend` answers nothing but `resume`.
fn change_queue(broker: &Broker, queue: &str, function: &str) {
    let name = format!("rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>)");
    plant(
        broker,
        &format!("{{ok, Q}} = rabbit_amqqueue:lookup({name}), sys:{function}(amqqueue:get_pid(Q))"),
    );
}

#[test]
fn a_channel_that_a_queue_blocks_leads_to_the_queue() {
    let broker = own_broker();
    let (mut client, channel) = connect_with_queue(&broker, "slow");
    change_queue(&broker, "slow", "suspend");
    publish(&mut client, channel, "slow", 1000);
    let parts = read(&broker, 4);
    change_queue(&broker, "slow", "resume");

    let flow = parts.flow.unwrap();
    let of_role = |role: &str| {
        let mut found = flow.processes.iter().filter(|process| process.role == role);
        found.next().unwrap_or_else(|| panic!("no {role} in {flow:#?}"))
    };
    let (reader, channel, queue) = (of_role("reader"), of_role("channel"), of_role("queue"));
    for blocked in [reader, channel] {
        assert!(blocked.blocked_share() > Some(0.9), "{blocked:#?}");
        assert_eq!((blocked.client.as_str(), blocked.user.as_str()), ("an application", "guest"));
        assert_eq!((blocked.vhost.as_str(), &blocked.connection), ("/", &reader.connection));
    }
    let blocked_by = |process: &str, pid: &str| process.contains(&format!("Process({pid:?})"));
    assert!(blocked_by(&format!("{:?}", reader.blocked_by), &channel.pid), "{reader:#?}");
    assert!(blocked_by(&format!("{:?}", channel.blocked_by), &queue.pid), "{channel:#?}");
    assert_eq!((queue.blocked, queue.name.as_str(), queue.blocked_by.len()), (0, "slow", 0));
    assert!(queue.blocked_share() == Some(0.0) && queue.mailbox > 0, "{queue:#?}");
    assert!(flow.looks > 40 && flow.passes > 0 && flow.candidates >= 3, "{flow:#?}");

    let processes = parts.processes.unwrap();
    let row = processes.rows.iter().find(|row| row.pid == queue.pid).unwrap();
    assert_eq!((row.vhost.as_str(), row.with_mail), ("/", row.looks), "{row:#?}");
    assert!(
        parts.queues.unwrap().rows.iter().any(|row| row.name == "slow" && row.pid == queue.pid)
    );
    drop(client);
}

/// Erlang that declares a quorum queue, and changes its leader.
fn change_quorum(broker: &Broker, queue: &str, function: &str) {
    plant(
        broker,
        &format!(
            "Name = rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>), \
             {{_, Q}} = rabbit_amqqueue:declare(Name, true, false, \
             [{{<<\"x-queue-type\">>, longstr, <<\"quorum\">>}}], none, <<\"test\">>), \
             sys:{function}(amqqueue:get_pid(Q))"
        ),
    );
}

#[test]
fn a_quorum_queue_that_blocks_has_its_own_name() {
    let broker = own_broker();
    change_quorum(&broker, "replicated", "resume");
    let (mut client, channel) = connect(&broker.uri());
    // The first message of a channel waits for the leader's answer.
    publish(&mut client, channel, "replicated", 1);
    change_quorum(&broker, "replicated", "suspend");
    publish(&mut client, channel, "replicated", 1000);
    let parts = read(&broker, 3);
    change_quorum(&broker, "replicated", "resume");

    let flow = parts.flow.unwrap();
    let channel = flow.processes.iter().find(|process| process.role == "channel").unwrap();
    let blocked_by = format!("{:?}", channel.blocked_by);
    assert!(blocked_by.contains(r#"Queue("/", "replicated")"#), "{channel:#?}");
    let queues = parts.queues.unwrap();
    let queue = queues.rows.iter().find(|row| row.name == "replicated").unwrap();
    assert_eq!(format!("{:?}", queue.kind), "Quorum");
    let processes = parts.processes.unwrap();
    let leader = processes.rows.iter().find(|row| row.pid == queue.pid).unwrap();
    assert_eq!((leader.role.as_str(), leader.name.as_str()), ("quorum_leader", "replicated"));
    assert!(leader.with_mail > 0 && leader.busy_share() < Some(0.5), "{leader:#?}");
    drop(client);
}

#[test]
fn an_idle_node_blocks_nobody_and_has_its_settings() {
    let broker = own_broker();
    let parts = read(&broker, 3);
    let flow = parts.flow.unwrap();
    assert_eq!((flow.blocked, flow.processes.len()), (0, 0), "{flow:#?}");
    let vm = parts.vm.unwrap();
    assert!(vm.looks > 30 && vm.scheduler_use < Some(0.9), "{vm:#?}");
    assert!(
        vm.microstates.iter().any(|(state, share)| state == "sleep" && *share > 0.0),
        "{vm:#?}"
    );
    assert!(vm.dirty_io_cores.is_some() && vm.peers.is_empty(), "{vm:#?}");
    assert!(vm.flags.iter().any(|(flag, _)| flag == "+stbt"), "{vm:#?}");

    let found = parts.broker.unwrap();
    assert_eq!(found.nodes, [broker.node_name()]);
    assert!(found.version.contains('.') && !found.otp.is_empty(), "{found:#?}");
    let memory = found.memory.unwrap();
    assert!(memory.used > 10 << 20 && memory.limit > memory.used, "{found:#?}");
    assert!(found.disk_free_bytes > found.disk_limit_bytes, "{found:#?}");
    assert!(found.descriptors.is_some_and(|used| used.used > 5), "{found:#?}");
    assert_eq!(found.rates.published, Some(0.0));
    assert!(found.churn.unwrap().connections_opened < 0.1, "{found:#?}");
    let setting = |key: &str| found.settings.other.get(key).map(String::as_str);
    assert_eq!(setting("rabbit.credit_flow_default_credit"), Some("{400,200}"));
    assert!(setting("rabbit.default_pass").is_none() && found.alarms.is_empty(), "{found:#?}");
    assert_nothing_left(&broker, "a check");
}

#[test]
fn unacknowledged_messages_prefetch_and_empty_gets_have_the_name_of_their_client() {
    let broker = own_broker();
    count_messages(&broker);
    let (mut client, channel) = connect_with_queue(&broker, "held");
    client.call(channel, &Request::Qos { prefetch: 30, global: false }).unwrap();
    client.call(channel, &consume("held", &Table::default())).unwrap();
    publish(&mut client, channel, "held", 50);
    // The channel writes its figures once a second.
    thread::sleep(Duration::from_millis(1500));

    let (mut poller, polling) = connect_with_queue(&broker, "empty");
    let parts = thread::scope(|scope| {
        let reading = scope.spawn(|| read(&broker, 4));
        while !reading.is_finished() {
            assert_eq!(take(&mut poller, polling, "empty"), None);
            thread::sleep(Duration::from_millis(10));
        }
        reading.join().unwrap()
    });

    let clients = parts.clients.unwrap();
    let holder = &clients.channels[0];
    assert_eq!((holder.unacknowledged, holder.prefetch), (30, Some(30)), "{clients:#?}");
    assert_eq!((holder.client.as_str(), holder.user.as_str()), ("an application", "guest"));
    assert_eq!((holder.consumers, holder.consumers_without_ack), (1, 0));
    assert_eq!(
        (&holder.consumed_queues[..], holder.unacknowledged_growth),
        (&["held".to_owned()][..], 0.0)
    );
    let polling = clients.channels.iter().find(|row| row.get_empty_per_second > Some(10.0));
    assert_eq!(polling.unwrap().got_per_second, Some(0.0), "{clients:#?}");
    let connection = clients.connections.iter().find(|row| row.pid == holder.connection).unwrap();
    assert_eq!((connection.protocol.as_str(), connection.channels), ("AMQP 0-9-1", 1));
    assert!(connection.library.starts_with("rabbitscope"), "{connection:#?}");

    let queues = parts.queues.unwrap();
    let held = queues.rows.iter().find(|row| row.name == "held").unwrap();
    assert_eq!((held.ready, held.unacknowledged, held.consumers), (20, 30, 1), "{held:#?}");
    assert_eq!((held.published_per_second, held.is_durable), (Some(0.0), true), "{held:#?}");
    assert_eq!((queues.count, queues.leaders[0].1), (2, 2), "{queues:#?}");
    let rates = parts.broker.unwrap().rates;
    assert!(rates.get_empty > Some(10.0) && rates.got == Some(0.0), "{rates:#?}");
}

#[test]
fn a_lost_connection_during_a_check_leaves_nothing() {
    let broker = own_broker();
    let connection = Connection::open(&connection_to(&broker)).unwrap();
    let mut reader = CheckReader::new(&connection).unwrap();
    thread::scope(|scope| {
        let reading = scope.spawn(|| reader.read(Duration::from_secs(60)));
        // The accounting of microstates is on for the first seconds.
        thread::sleep(Duration::from_secs(1));
        let on = "erlang:statistics(microstate_accounting) =/= undefined";
        assert_eq!(evaluate(&broker, on), "true");
        evaluate(
            &broker,
            "[timer:apply_after(100, erlang, disconnect_node, [Node]) || Node <- nodes(hidden)], ok",
        );
        assert!(reading.join().unwrap().is_err());
    });
    assert_nothing_left(&broker, "a check");
    assert_eq!(evaluate(&broker, "erlang:system_flag(microstate_accounting, false)"), "false");
}
