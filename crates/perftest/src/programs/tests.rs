//! Ways to start PerfTest, and the words that belong to it.

use super::call;
use crate::Program;

fn check(text: &str, words: &str) {
    check_with(text, words, &[]);
}

fn check_with(text: &str, words: &str, variables: &[(&str, &str)]) {
    let call = call(text, Program::PerfTest).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(call.words.join(" "), words, "{text}");
    let found: Vec<_> =
        call.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(found, variables, "{text}");
}

fn refused(text: &str, part: &str) {
    let error = call(text, Program::PerfTest).expect_err(text).to_string();
    assert!(error.contains(part), "{text}: {error}");
}

#[test]
fn the_program_is_the_first_word() {
    check("", "");
    check("-x 1 -u perf-test", "-x 1 -u perf-test");
    check("perf-test -x 1", "-x 1");
    check("./perf-test_linux_x86_64 -x 1", "-x 1");
    check("rabbitmq-perf-test -x 50 -r 10 -u perf-test", "-x 50 -r 10 -u perf-test");
    check("scripts/PerfTest -x 1", "-x 1");
    refused("sing", "`sing` begins with no option");
    refused("app --name perf-test -x 1", "`app` begins");
    refused("echo perf-test -x 1", "`echo` begins");
    refused("stream-perf-test -x 1", "Stream PerfTest");
    refused("perf-tests -x 1", "`perf-tests` begins");
}

#[test]
fn java_starts_a_jar_or_a_class() {
    check("java -jar perf-test.jar -x 1", "-x 1");
    check("java -Xmx1g -jar /opt/perf-test-2.22.1.jar -u q -d perf-test", "-u q -d perf-test");
    check("java -Dlogback.configurationFile=/l.xml -jar perf-test-latest.jar", "");
    check("java -cp 'lib/*:perf-test.jar' com.rabbitmq.perf.PerfTest -x 1", "-x 1");
    check("/usr/bin/java --add-opens a/b=c -cp perf-test com.rabbitmq.perf.PerfTest -x 1", "-x 1");
    check("bin/runjava com.rabbitmq.perf.PerfTest -qp perf-test-%d", "-qp perf-test-%d");
    check("sh bin/runjava com.rabbitmq.perf.PerfTest -x 1", "-x 1");
    refused("java -jar app.jar -x 1", "`app.jar` is not known");
    refused("java -jar stream-perf-test.jar -x 1", "Stream PerfTest");
    refused("java -cp perf-test.jar com.example.Main -x 1", "`java` begins");
    refused("bin/runjava com.rabbitmq.perf.PerfTestMulti in.json out.json", "JSON file");
    refused("java -cp perf-test.jar com.rabbitmq.perf.PerfTestMulti in.json out.json", "JSON file");
}

#[test]
fn containers_have_options_of_their_own() {
    check("docker run -it --rm pivotalrabbitmq/perf-test:latest -u q", "-u q");
    check(
        "docker run -ti --rm --network perf-test --name perf-test pivotalrabbitmq/perf-test -x 1",
        "-x 1",
    );
    check(
        "docker -H tcp://h:1 container run --rm -p8080:8080 -v /a:/b me/rabbit:perftest -x 1",
        "-x 1",
    );
    let both = [("PRODUCERS", "3"), ("URI", "amqp://u:p@h")];
    check_with(
        "docker run --network perf-test -e PRODUCERS=3 --env=URI=amqp://u:p@h pivotalrabbitmq/perf-test:2.22 -x 1",
        "-x 1",
        &both,
    );
    check_with("podman run -itePRODUCERS=3 localhost/perf-test@sha256:aa -x 1", "-x 1", &both[..1]);
    check_with(
        "A=b nerdctl run --rm -e 'PRODUCERS=3' registry:5000/perf-test:1 -x 1",
        "-x 1",
        &both[..1],
    );
    check("docker run --entrypoint java img -jar /perf_test/perf-test.jar -x 1", "-x 1");
    check("docker run openjdk:17 java -jar perf-test.jar -x 1", "-x 1");
    check("docker exec -it rabbit perf-test -x 1", "-x 1");
    check("sudo -E docker run --rm perf-test -x 1", "-x 1");
    refused("docker run --sing song perf-test -x 1", "--sing of docker run");
    refused("docker run -e URI perf-test -x 1", "-e URI=VALUE");
    refused("docker run rabbitmq:4 -x 1", "`rabbitmq:4` is not known");
    refused("docker run pivotalrabbitmq/stream-perf-test -x 1", "Stream PerfTest");
    refused("docker compose run perf-test -x 1", "docker compose");
    let call = call("docker run --env-file my.env perf-test -x 1", Program::PerfTest).unwrap();
    assert!(call.notes[0].contains("my.env"), "{call:?}");
}

#[test]
fn kubectl_has_its_words_before_two_dashes() {
    let image = "--image=pivotalrabbitmq/perf-test";
    check(&format!("kubectl run perf-test {image} -- --uri amqp://h -x 1"), "--uri amqp://h -x 1");
    check(&format!("kubectl -n perf-test run -it --rm p {image} --restart=Never -- -x 1"), "-x 1");
    let variable = [("PRODUCERS", "3")];
    check_with(&format!("kubectl run p {image} --env PRODUCERS=3 -- -x 1"), "-x 1", &variable);
    check_with("kubectl run p --image perf-test --env=PRODUCERS=3 -- -x 1", "-x 1", &variable);
    check(&format!("kubectl run p {image} --command -- java -jar perf-test.jar -x 1"), "-x 1");
    check(
        "kubectl exec -it pod -c perf-test -- bin/runjava com.rabbitmq.perf.PerfTest -x 1",
        "-x 1",
    );
    refused(&format!("kubectl run perf-test {image} -x 1"), "follow `--`");
    refused("kubectl exec pod -- rabbitmqctl status", "`kubectl` begins");
}

#[test]
fn a_shell_ends_the_words() {
    check("perf-test -x 1 2>&1 | tee -a log", "-x 1");
    check("-x 1 | tail -2", "-x 1");
    check("for i in 1 2; do perf-test -x 1; done", "-x 1");
    check("cd /opt && java -jar perf-test.jar -x 1 > /dev/null &", "-x 1");
    check("perf-test -x 1 \\\n  -y 2 \\\n  -u 'a|b;c'", "-x 1 -y 2 -u a|b;c");
    check("$ perf-test -x 1 # four", "-x 1");
    check("bash -c \"perf-test -x 1 | cat\"", "-x 1");
    check_with("URI=amqp://h X='y z' perf-test -x 1", "-x 1", &[("URI", "amqp://h"), ("X", "y z")]);
    check_with("export URI=amqp://h; perf-test -x 1", "-x 1", &[("URI", "amqp://h")]);
    check_with("env -i A=b PRODUCERS=3 perf-test -x 1", "-x 1", &[("A", "b"), ("PRODUCERS", "3")]);
    refused("perf-test -x 1\n-y 2", "backslash");
    refused("perf-test -x 1 \\ \n  -y 2", "backslash");
    refused("perf-test -x 1 & perf-test -y 1", "more than once");
    refused("perf-test -h amqp://$HOST", "`$HOST` is not replaced");
    refused("URI=$URI perf-test -x 1", "`$URI` is not replaced");
    refused("perf-test -x \"$(nproc)\"", "`$(nproc)` is not replaced");
    check("cd $HOME; perf-test -u '$HOST'", "-u $HOST");
}

#[test]
fn wrappers_stand_before_a_program() {
    check("sudo -u rabbit nohup nice -n 5 time -p perf-test -x 1", "-x 1");
    check("exec taskset -c 0,1 stdbuf -oL perf-test -x 1", "-x 1");
    check_with("sudo URI=amqp://h perf-test -x 1", "-x 1", &[("URI", "amqp://h")]);
    refused("sudo true", "`sudo` begins");
}

#[test]
fn builds_have_them_in_a_value() {
    let class = "-Dexec.mainClass=com.rabbitmq.perf.PerfTest";
    check(&format!("mvn -q exec:java {class} -Dexec.args=\"-x 1 -u 'a b'\""), "-x 1 -u a b");
    check(&format!("./mvnw exec:java {class}"), "");
    check("make run ARGS=\"-x 1 -y 2 -r 1\"", "-x 1 -y 2 -r 1");
    check("make -C perf run ARGS='-u q'", "-u q");
    check_with("ARGS='-x 1' make run", "-x 1", &[("ARGS", "-x 1")]);
    refused(
        "mvn exec:java -Dexec.mainClass=com.rabbitmq.perf.PerfTestMulti -Dexec.args=\"a b\"",
        "JSON",
    );
    refused("mvn test -Dexec.args=-x", "`mvn` begins");
    refused("make binary", "`make` begins");
}

#[test]
fn a_time_limit_is_kept() {
    fn check(text: &str, seconds: Option<u64>) {
        assert_eq!(call(text, Program::PerfTest).unwrap().seconds, seconds, "{text}");
    }
    check("timeout 60 perf-test -x 1", Some(60));
    check("timeout -k 5 --signal=INT 1.5m perf-test -x 1", Some(90));
    check("timeout 0 perf-test -x 1", None);
    refused("timeout soon perf-test -x 1", "`soon` is no duration");
}
