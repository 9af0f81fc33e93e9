//! `memory` names the planted holders: a table's binaries, a socket's output, a mailbox, atoms, a quorum queue.

use serde_json::Value;

use rabbitscope_testing::{
    OwnBroker, Workbench, find, node_options, own_broker, plant,
    scenario::{Publishers, Queue, Scenario},
};

/// A broker, and the commands that look into it.
pub(crate) struct InsideNode {
    pub(crate) broker: OwnBroker,
    pub(crate) bench: Workbench,
}

impl InsideNode {
    pub(crate) fn start(test: &str) -> Self {
        Self { broker: own_broker(), bench: Workbench::new(test) }
    }

    /// Runs a command with the node's arguments appended.
    pub(crate) fn text(&self, command: &str) -> String {
        self.bench.rabbitscope(&format!("{command} {}", node_options(&self.broker))).code(0).stdout
    }

    pub(crate) fn json(&self, command: &str) -> Value {
        serde_json::from_str(&self.text(&format!("{command} --json"))).unwrap()
    }

    /// Evaluates Erlang that ends with `ok`.
    pub(crate) fn plant(&self, expression: &str) {
        plant(&self.broker, expression);
    }

    fn number(&self, expression: &str) -> u64 {
        self.broker.eval(expression).unwrap().parse().unwrap()
    }
}

const MIB: u64 = 1 << 20;

/// 2,000 binaries of 32 KiB, and 40,000 small rows before them.
const TABLE: &str = "Owner = spawn(fun () -> \
     ets:new(planted_table, [named_table, public, ordered_set]), \
     [ets:insert(planted_table, {I, small}) || I <- lists:seq(1, 40000)], \
     [ets:insert(planted_table, {100000 + I, crypto:strong_rand_bytes(32768)}) || I <- lists:seq(1, 2000)], \
     erlang:garbage_collect(), register(planted_owner, self()), receive stop -> ok end end), \
     Wait = fun Wait() -> case whereis(planted_owner) of Owner -> ok; _ -> timer:sleep(20), Wait() end end, Wait()";

const MAILBOX: &str = "Pid = spawn(fun () -> register(planted_mailbox, self()), receive stop -> ok end end), \
     [Pid ! {planted, I, lists:seq(1, 10)} || I <- lists:seq(1, 200000)], ok";

/// 64 MB that the other end does not read.
const SOCKET: &str = "Small = [{active, false}, {recbuf, 65536}, {sndbuf, 65536}], \
     Pid = spawn(fun () -> {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}} | Small]), {ok, P} = inet:port(L), \
       {ok, C} = gen_tcp:connect({127, 0, 0, 1}, P, [binary, {high_watermark, 200000000} | Small]), \
       {ok, S} = gen_tcp:accept(L), ok = gen_tcp:send(C, crypto:strong_rand_bytes(64000000)), \
       register(planted_socket, self()), receive stop -> {L, C, S} end end), \
     Wait = fun Wait() -> case whereis(planted_socket) of Pid -> ok; _ -> timer:sleep(20), Wait() end end, Wait()";

/// The VM's figures grow by this amount, minus the list of atoms.
const ATOMS: &str = "Before = erlang:memory(system), \
     [list_to_atom(\"planted_atom_number_\" ++ integer_to_list(I)) || I <- lists:seq(1, 200000)], \
     erlang:memory(system) - Before";

#[track_caller]
fn row<'a>(report: &'a Value, list: &str, name: &str) -> &'a Value {
    find(&report[list], "name", name)
}

#[track_caller]
fn at_least_nine_tenths(report: &Value, found: u64, planted: u64) {
    assert!(found * 10 >= planted * 9, "{found} of {planted}: {report:#}");
    assert!(found * 10 <= planted * 13, "{found} of {planted}: {report:#}");
}

#[test]
fn planted_memory_has_its_holders() {
    let node = InsideNode::start("memory");
    let before = node.json("memory");
    let atoms = node.number(ATOMS);
    let publishers = Publishers::new("planted-queue").messages(20_000).size("4KiB");
    let scenario = Scenario::new("test")
        .queues(Queue::new("planted-queue").of_type("quorum").keep(true))
        .publishers(publishers.confirm_window(500))
        .duration("30s");
    node.bench.run_on(&node.broker, scenario, "").code(0);
    let queue = node.number("erlang:memory(binary) + erlang:memory(ets)");
    for what in [TABLE, MAILBOX, SOCKET] {
        node.plant(what);
    }

    let report = node.json("memory");
    let holder = |name: &str| row(&report, "holders", name)["total-bytes"].as_u64().unwrap();
    at_least_nine_tenths(&report, holder("planted_table"), 2_000 * 32_768 + 2 * MIB);
    at_least_nine_tenths(&report, holder("planted_socket"), 64_000_000);
    let mailbox = "element(2, process_info(whereis(planted_mailbox), memory))";
    at_least_nine_tenths(&report, holder("planted_mailbox"), node.number(mailbox));
    assert_eq!(row(&report, "mailboxes", "planted_mailbox")["mailbox"], 200_000);
    let of_atoms = |report: &Value| report["kinds"]["atoms"].as_u64().unwrap();
    at_least_nine_tenths(&report, of_atoms(&report) - of_atoms(&before), atoms);

    // The planted amount: the node's tables and binaries at that time, minus those before.
    let kinds = |kind: &str| before["kinds"][kind].as_u64().unwrap();
    let planted = queue - kinds("binaries") - kinds("tables");
    assert!(planted > 60 * MIB, "{planted}: {report:#}");
    at_least_nine_tenths(&report, holder("planted-queue"), planted);
    assert_eq!(row(&report, "holders", "planted-queue")["kind"], "quorum_queue");
    let unattributed = report["binaries"]["unattributed"].as_u64().unwrap();
    assert!(unattributed < 8 * MIB, "{report:#}");
    let text = node.text("memory");
    assert!(text.contains("200,000 messages wait for planted_mailbox"), "{text}");
}

/// Two servers that call each other, one that a third process calls, and a mailbox of both kinds.
const WAITING: &str = "Ask = fun (Name) -> gen:call(Name, '$gen_call', {planted_question, <<\"a secret of 26 letters\">>}, infinity) end, \
     spawn(fun () -> register(planted_one, self()), put(planted_key, <<\"a secret of 26 letters\">>), timer:sleep(300), Ask(planted_two) end), \
     spawn(fun () -> register(planted_two, self()), timer:sleep(300), Ask(planted_one) end), \
     spawn(fun () -> register(planted_three, self()), timer:sleep(300), Ask(planted_one) end), \
     timer:sleep(1000), [planted_three ! {planted_message, <<\"a secret of 26 letters\">>} || _ <- [1, 2]], \
     Full = spawn(fun () -> register(planted_full, self()), receive stop -> ok end end), [Full ! I || I <- lists:seq(1, 200000)], ok";

#[test]
fn one_process_is_shown_without_its_contents() {
    let node = InsideNode::start("process");
    node.plant(WAITING);
    let three = node.text("process planted_three");
    for part in ["2 × {planted_message, _}", "planted_one", "gen:do_call/4", "deadlock"] {
        assert!(three.contains(part), "`{part}`: {three}");
    }
    let one = node.text("process planted_one");
    for part in ["planted_key", "{'$gen_call', {planted_question, _}}", "planted_two", "deadlock"] {
        assert!(one.contains(part), "`{part}`: {one}");
    }
    let full = node.json("process planted_full");
    assert_eq!((&full["mailbox"], &full["messages"]), (&200_000.into(), &Value::Null), "{full}");
    let waiting = node.json("process");
    let names: Vec<_> =
        waiting["processes"].as_array().unwrap().iter().map(|row| row["name"].as_str()).collect();
    let is_listed = |name: &&str| names.contains(&Some(*name));
    assert!(["planted_one", "planted_two", "planted_three"].iter().all(is_listed), "{waiting}");
    for text in [three, one, full.to_string(), waiting.to_string()] {
        assert!(!text.contains("secret"), "{text}");
    }
}
