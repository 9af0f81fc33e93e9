//! TLS, certificates, tokens and anonymous logins.

use std::fs;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Ends as _, Workbench, add_user, broker_with, count, free_port, permit, port_of,
    scenario::Scenario, tls_listener, token, trust_tokens,
};

/// A protocol with its logins.
pub(crate) struct Logins {
    /// The broker's plugins.
    pub(crate) plugins: &'static [&'static str],
    /// Listener of its own, whose port a URI names as `LISTENER_port`.
    pub(crate) listener: Option<&'static str>,
    /// Lines of the broker's configuration for its own port of TLS.
    pub(crate) tls: &'static str,
    /// Publishers and consumers of 2,000 messages.
    pub(crate) load: fn() -> Scenario,
}

impl Logins {
    fn plugins(&self) -> Vec<String> {
        self.plugins.iter().map(|plugin| (*plugin).to_owned()).collect()
    }

    /// Returns a scenario whose section of the broker has these lines.
    fn scenario(&self, broker: &str) -> Scenario {
        (self.load)().verify(true).duration("30s").text(&format!("[broker]\n{broker}\n"))
    }

    /// Runs a scenario.
    fn run(&self, bench: &Workbench, broker: &str) -> Ended {
        bench.file("s.toml", self.scenario(broker));
        let _ = fs::remove_dir_all(bench.path("out"));
        bench.rabbitscope("run s.toml --out out")
    }

    /// Runs a scenario whose messages all arrive.
    fn succeed(&self, bench: &Workbench, broker: &str) {
        let text = self.run(bench, broker).code(0).stdout;
        assert!(text.contains("Of 2000 accepted messages 0 lost, 0 duplicates"), "{text}");
        let run = bench.json("out/run.json");
        assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (2000, 2000));
    }

    /// Returns the URI of a broker without a login.
    fn uri(&self, broker: &Broker) -> String {
        let port = |listener| format!("?{listener}_port={}", port_of(broker, listener));
        format!("amqp://{}{}", broker.address(), self.listener.map(port).unwrap_or_default())
    }

    /// Checks that TLS is checked, and that certificates log in.
    pub(crate) fn check_certificates(&self) {
        let bench = Workbench::new("protocols-tls");
        let ((listener, port), own_port) = (tls_listener(&bench.directory), free_port());
        let tls = self.tls.replace("PORT", &own_port.to_string());
        let broker = broker_with(|spec| {
            spec.plugins = self.plugins();
            spec.plugins.push("rabbitmq_auth_mechanism_ssl".to_owned());
            spec.config = format!(
                "{listener}ssl_cert_login_from = common_name\nauth_mechanisms.1 = PLAIN\n\
                 auth_mechanisms.2 = EXTERNAL\n{tls}"
            );
        });
        add_user(&broker, "client", "p");
        permit(&broker, "client", [".*"; 3]);
        let (user, password) = broker.login();
        let parameter = self.listener.map(|listener| format!("?{listener}_port={own_port}"));
        let at = format!("127.0.0.1:{port}{}", parameter.unwrap_or_default());
        let known = format!("uri = \"amqps://{user}:{password}@{at}\"");
        let own = "[broker.tls]\nca = \"own-ca.pem\"\nserver-name = \"broker.test\"";
        self.succeed(&bench, &format!("{known}\n{own}"));
        let client = "cert = \"own-client.pem\"\nkey = \"own-client-key.pem\"";
        let external = format!("uri = \"amqps://{at}\"\nauth = \"external\"\n{own}\n{client}");
        self.succeed(&bench, &external);
        self.run(&bench, &known).code(5).says(&["UnknownIssuer"]);
    }

    /// Checks the login by a token. Brokers that refuse it say `refusal`.
    pub(crate) fn check_token(&self, refusal: Option<&str>) {
        let bench = Workbench::new("protocols-token");
        let broker = self.trusting_broker();
        let token = token(&broker, 600);
        bench.file("token", &token);
        let uri = self.uri(&broker);
        let login = format!("uri = \"{uri}\"\nauth = \"token\"\ntoken-file = \"token\"");
        match refusal {
            None => {
                self.succeed(&bench, &login);
                assert!(bench.files_with("out", &token).is_empty(), "it is in no record");
            }
            Some(words) => drop(self.run(&bench, &login).code(1).says(&[words])),
        }
    }

    /// Replaces the token of a load, which expires while 200 messages a second go on: first by one that the broker does not
    /// take. No connection is lost. Returns the broker, whose connections of the load took `renewed` new tokens.
    pub(crate) fn check_renewal(&self, load: Scenario, renewed: u64) -> Broker {
        let bench = Workbench::new("protocols-renewal");
        let broker = self.trusting_broker();
        let login = format!(
            "[broker]\nuri = \"{}\"\nauth = \"token\"\ntoken-file = \"token\"\nrecovery = true\n",
            self.uri(&broker)
        );
        bench.file("s.toml", load.verify(true).duration("16s").text(&login));
        bench.file("token", token(&broker, 12));
        let replace = |token: &str| {
            fs::write(bench.path("next"), token).unwrap();
            fs::rename(bench.path("next"), bench.path("token")).unwrap();
        };
        let running = bench.start("run s.toml --out out");
        bench.await_seconds("out", 1);
        replace("forged");
        bench.await_seconds("out", 4);
        let second = token(&broker, 600);
        replace(&second);
        let text = running.ended().code(0).stdout;
        assert!(text.contains(" 0 lost, 0 duplicates, 0 out of order"), "{text}");
        let run = bench.json("out/run.json");
        assert_eq!(count(&run, "reconnects"), 0, "{text}");
        assert_eq!(count(&run, "token-renewals"), renewed, "{text}");
        assert!(count(&run, "consumed") > 3000, "{text}");
        let errors = run["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!((&errors[0]["kind"], &errors[0]["count"]), (&"token-refused".into(), &1.into()));
        assert!(bench.files_with("out", &second).is_empty(), "it is in no record");
        broker
    }

    /// Returns a broker that trusts tokens.
    fn trusting_broker(&self) -> Broker {
        broker_with(|spec| {
            spec.plugins = self.plugins();
            trust_tokens(spec);
        })
    }

    /// Checks the login without a name. From 4.0 on a broker can name the user of those who give none, also for the
    /// connection that declares queues.
    pub(crate) fn check_anonymous(&self, has_setting: bool) {
        let bench = Workbench::new("protocols-anonymous");
        let keys = "anonymous_login_user = nobody\nanonymous_login_pass = n\n";
        let broker = broker_with(|spec| {
            spec.plugins = self.plugins();
            if has_setting {
                keys.clone_into(&mut spec.config);
            }
        });
        add_user(&broker, "nobody", "n");
        permit(&broker, "nobody", [".*"; 3]);
        let login = format!("uri = \"{}\"\nauth = \"anonymous\"", self.uri(&broker));
        if has_setting {
            self.succeed(&bench, &login);
        } else {
            self.run(&bench, &login).code(5).says(&["offers the login mechanisms", "ANONYMOUS"]);
        }
    }
}
