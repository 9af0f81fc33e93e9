//! PerfTest in a container: `docker` and similar programs, `kubectl`.

use super::{
    flags::{self, Flags},
    found::{Call, Step, Stepped, assign, finish, refused},
    names::{self, Name},
    shell::Word,
};
use crate::{PerfTestError, arguments::is_variable};

/// Options before the subcommand.
const GLOBAL: Flags = Flags {
    valued: &[
        "-H",
        "--host",
        "-c",
        "--context",
        "--config",
        "-l",
        "--log-level",
        "--tlscacert",
        "--tlscert",
        "--tlskey",
        "-n",
        "--namespace",
        "-a",
        "--address",
        "--root",
        "--runroot",
        "--url",
        "--connection",
        "--identity",
        "--storage-driver",
        "--storage-opt",
        "--cgroup-manager",
    ],
    plain: &[],
};

/// Options of `docker run`, `podman run`, `nerdctl run`.
const RUN: Flags = Flags {
    valued: &[
        "-a",
        "-c",
        "-e",
        "-h",
        "-l",
        "-m",
        "-p",
        "-u",
        "-v",
        "-w",
        "--add-host",
        "--annotation",
        "--arch",
        "--attach",
        "--authfile",
        "--blkio-weight",
        "--blkio-weight-device",
        "--cap-add",
        "--cap-drop",
        "--cgroup-conf",
        "--cgroup-parent",
        "--cgroupns",
        "--cgroups",
        "--chrootdirs",
        "--cidfile",
        "--conmon-pidfile",
        "--cpu-count",
        "--cpu-percent",
        "--cpu-period",
        "--cpu-quota",
        "--cpu-rt-period",
        "--cpu-rt-runtime",
        "--cpu-shares",
        "--cpus",
        "--cpuset-cpus",
        "--cpuset-mems",
        "--creds",
        "--decryption-key",
        "--detach-keys",
        "--device",
        "--device-cgroup-rule",
        "--device-read-bps",
        "--device-read-iops",
        "--device-write-bps",
        "--device-write-iops",
        "--dns",
        "--dns-opt",
        "--dns-option",
        "--dns-search",
        "--domainname",
        "--entrypoint",
        "--env",
        "--env-file",
        "--env-merge",
        "--expose",
        "--gidmap",
        "--gpus",
        "--group-add",
        "--group-entry",
        "--health-cmd",
        "--health-interval",
        "--health-retries",
        "--health-start-interval",
        "--health-start-period",
        "--health-timeout",
        "--hooks-dir",
        "--hostname",
        "--hostuser",
        "--image-volume",
        "--init-path",
        "--io-maxbandwidth",
        "--io-maxiops",
        "--ip",
        "--ip6",
        "--ipc",
        "--isolation",
        "--kernel-memory",
        "--label",
        "--label-file",
        "--link",
        "--link-local-ip",
        "--log-driver",
        "--log-opt",
        "--mac-address",
        "--memory",
        "--memory-reservation",
        "--memory-swap",
        "--memory-swappiness",
        "--mount",
        "--name",
        "--net",
        "--net-alias",
        "--network",
        "--network-alias",
        "--oom-score-adj",
        "--os",
        "--personality",
        "--pid",
        "--pidfile",
        "--pids-limit",
        "--platform",
        "--pod",
        "--pod-id-file",
        "--preserve-fds",
        "--publish",
        "--pull",
        "--requires",
        "--restart",
        "--runtime",
        "--sdnotify",
        "--seccomp-policy",
        "--secret",
        "--security-opt",
        "--shm-size",
        "--stop-signal",
        "--stop-timeout",
        "--storage-opt",
        "--subgidname",
        "--subuidname",
        "--sysctl",
        "--systemd",
        "--timeout",
        "--tmpfs",
        "--tz",
        "--uidmap",
        "--ulimit",
        "--umask",
        "--unsetenv",
        "--user",
        "--userns",
        "--uts",
        "--variant",
        "--volume",
        "--volume-driver",
        "--volumes-from",
        "--workdir",
    ],
    plain: &[
        "-d",
        "-i",
        "-t",
        "-P",
        "-q",
        "--detach",
        "--disable-content-trust",
        "--env-host",
        "--http-proxy",
        "--init",
        "--interactive",
        "--no-healthcheck",
        "--no-hostname",
        "--no-hosts",
        "--oom-kill-disable",
        "--passwd",
        "--privileged",
        "--publish-all",
        "--quiet",
        "--read-only",
        "--read-only-tmpfs",
        "--replace",
        "--rm",
        "--rmi",
        "--rootfs",
        "--sig-proxy",
        "--tls-verify",
        "--tty",
        "--unsetenv-all",
        "--use-api-socket",
    ],
};

/// Options of `docker exec`.
const EXEC: Flags = Flags {
    valued: &["-e", "-u", "-w", "--env", "--env-file", "--user", "--workdir", "--detach-keys"],
    plain: &["-d", "-i", "-t", "--detach", "--interactive", "--tty", "--privileged"],
};

/// Resolves `docker run [options] image words` and `docker exec [options] container command`.
pub(super) fn container(words: &[Word], mut call: Call) -> Stepped {
    let (_, mut rest) = flags::split("docker", words, &GLOBAL)?;
    if rest.first().is_some_and(|word| word.text == "container") {
        rest = &rest[1..];
    }
    let Some((verb, rest)) = rest.split_first() else { return Ok(Step::Other) };
    let flags = match verb.text.as_str() {
        "run" | "create" => &RUN,
        "exec" => &EXEC,
        "compose" => {
            return Err(refused("docker compose: give only PerfTest's words"));
        }
        _ => return Ok(Step::Other),
    };
    let (found, rest) = flags::split(&format!("docker {}", verb.text), rest, flags)?;
    // Variables outside the container are not visible in it.
    call.environment.clear();
    variables(&found, &mut call)?;
    let Some((image, rest)) = rest.split_first() else { return Ok(Step::Other) };
    let value = |name: &str| found.iter().rfind(|(known, _)| known == name)?.1.clone();
    let entry = value("--entrypoint");
    match (verb.text.as_str(), entry) {
        ("exec", _) => Ok(Step::command(rest, call)),
        (_, Some(entry)) => {
            let words: Vec<_> = [entry].into_iter().chain(rest.iter().cloned()).collect();
            Ok(Step::command(&words, call))
        }
        _ => in_image(&image.text, rest, call),
    }
}

fn in_image(image: &str, words: &[Word], call: Call) -> Stepped {
    let found = match names::for_image(image) {
        Name::Multi => Name::PerfTest,
        name => name,
    };
    if names::is_wanted(found, call.program)? {
        return finish(words, call).map(Step::Found);
    }
    let has_options = words.iter().any(|word| word.text.starts_with('-'));
    let program = call.program;
    let otherwise = has_options.then(|| {
        refused(&format!(
            "`{image}` is not known as an image of {} (`pivotalrabbitmq/{}`): if it is one, give only the words after \
             it",
            program.name(),
            program.file()
        ))
    });
    Ok(Step::Command { words: words.to_vec(), call, otherwise })
}

/// Adds the variables of `-e NAME=value`, `--env NAME` and `--env-file FILE`.
fn variables(found: &[(String, Option<Word>)], call: &mut Call) -> Result<(), PerfTestError> {
    for (option, value) in found {
        let Some(value) = value else { continue };
        match option.as_str() {
            "-e" | "--env" if value.text.contains('=') => assign(value, call)?,
            "-e" | "--env" if is_variable(&value.text) => {
                let name = &value.text;
                let reason = format!("{option} {name} takes a value from the environment");
                return Err(refused(&format!("{reason}: write {option} {name}=VALUE")));
            }
            "--env-file" => call.notes.push(format!(
                "--env-file {} is not read: give its options on the command line",
                value.text
            )),
            _ => {}
        }
    }
    Ok(())
}

/// Resolves `kubectl run NAME --image=… -- words` and `kubectl exec POD -- command`.
pub(super) fn kubectl(words: &[Word], mut call: Call) -> Stepped {
    let dashes = words.iter().position(|word| word.text == "--").unwrap_or(words.len());
    let (own, rest) = words.split_at(dashes);
    let verb =
        own.iter().find(|word| ["run", "exec", "create", "debug"].contains(&word.text.as_str()));
    let Some(verb) = verb else { return Ok(Step::Other) };
    let Some(rest) = rest.get(1..) else {
        return Err(refused("kubectl: PerfTest's words follow `--`, which is missing"));
    };
    call.environment.clear();
    let option = |index: usize, name: &str| {
        let word = &own[index];
        match word.text.strip_prefix(name)? {
            "" => own.get(index + 1).cloned(),
            value => Some(word.part(value.strip_prefix('=')?)),
        }
    };
    let all =
        |name: &str| (0..own.len()).filter_map(|index| option(index, name)).collect::<Vec<_>>();
    for variable in all("--env") {
        assign(&variable, &mut call)?;
    }
    let is_command =
        own.iter().any(|word| ["--command", "--command=true"].contains(&word.text.as_str()));
    match all("--image").first() {
        Some(image) if verb.text == "run" && !is_command => in_image(&image.text, rest, call),
        _ => Ok(Step::command(rest, call)),
    }
}
