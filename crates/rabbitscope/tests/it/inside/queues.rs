//! Queues as the node reports them: from its tables, from the queues themselves, over HTTP.

use rabbitscope_testing::{
    PUBLISH, Served, Stops, Workbench, evaluate, eventually, existing_broker, node_options,
};
use serde_json::Value;

/// Evaluates an expression on the shared broker, and returns the result as an Erlang term.
fn eval(expression: &str) -> String {
    evaluate(existing_broker(), expression)
}

/// Declares a virtual host with a number of queues, `q-1` and so on.
fn declare(vhost: &str, queues: u32) {
    eval(&format!(
        "rabbit_vhost:add(<<\"{vhost}\">>, <<\"guest\">>), \
         [{{_, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"{vhost}\">>, queue, \
          <<\"q-\", (integer_to_binary(I))/binary>>), true, false, [], none, <<\"guest\">>) \
          || I <- lists:seq(1, {queues})], ok"
    ));
}

fn declare_quorum(vhost: &str, name: &str) {
    eval(&format!(
        "{{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"{vhost}\">>, queue, <<\"{name}\">>), true, \
         false, [{{<<\"x-queue-type\">>, longstr, <<\"quorum\">>}}], none, <<\"guest\">>), ok"
    ));
}

/// Ends the process of a quorum queue. The tables still show it as running.
fn stop_quorum(vhost: &str, name: &str) {
    eval(&format!(
        "{{ok, Queue}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"{vhost}\">>, queue, <<\"{name}\">>)), \
         ok = ra:stop_server(quorum_queues, amqqueue:get_pid(Queue)), ok"
    ));
}

/// Returns name, state, consumers and memory of each queue from the node's table.
fn written(vhost: &str) -> String {
    let text = eval(&format!(
        "iolist_to_binary(lists:join($ , lists:sort([io_lib:format(\"~s ~s ~p ~p\", \
         [Name | [proplists:get_value(Key, Infos, null) || Key <- [state, consumers, memory]]]) \
         || {{{{resource, <<\"{vhost}\">>, queue, Name}}, Infos, _}} <- ets:tab2list(queue_metrics)])))"
    ));
    text.trim_start_matches("<<\"").trim_end_matches("\">>").to_owned()
}

/// Returns the same for a row.
fn infos(row: &Value) -> String {
    let text = |key: &str| row[key].to_string().replace('"', "");
    ["name", "state", "consumers", "memory-bytes"].map(text).join(" ")
}

fn publish(vhost: &str, queue: &str) {
    eval(&format!("Publish = {PUBLISH}, Publish(<<\"{vhost}\">>, <<\"{queue}\">>, <<\"body\">>)"));
}

/// Returns the modules that rabbitscope has loaded into the node.
pub(crate) fn modules_on_node() -> String {
    eval("[M || {M, _} <- code:all_loaded(), lists:prefix(\"rabbitscope\", atom_to_list(M))]")
}

#[test]
fn from_the_queues_and_from_the_tables() {
    let bench = Workbench::new("queues");
    let node = node_options(existing_broker());
    declare("inside-queues", 700);
    publish("inside-queues", "q-7");
    let list = |more: &str| {
        bench.rabbitscope(&format!("queues {node} --vhost inside-queues --json {more}")).code(0)
    };
    // The shared broker has no plugin that would turn statistics on.
    let exact = list("--sort ready --limit 1");
    assert!(exact.stderr.contains("collect_statistics"), "{exact:#?}");
    let exact = exact.json();
    assert_eq!((&exact["total"], &exact["source"]), (&700.into(), &"queues".into()));
    let first = &exact["queues"][0];
    assert_eq!((&first["name"], &first["ready"]), (&"q-7".into(), &1.into()), "{first}");
    assert_eq!((&first["type"], &first["consumers"]), (&"classic".into(), &0.into()));
    assert!(first["memory-bytes"].as_u64().unwrap() > 1000);

    let third = list("--exact --limit 300 --page 3").json();
    assert_eq!(third["queues"].as_array().unwrap().len(), 100);

    eval("application:set_env(rabbit, collect_statistics, fine)");
    declare("inside-tables", 2);
    publish("inside-tables", "q-2");
    let tables = || {
        let found = bench.rabbitscope(&format!("queues {node} --vhost inside-tables --json"));
        found.code(0).json()
    };
    eventually("the queue writes into the tables", || tables()["queues"][1]["ready"] == 1);
    assert_eq!(tables()["source"], "tables");
    declare_quorum("inside-tables", "quorum");
    declare("inside-tables", 40);
    eventually(&format!("figures as they stand: {}", written("inside-tables")), || {
        let found = tables();
        let said = found["queues"].as_array().unwrap().iter().map(infos).collect::<Vec<_>>();
        let all = said.len() == 41 && !said.iter().any(|row| row.contains("null"));
        all && said.join(" ") == written("inside-tables")
    });
    let prometheus = format!("queues {node} --vhost inside-tables --name q-2 --prometheus");
    let text = bench.rabbitscope(&prometheus).code(0).stdout;
    let line = "rabbitscope_queue_messages_ready{vhost=\"inside-tables\",queue=\"q-2\",type=\"classic\"} 1";
    assert!(text.contains(line), "{text}");

    stop_quorum("inside-tables", "quorum");
    for how in ["", " --exact"] {
        let list = format!("queues {node} --vhost inside-tables --name quorum --json{how}");
        let row = &bench.rabbitscope(&list).code(0).json()["queues"][0];
        assert_eq!((&row["missing"], &row["state"]), (&"down".into(), &Value::Null), "{row}");
    }
    eval("application:set_env(rabbit, collect_statistics, none)");
}

#[test]
fn a_queue_that_does_not_answer_is_named_and_holds_up_nobody() {
    let bench = Workbench::new("stuck");
    declare("inside-stuck", 20);
    let stuck = "element(2, rabbit_amqqueue:lookup(rabbit_misc:r(<<\"inside-stuck\">>, queue, <<\"q-3\">>)))";
    eval(&format!("erlang:suspend_process(amqqueue:get_pid({stuck})), ok"));
    // The process that suspended it has ended, which also ended the suspension. A different process must suspend it.
    eval(&format!(
        "spawn(fun() -> erlang:suspend_process(amqqueue:get_pid({stuck})), \
         register(rabbitscope_test_suspender, self()), receive stop -> ok end end), ok"
    ));
    let node = node_options(existing_broker());
    let all = format!("queues {node} --vhost inside-stuck --exact --within 1s --json");
    let found = bench.rabbitscope(&all).code(0).json();
    eval("rabbitscope_test_suspender ! stop");
    assert_eq!(found["unanswered"], serde_json::json!(["inside-stuck/q-3"]));
    let rows = found["queues"].as_array().unwrap();
    let answered = rows.iter().filter(|row| row["ready"] == 0).count();
    assert_eq!((rows.len(), answered), (20, 19));
}

#[test]
fn a_value_that_no_node_takes_is_wrong_usage() {
    let bench = Workbench::new("values");
    let node = node_options(existing_broker());
    for (line, said) in [
        ("trace lists:reverse/1 --match {", "no list of Erlang terms"),
        ("trace lists:reverse/1 --role nosuch", "no role is called nosuch"),
        ("functions --role nosuch --duration 1s", "no role is called nosuch"),
        ("calltree lists:reverse/1 --role nosuch -o x.svg", "no role is called nosuch"),
    ] {
        bench.rabbitscope(&format!("{line} {node}")).code(2).says(&[said]);
    }
}

#[test]
fn the_cookie_is_not_said_and_failures_have_one_line() {
    let bench = Workbench::new("cookie");
    let (home, epmd_port) = (existing_broker().distribution().0, existing_broker().port_mapper());
    let cookie = std::fs::read_to_string(home.join(".erlang.cookie")).unwrap();
    let good =
        bench.rabbitscope(&format!("queues {} --json", node_options(existing_broker()))).code(0);
    bench.file("wrong", "WRONGCOOKIE");
    let node = existing_broker().node_name();
    let wrong = format!("queues --node {node} --epmd-port {epmd_port} --cookie-file wrong");
    let wrong = bench.rabbitscope(&wrong).code(5).says(&["refuses the cookie", "wrong"]);
    assert_eq!(wrong.stderr.lines().count(), 1, "{wrong:#?}");
    for text in [good.stdout, good.stderr, wrong.stdout, wrong.stderr] {
        assert!(!text.contains(&cookie) && !text.contains("WRONGCOOKIE"), "{text}");
    }
    bench.rabbitscope("queues --node a@b@c").code(2).says(&["a@b@c"]);
    bench
        .rabbitscope("queues --node nobody@localhost --epmd-port 1")
        .code(5)
        .says(&["localhost:1"]);
    bench.rabbitscope("queues --listen 0.0.0.0:0").code(2).says(&["--auth-file"]);
}

#[test]
fn a_service_answers_those_who_may_ask_and_leaves_nothing_when_it_is_killed() {
    let bench = Workbench::new("service");
    declare("inside-service", 3);
    bench.file_with_mode("auth", "monitor:secret\n", 0o600);
    let node = node_options(existing_broker());
    let served =
        Served::start(&bench, &format!("queues {node} --listen 127.0.0.1:0 --auth-file auth"));
    // printf monitor:secret | base64
    let header = "Authorization: Basic bW9uaXRvcjpzZWNyZXQ=\r\n";
    let check = |path: &str, header: &str, parts: &[&str]| {
        let answer = served.get(path, header);
        for part in parts {
            assert!(answer.contains(part), "{path}: {answer}");
        }
    };
    check("/queues", "", &["401", "Www-Authenticate"]);
    check("/queues", "Authorization: Basic bW9uaXRvcjpzZWNyZXR=\r\n", &["401"]);
    check("/queues?vhost=inside-service&name=q-2", header, &["200 OK", "\"total\":1", "\"q-2\""]);
    check("/queues?page=0", header, &["400", "page"]);
    check("/metrics", header, &["200 OK", "# TYPE rabbitscope_queue_messages_ready gauge"]);
    check("/else", header, &["404"]);

    check("/queues?max-age=soon", header, &["400", "max-age"]);

    assert!(modules_on_node().contains("rabbitscope_queues_"));
    served.child.killed();
    eventually("nothing of it is on the node", || modules_on_node() == "[]");
}

#[test]
fn a_client_that_knows_the_answer_gets_none_until_there_is_news() {
    let bench = Workbench::new("tags");
    declare("inside-tags", 3);
    bench.file_with_mode("auth", "s3cret-token\n", 0o600);
    let arguments =
        format!("queues {} --listen 127.0.0.1:0 --auth-file auth", node_options(existing_broker()));
    let served = Served::start(&bench, &arguments);
    let with_token = "Authorization: Bearer s3cret-token\r\n";
    let path = "/queues?vhost=inside-tags";
    for wrong in ["", "Authorization: Bearer s3cret\r\n", "Authorization: Basic s3cret-token\r\n"] {
        let answer = served.get(path, wrong);
        assert!(answer.starts_with("HTTP/1.1 401 ") && !answer.contains("q-1"), "{answer}");
    }
    let ask = |path: &str, known: &str| {
        served.get(path, &format!("{with_token}If-None-Match: {known}\r\n"))
    };
    let tag_in = |answer: &str| {
        let line = answer.lines().find_map(|line| line.strip_prefix("Etag: "));
        line.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let settled = || {
        let tag = tag_in(&ask(path, "\"another\""));
        ask(path, &tag).starts_with("HTTP/1.1 304 ")
    };
    eventually("the new queues have written their first figures", settled);
    let first = ask(path, "\"another\"");
    assert!(first.starts_with("HTTP/1.1 200 ") && first.contains("\"total\":3"), "{first}");
    let known = tag_in(&first);
    let again = ask(path, &known);
    assert!(again.starts_with("HTTP/1.1 304 ") && again.ends_with("\r\n\r\n"), "{again}");
    assert_eq!(tag_in(&again), known);

    declare("inside-tags", 4);
    // A client that accepts an older answer gets one; other requests cause a new reading.
    let older = ask(&format!("{path}&max-age=1h"), &known);
    assert!(older.starts_with("HTTP/1.1 304 "), "{older}");
    let news = ask(path, &known);
    assert!(news.starts_with("HTTP/1.1 200 ") && news.contains("\"total\":4"), "{news}");
    assert_ne!(tag_in(&news), known);
    served.child.killed();
}
