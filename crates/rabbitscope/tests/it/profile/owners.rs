//! The owners of a profile's samples: a hot queue among a hundred.

use std::time::Instant;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    PUBLISH, Stops, Workbench, node_options, own_broker, plant, scenario::Scenario,
};
use rustix::process::Signal;
use serde_json::Value;

const QUEUES: u32 = 99;

/// Declares 99 queues beside the hot one, each with a message.
fn declare_others(broker: &Broker) {
    plant(
        broker,
        &format!(
            "Publish = {PUBLISH}, [begin N = <<\"cold-\", (integer_to_binary(I))/binary>>, \
          {{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, N), true, false, [], \
          none, <<\"guest\">>), \
          Publish(<<\"/\">>, N, <<\"body\">>) end \
          || I <- lists:seq(1, {QUEUES})], ok"
        ),
    );
}

#[test]
fn a_hot_queue_among_a_hundred_is_named_first() {
    let Some(bench) = Workbench::for_root("owners") else { return };
    let broker = own_broker();
    declare_others(&broker);
    let load = bench.start_run(&broker, Scenario::steady("hot", "60s"), 1);
    let node = node_options(&broker);
    let began = Instant::now();
    let said = bench
        .rabbitscope(&format!("profile {node} --duration 3s -o p.pb.gz --json"))
        .code(0)
        .json();
    let took = began.elapsed();
    assert_eq!(said.as_array().map(Vec::len), Some(1), "a list, as for several events: {said}");
    assert_eq!((&said[0]["event"], &said[0]["caution"]), (&"cpu".into(), &Value::Null), "{said}");
    let owners = &said[0]["owners"];
    assert_eq!(owners["queues"][0]["name"], "hot", "{said}");
    let share = |at: usize| owners["queues"][at]["share"].as_f64().unwrap_or(0.0);
    assert!(share(0) > 0.02 && share(0) > 5.0 * share(1), "{owners}");
    let channel = owners["channels"][0]["name"].as_str().unwrap();
    assert!(channel.contains(" -> 127.0.0.1:") && channel.ends_with(')'), "{owners}");
    let roles: Vec<&str> = owners["roles"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|role| role["name"].as_str())
        .collect();
    assert!(roles.contains(&"queue") && roles.contains(&"channel"), "{roles:?}");

    // Labels and times survive a second write.
    bench.rabbitscope("flamegraph p.pb.gz -o again.pb.gz").code(0);
    let again = bench.profile("again.pb.gz");
    let hot = again.identities.values().find(|identity| identity.name == "hot").unwrap();
    assert_eq!((hot.role.as_str(), hot.vhost.as_str()), ("queue", "/"));
    let timed: u64 =
        again.samples.iter().flat_map(|sample| sample.times.iter()).map(|(_, weight)| weight).sum();
    assert_eq!(timed, again.total());
    let last =
        again.samples.iter().flat_map(|sample| sample.times.iter()).map(|(step, _)| step).max();
    let last_nanos = u64::from(last.unwrap()) * again.capture.time_step_nanos;
    let took_nanos = u64::try_from(took.as_nanos()).unwrap();
    assert!((1_000_000_000..took_nanos).contains(&last_nanos), "{last_nanos} of {took_nanos}");

    let blind = bench
        .rabbitscope(&format!(
            "profile --pid {} --cookie-file none --duration 1s -o blind.pb.gz",
            broker.pid
        ))
        .code(0);
    assert!(blind.stdout.contains("processes have only pids"), "{blind:#?}");
    load.ended_by(Signal::INT);
    assert!(bench.profile("blind.pb.gz").identities.is_empty());
}

/// Processes that each count for a tenth of a second and then end, one after the other for a minute. The role of
/// their module's name is `http`.
const BRIEF: &str = "Forms = [begin {ok, Tokens, _} = erl_scan:string(Text), \
     {ok, Form} = erl_parse:parse_form(Tokens), Form end || Text <- [\
       \"-module(cowboy_brief).\", \"-export([serve/1, request/1]).\", \
       \"serve(0) -> ok; serve(N) -> {_, R} = spawn_monitor(cowboy_brief, request, [4000000]), \
         receive {'DOWN', R, _, _, _} -> serve(N - 1) end.\", \
       \"request(0) -> ok; request(N) -> request(N - 1).\"]], \
     {ok, Module, Code} = compile:forms(Forms), \
     {module, Module} = code:load_binary(Module, \"cowboy_brief.erl\", Code), \
     spawn(fun() -> Module:serve(2000) end), ok";

#[test]
fn processes_that_have_ended_are_known_by_their_stacks() {
    let Some(bench) = Workbench::for_root("ended") else { return };
    let broker = own_broker();
    plant(&broker, BRIEF);
    let node = node_options(&broker);
    bench.rabbitscope(&format!("profile {node} --duration 2s -o p.pb.gz")).code(0);
    let profile = bench.profile("p.pb.gz");
    let requests =
        profile.identities.values().filter(|identity| identity.name == "cowboy_brief:request/1");
    let roles: Vec<&str> = requests.map(|identity| identity.role.as_str()).collect();
    assert!(
        roles.len() > 3 && roles.iter().all(|&role| role == "http"),
        "{:?}",
        profile.identities
    );
}
