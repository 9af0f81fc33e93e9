//! The plugin `rabbitmq_queue_info`, built and enabled on a broker: the view of each user.

use std::net::TcpStream;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    PUBLISH, Workbench, basic_authentication, broker_with, eventually, free_port, http, plant,
};
use serde_json::Value;

use super::plugin::built_plugin;

/// `limited:secret` in the form of basic authentication, as are the constants below. The user has the tag
/// `management` and permissions only on the virtual host `seen`.
const LIMITED: &str = "bGltaXRlZDpzZWNyZXQ=";
/// `untagged:secret`, with permissions but no tag.
const UNTAGGED: &str = "dW50YWdnZWQ6c2VjcmV0";
/// `limited:wrong`
const WRONG: &str = "bGltaXRlZDp3cm9uZw==";

const SET_UP: &str = "\
    [rabbit_vhost:add(VHost, <<\"guest\">>) || VHost <- [<<\"seen\">>, <<\"unseen\">>]], \
    [{new, _} = rabbit_amqqueue:declare(rabbit_misc:r(VHost, queue, Name), true, false, [], none, <<\"guest\">>) \
     || {VHost, Name} <- [{<<\"seen\">>, <<\"a\\\"b\">>}, {<<\"unseen\">>, <<\"secret-queue\">>}]], \
    [begin rabbit_auth_backend_internal:add_user(User, <<\"secret\">>, <<\"test\">>), \
       rabbit_auth_backend_internal:set_permissions(User, <<\"seen\">>, <<\".*\">>, <<\".*\">>, <<\".*\">>, <<\"test\">>) \
     end || User <- [<<\"limited\">>, <<\"untagged\">>]], \
    rabbit_auth_backend_internal:set_tags(<<\"limited\">>, [management], <<\"test\">>), \
    Publish(<<\"seen\">>, <<\"a\\\"b\">>, <<\"body\">>), \
    ok";

struct Plugin {
    port: u16,
    // Ends with the test.
    broker: Broker,
}

impl Plugin {
    fn start(bench: &Workbench) -> Self {
        let archive = built_plugin(bench);
        let port = free_port();
        let broker = broker_with(|spec| {
            spec.plugins = vec!["rabbitmq_queue_info".to_owned()];
            spec.plugins_directory = archive.parent().unwrap().display().to_string();
            spec.advanced_config = format!(
                "[{{rabbit, [{{collect_statistics_interval, 200}}]}}, \
                 {{rabbitmq_queue_info, [{{listener, [{{port, {port}}}]}}]}}]."
            );
        });
        Self { port, broker }
    }

    /// Returns status and body.
    fn get(&self, path: &str, credentials: &str) -> (u16, String) {
        let login = format!("Authorization: Basic {credentials}\r\n");
        let answer = http::get(("127.0.0.1", self.port), path, &login);
        let (status, body) = http::parts(&answer);
        (status, body.to_owned())
    }

    fn names(&self, path: &str, credentials: &str) -> Vec<String> {
        let (status, body) = self.get(path, credentials);
        assert_eq!(status, 200, "{path}: {body}");
        let queues: Vec<Value> = serde_json::from_str(&body).unwrap();
        let name = |queue: &Value| format!("{}/{}", queue["vhost"], queue["name"]);
        let mut names: Vec<String> = queues.iter().map(name).collect();
        names.sort();
        names
    }
}

#[test]
fn users_see_the_queues_of_the_virtual_hosts_that_they_may_use() {
    let bench = Workbench::new("queue-info");
    let plugin = Plugin::start(&bench);
    // All addresses that begin with 127 are this machine's, and only a listener on all addresses accepts them.
    let elsewhere = TcpStream::connect(("127.0.0.2", plugin.port));
    assert!(elsewhere.is_err(), "nobody said that other machines may ask");
    plant(&plugin.broker, &format!("Publish = {PUBLISH}, {SET_UP}"));
    let seen = r#""seen"/"a\"b""#;
    let unseen = r#""unseen"/"secret-queue""#;
    let administrator = basic_authentication(&plugin.broker);
    assert_eq!(plugin.names("/queue-info", &administrator), [seen, unseen]);
    assert_eq!(plugin.names("/queue-info/unseen", &administrator), [unseen]);
    assert_eq!(plugin.names("/queue-info", LIMITED), [seen]);
    assert_eq!(plugin.names("/queue-info/seen", LIMITED), [seen]);

    let check = |path: &str, credentials: &str, expected: u16| {
        let (status, body) = plugin.get(path, credentials);
        assert_eq!(status, expected, "{path}: {body}");
        assert!(!body.contains("secret-queue"), "{path}: {body}");
    };
    check("/queue-info/unseen", LIMITED, 404);
    check("/queue-info/no-such", LIMITED, 404);
    check("/queue-info/no-such", &administrator, 404);
    check("/queue-info", UNTAGGED, 403);
    check("/queue-info", WRONG, 401);
    check("/queue-info", "", 401);
    assert_eq!(
        plugin.get("/queue-info/unseen", LIMITED),
        plugin.get("/queue-info/no-such", LIMITED),
        "whether it exists is not said"
    );

    eventually("the queue has reported its message", || {
        let (_, body) = plugin.get("/queue-info/seen", LIMITED);
        let queues: Value = serde_json::from_str(&body).unwrap();
        queues[0]["ready"] == 1 && queues[0]["consumers"] == 0 && queues[0]["type"] == "classic"
    });
}
