//! The same messages to and from Qpid Proton, a client of another project.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rabbitscope_testing::{
    Workbench, count, environment, not_run, port_of,
    scenario::{Queue, Scenario},
};
use serde_json::Value;

use super::{broker, consumers, publishers};

/// A package of the Python Package Index.
const PROTON: &str = "python-qpid-proton==0.40.0";

/// A name with characters that have a meaning in addresses.
const NAME: &str = "pr/obe % of ü";

/// Returns the interpreter with the other client; `None` with a note if it cannot be had. It is in `place`.
pub(super) fn proton(place: &Path) -> Option<PathBuf> {
    match environment(place, PROTON) {
        Ok(python) => Some(python),
        Err(reason) => {
            not_run(&reason);
            None
        }
    }
}

/// Runs the other client to its end.
pub(super) fn client(bench: &Workbench, python: &Path, arguments: &[&str]) -> Value {
    let script = format!("{}/tests/it/amqp10/interoperation.py", env!("CARGO_MANIFEST_DIR"));
    let (user, password) = broker().login();
    let mut command = Command::new("timeout");
    command.arg("70").arg(python).arg(script).arg(port_of(broker(), "amqp").to_string());
    command.args(arguments).env("BROKER_USER", user).env("BROKER_PASSWORD", password);
    let output = command.stdin(Stdio::null()).current_dir(&bench.directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn proton_reads_what_is_written_and_writes_what_is_read() {
    let place = tempfile::tempdir().unwrap();
    let Some(python) = proton(place.path()) else { return };
    let bench = Workbench::new("amqp10-proton");
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
        let read = client(&bench, &python, &["read", queue, &messages.to_string()]);
        assert_eq!(read["sizes"], serde_json::json!([size]));
        assert_eq!((&read["numbers"], &read["rest"]), (&true.into(), &true.into()), "{read}");
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    }
    rabbitscope_testing::declare_queue(broker(), "theirs");
    let written = client(&bench, &python, &["write", "theirs"]);
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
