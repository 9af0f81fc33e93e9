//! Policies and runtime parameters of a throwaway broker.

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::{Parameter, Policy, PolicySubject, ThrowawayBroker};
use rabbitscope_testing::eventually;

fn policy(definition: &str) -> ThrowawayBroker {
    let policy = Policy {
        name: "short ü".to_owned(),
        pattern: "^a\\.".to_owned(),
        definition: definition.to_owned(),
        apply_to: PolicySubject::Queues,
        priority: 3,
    };
    ThrowawayBroker { policies: vec![policy], ..ThrowawayBroker::default() }
}

#[test]
fn policies_are_in_force_or_refused_in_the_words_of_the_broker() {
    let broker = Broker::start_with_own_log(&policy("{\"max-length\": 7}")).unwrap();
    let value_of = |key: &str| {
        let asked = format!("proplists:get_value({key}, hd(rabbit_policy:list()))");
        broker.eval(&asked).unwrap()
    };
    assert_eq!(value_of("name"), "<<\"short ü\"/utf8>>");
    assert_eq!(value_of("pattern"), "<<\"^a\\\\.\">>");
    assert_eq!(
        (value_of("'apply-to'"), value_of("priority")),
        ("<<\"queues\">>".to_owned(), "3".to_owned())
    );
    assert_eq!(value_of("definition"), "[{<<\"max-length\">>,7}]");
    let refused =
        Broker::start_with_own_log(&policy("{\"max-length\": -7}")).unwrap_err().to_string();
    assert!(refused.contains("refused the policy short ü"), "{refused}");
}

fn shovel(value: &str) -> ThrowawayBroker {
    let parameter = Parameter {
        component: "shovel".to_owned(),
        name: "copy".to_owned(),
        value: value.to_owned(),
        node: 1,
    };
    ThrowawayBroker {
        nodes: 2,
        is_cluster: false,
        plugins: vec!["rabbitmq_shovel".to_owned()],
        parameters: vec![parameter],
        ..ThrowawayBroker::default()
    }
}

#[test]
fn a_shovel_leads_from_one_broker_to_another_that_knows_nothing_of_it() {
    let value =
        r#"{"src-uri": "amqp://", "src-queue": "a", "dest-uri": "$uri-2", "dest-queue": "b"}"#;
    let broker = Broker::start_with_own_log(&shovel(value)).unwrap();
    let [first, second] = broker.nodes() else { panic!("two nodes") };
    for node in [first, second] {
        assert_eq!(node.eval("nodes()").unwrap(), "[]");
    }
    let parameters = "length(rabbit_runtime_parameters:list_component(<<\"shovel\">>))";
    let on_each = [first, second].map(|node| node.eval(parameters).unwrap());
    assert_eq!(on_each, ["1", "0"]);
    let has_queue = "rabbit_amqqueue:exists(rabbit_misc:r(<<\"/\">>, queue, <<\"b\">>))";
    eventually("the shovel has come to the second broker", || {
        second.eval(has_queue).unwrap() == "true"
    });
    let refused = Broker::start_with_own_log(&shovel("{}")).unwrap_err().to_string();
    assert!(refused.contains("refused the parameter copy of shovel"), "{refused}");
}
