//! The same messages to and from Qpid Proton, a client of another project.

use rabbitscope_testing::{
    OtherClient, Workbench, count,
    scenario::{Queue, Scenario},
};

use super::{broker, consumers, publishers};

/// A package of the Python Package Index.
const PROTON: &str = "python-qpid-proton==0.40.0";

/// A name with characters that have a meaning in addresses.
const NAME: &str = "pr/obe % of ü";

/// Returns the other client; `None` with a note if it cannot be had.
pub(super) fn proton(bench: &Workbench) -> Option<OtherClient<'_>> {
    OtherClient::of_package(bench, PROTON, "amqp10/interoperation.py", (broker(), "amqp"))
}

#[test]
fn proton_reads_what_is_written_and_writes_what_is_read() {
    let bench = Workbench::new("amqp10-proton");
    let Some(client) = proton(&bench) else { return };
    for (queue, size, messages) in [(NAME, 700, 10_000), ("large", 300_000, 20)] {
        let write = Scenario::new("amqp10-write")
            .queues(Queue::new(queue).keep(true))
            .publishers(
                publishers(queue)
                    .messages(messages)
                    .size(format!("{size}B"))
                    .persistent(true)
                    .confirm_window(300),
            )
            .duration("60s");
        bench.run_on(broker(), write, "").code(0);
        let read = client.run(&["read", queue, &messages.to_string()]);
        assert_eq!(read["sizes"], serde_json::json!([size]));
        assert_eq!((&read["numbers"], &read["rest"]), (&true.into(), &true.into()), "{read}");
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    }
    rabbitscope_testing::declare_queue(broker(), "theirs");
    let written = client.run(&["write", "theirs"]);
    let messages = written["messages"].as_u64().unwrap();
    let ours = Scenario::new("amqp10-read")
        .queues(Queue::new("theirs").predeclared(true))
        .consumers(consumers("theirs").messages(i64::try_from(messages).unwrap()))
        .duration("60s");
    bench.run_on(broker(), ours, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "consumed"), messages);
    assert_eq!(count(&run, "consumed-item-bytes"), written["bytes"].as_u64().unwrap());
}
