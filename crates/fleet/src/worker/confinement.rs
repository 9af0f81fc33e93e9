//! The limits of a scenario that came over the bus: it uses only the resources of this machine that the worker's user
//! named.
//!
//! The user of the worker names files, secrets and authorities; the bus only says which load to generate. All keys
//! that refer to the machine are in one list ([`Scenario::machine_uses`]). This module decides about each of them.

use rabbitscope_runs::scenario::{BrokerSpec, MachineUse, Reach, Scenario};

use super::options::WorkerOptions;

/// Decision about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    /// The key's value is used.
    Used,
    /// The worker's own options replace it, and its user is informed.
    Replaced,
    /// Only the controller acts on it.
    OfController,
    /// The scenario is refused.
    Refused,
}

/// Replaces the scenario's broker and login by the worker's own options, and removes the controller's parts. Returns
/// a sentence for the worker's user if anything was replaced. The error is a sentence for both users.
pub(super) fn confine(
    scenario: &mut Scenario,
    options: &WorkerOptions,
    uris: &[String],
) -> Result<Option<String>, String> {
    let uses = scenario.machine_uses();
    let decided = |wanted: Decision| -> Vec<&MachineUse> {
        uses.iter().filter(|one| decide(one.reach, options) == wanted).collect()
    };
    if let Some(refused) = decided(Decision::Refused).first() {
        return Err(refusal(refused, options));
    }
    let replaced = decided(Decision::Replaced);
    let note = (!replaced.is_empty()).then(|| {
        let keys: Vec<_> = replaced.iter().map(|one| format!("`{}`", one.key)).collect();
        format!(
            "the scenario's {} is not used: this worker's own options set the login to its broker and the trusted \
             certificates (`rabbitscope worker --help`)",
            keys.join(", ")
        )
    });
    if let Some(own) = &options.broker {
        (scenario.broker.connecting.auth, scenario.broker.connecting.tls) =
            (own.auth.clone(), own.tls.clone());
    }
    scenario.broker.spec = BrokerSpec::Existing { uris: uris.to_vec() };
    scenario.pollers.clear();
    scenario.faults.clear();
    (scenario.profile, scenario.packets) = (None, None);
    Ok(note)
}

fn decide(reach: Reach, options: &WorkerOptions) -> Decision {
    let is_own = options.broker.is_some();
    match reach {
        Reach::SentFile if options.files.is_some() => Decision::Used,
        Reach::Login | Reach::LoginFile if is_own => Decision::Replaced,
        // This login uses the password that the controller sends.
        Reach::Login => Decision::Used,
        Reach::SentFile | Reach::LoginFile | Reach::ListFile => Decision::Refused,
        Reach::Broker | Reach::Process | Reach::Poller | Reach::Recorder => Decision::OfController,
    }
}

fn refusal(refused: &MachineUse, options: &WorkerOptions) -> String {
    let key = &refused.key;
    match refused.reach {
        Reach::SentFile => format!(
            "the scenario's `{key}` sends files of this worker's machine: start the worker with --files DIR to allow \
             those below DIR"
        ),
        _ if options.broker.is_none() => format!(
            "the scenario's `{key}` names a file of this worker's machine, for a broker that the controller names: give \
             the worker the broker with --uri or RABBITSCOPE_URI and its own options such as --tls-ca or --token-file"
        ),
        _ => format!("the scenario's `{key}` names a file of this worker's machine: remove it"),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_amqp::Uri;
    use rabbitscope_files::SourceDirectory;
    use rabbitscope_runs::scenario::{self, Auth, Tls};
    use rabbitscope_topology::Dialer;

    use super::{super::options::OwnBroker, *};
    use crate::bus::BusAddress;

    fn options(has_broker: bool, has_files: bool) -> WorkerOptions {
        let bus = Dialer::to(Uri::parse("amqp://bus").unwrap());
        let own = OwnBroker {
            uri: "amqps://own".to_owned(),
            auth: Auth::Plain,
            tls: Tls { ca: Some("own.pem".to_owned()), ..Tls::default() },
        };
        WorkerOptions {
            bus: BusAddress::new(bus),
            fleet: "test".parse().unwrap(),
            index: None,
            broker: has_broker.then_some(own),
            files: has_files.then(|| SourceDirectory::open("/tmp".as_ref()).unwrap()),
            stays: false,
            version: String::new(),
        }
    }

    fn scenario(overrides: &[&str]) -> Scenario {
        let text = "name = \"s\"\nrun.duration = \"9s\"\nqueues = [{ name = \"q\" }]\npublishers = [{ queue = \"q\" }]\n";
        let overrides: Vec<_> = overrides.iter().map(|line| (*line).to_owned()).collect();
        scenario::parse(text, "test", &overrides).unwrap()
    }

    const LOGIN: [&str; 6] = [
        "broker.uri=amqps://theirs",
        "broker.auth=token",
        "broker.token-file=/etc/passwd",
        "broker.tls.cert=/etc/c",
        "broker.tls.key=/etc/k",
        "broker.tls.ca=/etc/ca",
    ];

    const UNCHECKED: [&str; 3] =
        ["broker.uri=amqps://theirs", "broker.tls.verify=false", "broker.tls.server-name=n"];

    #[test]
    fn its_own_broker_is_reached_as_its_own_user_says() {
        for overrides in [&LOGIN[..], &UNCHECKED[..]] {
            let mut scenario = scenario(overrides);
            let options = options(true, false);
            let own = options.broker.clone().unwrap();
            let note = confine(&mut scenario, &options, &[own.uri]).unwrap().unwrap();
            assert_eq!(
                (scenario.broker.connecting.auth, scenario.broker.connecting.tls),
                (own.auth, own.tls)
            );
            let named: Vec<_> = overrides[1..].iter().map(|line| line.split('=').next()).collect();
            assert!(named.iter().all(|key| note.contains(key.unwrap())), "{note}");
        }
        let plain = confine(&mut scenario(&[]), &options(true, false), &[]).unwrap();
        assert_eq!(plain, None, "nothing to say");
    }

    #[test]
    fn for_a_broker_of_the_controller_no_file_of_this_machine_is_opened() {
        let cases: [(&str, &[&str]); 3] = [
            ("token-file", &LOGIN[..3]),
            ("cert", &[LOGIN[0], LOGIN[3], LOGIN[4]]),
            ("ca", &[LOGIN[0], LOGIN[5]]),
        ];
        for (key, overrides) in cases {
            let mut scenario = scenario(overrides);
            let refused = confine(&mut scenario, &options(false, true), &[]).unwrap_err();
            assert!(refused.contains(key) && refused.contains("--uri"), "{refused}");
        }
        let mut unchecked = scenario(&UNCHECKED);
        let uris = ["amqps://theirs".to_owned()];
        assert_eq!(confine(&mut unchecked, &options(false, false), &uris), Ok(None));
        assert!(!unchecked.broker.connecting.tls.verify, "it is the controller's password");
    }

    #[test]
    fn files_are_sent_with_consent_only() {
        let bodies = ["publishers.0.body-files=[\"b\"]"];
        for has_broker in [true, false] {
            let refused = confine(&mut scenario(&bodies), &options(has_broker, false), &[]);
            let refused = refused.unwrap_err();
            assert!(refused.contains("publishers.0.body-files"), "{refused}");
            assert!(refused.contains("--files DIR"), "{refused}");
            let allowed = confine(&mut scenario(&bodies), &options(has_broker, true), &[]);
            assert_eq!(allowed, Ok(None));
        }
    }

    /// Parts of the controller start, poll and record nothing on a worker.
    #[test]
    fn what_is_the_controllers_is_taken_out() {
        let everything = [
            "broker.plugins=[\"rabbitmq_management\"]",
            "broker.plugins-directory=/d",
            "broker.erl-args=-eval x",
            "broker.config=c",
            "broker.advanced-config=[].",
            "broker.environment.A=b",
            "broker.root=/r",
            "pollers=[{ url = \"http://h/\", user = \"u\", password-file = \"/etc/p\" }]",
            "profile.duration=1s",
            "packets.duration=1s",
            "faults=[{ kind = \"kill\", at = \"1s\" }]",
        ];
        for has_broker in [true, false] {
            let mut scenario = scenario(&everything);
            let uris = ["amqps://a".to_owned()];
            assert_eq!(confine(&mut scenario, &options(has_broker, false), &uris), Ok(None));
            let left = scenario.machine_uses();
            let own = |one: &MachineUse| {
                one.reach == Reach::Broker || has_broker && one.key == "broker.tls.ca"
            };
            assert!(left.iter().all(own), "{left:?}");
        }
    }
}
