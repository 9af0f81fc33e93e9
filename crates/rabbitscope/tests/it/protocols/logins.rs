//! TLS, certificates, tokens and anonymous logins.

use std::fs;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Workbench, add_user, broker_with, count, free_port, permit, port_of, scenario::Scenario,
    tls_listener, token, trust_tokens,
};

/// A protocol with its logins.
pub(crate) struct Logins {
    pub(crate) plugin: &'static str,
    /// Listener of its own, whose port a URI names as `LISTENER_port`.
    pub(crate) listener: Option<&'static str>,
    /// Lines of the broker's configuration for its own port of TLS.
    pub(crate) tls: &'static str,
    /// Publishers and consumers of 2,000 messages.
    pub(crate) load: fn() -> Scenario,
}

impl Logins {
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
            spec.plugins = [self.plugin, "rabbitmq_auth_mechanism_ssl"].map(str::to_owned).to_vec();
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

    /// Returns a broker that trusts tokens.
    fn trusting_broker(&self) -> Broker {
        broker_with(|spec| {
            spec.plugins.push(self.plugin.to_owned());
            trust_tokens(spec);
        })
    }

    /// Checks the login without a name. From 4.0 on a broker can name the user of those who give none, also for the
    /// connection that declares queues.
    pub(crate) fn check_anonymous(&self, has_setting: bool) {
        let bench = Workbench::new("protocols-anonymous");
        let keys = "anonymous_login_user = nobody\nanonymous_login_pass = n\n";
        let broker = broker_with(|spec| {
            spec.plugins.push(self.plugin.to_owned());
            if has_setting {
                spec.config = keys.to_owned();
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
