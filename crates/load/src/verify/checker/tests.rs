//! Many publishers, queues and consumers, and what is found of them.

use rabbitscope_runs::scenario;

use super::*;

fn checker(text: &str) -> Checker {
    let text = format!("name = \"v\"\nrun = {{ duration = \"1s\", verify = true }}\n{text}");
    let scenario = scenario::parse(&text, "test", &[]).unwrap();
    let count = scenario.publishers.iter().map(|group| group.count).sum();
    Checker::new(&scenario, Numbering::new(count))
}

/// Two queues behind an exchange, two publishers, a consumer for one queue and two for the other.
const FAN_OUT: &str = r#"
queues = [{ name = "a", bindings = [{ exchange = "amq.fanout" }] }, { name = "b", bindings = [{ exchange = "amq.fanout" }] }]
publishers = [{ exchange = "amq.fanout", count = 2, channels = 1 }]
consumers = [{ queue = "a" }, { name = "more", queue = "b", count = 2 }]
"#;

fn accepted(publisher: u32, count: u32) -> Observation {
    Observation::Accepted { publisher, first: 0, count }
}

fn delivered(checker: &Checker, place: u32, consumer: u32, message: (u32, u64)) -> Observation {
    Observation::Delivered {
        reader: Reader { place, consumer },
        first: checker.numbering.join(message.0, message.1),
        count: 1,
        redelivered: false,
    }
}

#[test]
fn every_queue_gets_every_message_and_consumers_compete() {
    let mut checker = checker(FAN_OUT);
    for publisher in 0..2 {
        let mut batch = vec![accepted(publisher, 100)];
        for sequence in 0..100 {
            batch.push(delivered(&checker, 0, 0, (publisher, sequence)));
            let competing = 1 + u32::try_from(sequence % 2).unwrap();
            batch.push(delivered(&checker, 1, competing, (publisher, sequence)));
        }
        checker.observe(&batch);
    }
    let sum = checker.finish(&[Some(0), Some(0)]);
    assert_eq!(sum.sentence, "Of 200 accepted messages 0 lost, 0 duplicates, 0 out of order.");
    assert_eq!(sum.window, WINDOW_MAX);
}

#[test]
fn each_queue_answers_for_itself() {
    let mut checker = checker(FAN_OUT);
    let mut batch = vec![accepted(0, 100), accepted(1, 100)];
    (0..100).for_each(|sequence| batch.push(delivered(&checker, 0, 0, (0, sequence))));
    (0..90).for_each(|sequence| batch.push(delivered(&checker, 1, 1, (0, sequence))));
    checker.observe(&batch);
    let sum = checker.finish(&[Some(0), Some(4)]);
    // Of the second publisher nothing came anywhere; one queue is asked to answer for that.
    assert_eq!((sum.lost, sum.still_queued), (6 + 100, 4));
}

#[test]
fn order_is_that_of_each_publisher_at_each_consumer() {
    let mut checker = checker(FAN_OUT);
    let order = [(1, (0, 5)), (2, (0, 3)), (1, (1, 0)), (2, (0, 4)), (1, (0, 6))];
    let batch: Vec<_> = order
        .iter()
        .map(|(consumer, message)| delivered(&checker, 1, *consumer, *message))
        .collect();
    checker.observe(&batch);
    assert_eq!(checker.news(), Found::default());
    checker.observe(&[delivered(&checker, 1, 2, (0, 2)), delivered(&checker, 1, 1, (0, 6))]);
    assert_eq!(checker.news(), Found { out_of_order: 1, duplicates: 1, ..Found::default() });
    // A new subscription begins anew.
    let reader = Reader { place: 1, consumer: 1 };
    checker.observe(&[Observation::Resubscribed { reader }, delivered(&checker, 1, 1, (0, 1))]);
    assert_eq!(checker.news(), Found::default());
}

#[test]
fn numbers_wrap_around_without_harm() {
    let mut checker = checker(&FAN_OUT.replace("count = 2,", "count = 4000,"));
    let bits = checker.numbering.sequence_bits();
    assert_eq!(bits, 16);
    let all = 200_000;
    for sequence in 0..all {
        let accepted = Observation::Accepted {
            publisher: 7,
            first: u32::try_from(sequence).unwrap(),
            count: 1,
        };
        let batch = [accepted, delivered(&checker, 0, 0, (7, sequence))];
        checker.observe(if sequence == 70_000 { &batch[..1] } else { &batch });
    }
    let sum = checker.finish(&[Some(0), Some(0)]);
    assert_eq!((sum.accepted, sum.lost, sum.duplicates, sum.out_of_order), (all, 1, 0, 0));
}

#[test]
fn windows_share_what_memory_there_is() {
    fn check(count: u32, expected: u64) {
        let publishers = format!("count = {count},");
        assert_eq!(checker(&FAN_OUT.replace("count = 2,", &publishers)).window, expected);
    }
    check(1, 1 << 20);
    check(1000, 1 << 16);
    check(16_000, 1 << 12);
}

/// Real runs are longer than the window, too: what is random here is the same in every test run.
#[test]
fn random_losses_and_duplicates_are_found() {
    let mut checker = checker(
        "queues = [{ name = \"q\" }]\npublishers = [{ queue = \"q\", count = 1000, channels = 1 }]\n\
         consumers = [{ queue = \"q\" }]",
    );
    let (mut random, mut lost, mut twice, mut late) = (7_u64, 0, 0, 0);
    let mut held: Vec<u64> = Vec::new();
    for sequence in 0..300_000_u64 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let first = u32::try_from(sequence).unwrap();
        let mut batch = vec![Observation::Accepted { publisher: 0, first, count: 1 }];
        match random % 1000 {
            0 => lost += 1,
            1 => {
                twice += 1;
                batch.extend([delivered(&checker, 0, 0, (0, sequence)); 2]);
            }
            2 => held.push(sequence),
            _ => batch.push(delivered(&checker, 0, 0, (0, sequence))),
        }
        if held.len() == 5 {
            batch.extend(held.drain(..).map(|old| {
                late += u64::from(old != sequence);
                delivered(&checker, 0, 0, (0, old))
            }));
        }
        checker.observe(&batch);
    }
    let sum = checker.finish(&[Some(0)]);
    lost += held.len() as u64;
    // Of those that were held, each comes behind the last message, or another that was held.
    assert_eq!((sum.lost, sum.duplicates, sum.not_judged), (lost, twice, 0), "{}", sum.sentence);
    assert!(sum.out_of_order >= late * 9 / 10 && sum.out_of_order <= late, "{}", sum.sentence);
}
