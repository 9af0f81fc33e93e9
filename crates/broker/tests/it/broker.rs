//! Throwaway brokers: they serve, they are private, and they leave nothing.

use std::time::Instant;

use rabbitscope_broker::Broker;

#[test]
fn starts_and_stops() {
    let log = std::env::temp_dir().join("rabbitscope-starts-and-stops.log");
    let began = Instant::now();
    let broker =
        Broker::start(&rabbitscope_data::scenario::ThrowawayBroker::default(), &log).unwrap();
    println!("ready after {:?}", began.elapsed());
    assert_eq!(broker.eval("1 + 1").unwrap(), "2");
    println!("{}", broker.eval("rabbit:is_running().").unwrap());
    let directory = broker.directory.clone();
    let began = Instant::now();
    broker.stop();
    println!("gone after {:?}", began.elapsed());
    assert!(!directory.exists());
}
