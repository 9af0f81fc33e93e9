//! The owners of a profile's samples: a hot queue among a hundred.

use std::{fs::File, io::BufReader, time::Instant};

use rabbitscope_broker::Broker;
use rabbitscope_profiles::{Profile, read_pprof};
use rustix::process::Signal;
use serde_json::Value;

use crate::publishing::PUBLISH;
use crate::workbench::{
    Workbench, eventually, may_profile_or_says_so, own_broker, scenario, signal,
};

const QUEUES: u32 = 99;

/// Returns the arguments for a broker that the program does not know.
fn arguments_of(broker: &Broker) -> String {
    let (home, epmd_port) = (broker.distribution().0, broker.port_mapper());
    let cookie = home.join(".erlang.cookie").display().to_string();
    format!("--node {} --cookie-file {cookie} --epmd-port {epmd_port}", broker.node_name())
}

/// Declares 99 queues beside the hot one, each with a message.
fn declare_others(broker: &Broker) {
    let declared = broker.eval(&format!(
        "Publish = {PUBLISH}, [begin N = <<\"cold-\", (integer_to_binary(I))/binary>>, \
          {{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, N), true, false, [], \
          none, <<\"guest\">>), \
          Publish(<<\"/\">>, N, <<\"body\">>) end \
          || I <- lists:seq(1, {QUEUES})], ok"
    ));
    assert_eq!(declared.unwrap(), "ok");
}

fn read(bench: &Workbench, name: &str) -> Profile {
    read_pprof(BufReader::new(File::open(bench.path(name)).unwrap())).unwrap()
}

#[test]
fn a_hot_queue_among_a_hundred_is_named_first() {
    if !may_profile_or_says_so("a_hot_queue_among_a_hundred_is_named_first") {
        return;
    }
    let bench = Workbench::new("owners");
    let broker = own_broker();
    declare_others(&broker);
    bench.file("s.toml", &scenario("hot", "60s"));
    let mut load = bench.start(&format!("run s.toml --uri {} --out out", broker.uri()));
    eventually("the load runs", || {
        bench.path("out/series.jsonl").metadata().is_ok_and(|file| file.len() > 0)
    });
    let node = arguments_of(&broker);
    let began = Instant::now();
    let said =
        bench.rabbitscope(&format!("profile {node} --duration 3s -o p.pb.gz --json")).code(0);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
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
    let again = read(&bench, "again.pb.gz");
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
    signal(&load, Signal::INT);
    load.wait().unwrap();
    assert!(read(&bench, "blind.pb.gz").identities.is_empty());
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
    if !may_profile_or_says_so("processes_that_have_ended_are_known_by_their_stacks") {
        return;
    }
    let bench = Workbench::new("ended");
    let broker = own_broker();
    assert_eq!(broker.eval(BRIEF).unwrap(), "ok");
    let node = arguments_of(&broker);
    bench.rabbitscope(&format!("profile {node} --duration 2s -o p.pb.gz")).code(0);
    let profile = read(&bench, "p.pb.gz");
    let requests =
        profile.identities.values().filter(|identity| identity.name == "cowboy_brief:request/1");
    let roles: Vec<&str> = requests.map(|identity| identity.role.as_str()).collect();
    assert!(
        roles.len() > 3 && roles.iter().all(|&role| role == "http"),
        "{:?}",
        profile.identities
    );
}
