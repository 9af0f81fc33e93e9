//! Policies of a throwaway broker.

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::{Policy, PolicySubject, ThrowawayBroker};

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
    let of = |key: &str| {
        let asked = format!("proplists:get_value({key}, hd(rabbit_policy:list()))");
        broker.eval(&asked).unwrap()
    };
    assert_eq!(of("name"), "<<\"short ü\"/utf8>>");
    assert_eq!(of("pattern"), "<<\"^a\\\\.\">>");
    assert_eq!((of("'apply-to'"), of("priority")), ("<<\"queues\">>".to_owned(), "3".to_owned()));
    assert_eq!(of("definition"), "[{<<\"max-length\">>,7}]");
    let refused =
        Broker::start_with_own_log(&policy("{\"max-length\": -7}")).unwrap_err().to_string();
    assert!(refused.contains("refused the policy short ü"), "{refused}");
}
