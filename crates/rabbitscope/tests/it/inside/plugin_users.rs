//! The broker's plugin.

use rabbitscope_testing::{Workbench, basic_authentication, broker_with, free_port, http};

use super::plugin::built_plugin;

fn request(port: u16, path: &str, credentials: Option<&str>) -> (u16, String) {
    let login = credentials.map(|login| format!("Authorization: Basic {login}\r\n"));
    let answer = http::get(("127.0.0.1", port), path, &login.unwrap_or_default());
    let (status, body) = http::parts(&answer);
    (status, body.to_owned())
}

#[test]
fn the_plugin_serves_the_brokers_own_users() {
    let bench = Workbench::new("plugin");
    let archive = built_plugin(&bench).display().to_string();
    let name = archive.rsplit('/').next().unwrap().trim_end_matches(".ez").to_owned();

    let broker = broker_with(|spec| spec.plugins = vec!["rabbitmq_management".to_owned()]);
    let port = free_port();
    let started = broker.eval(&format!(
        "code:add_patha(\"{archive}/{name}/ebin\"), ok = application:load(rabbitmq_queue_info), \
         ok = application:set_env(rabbitmq_queue_info, listener, \
          [{{ip, \"127.0.0.1\"}}, {{port, {port}}}]), \
         {{ok, _}} = application:ensure_all_started(rabbitmq_queue_info), \
         {{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, <<\"a \\\"b\\\"\">>), \
          true, false, [], none, <<\"guest\">>), ok"
    ));
    assert_eq!(started.unwrap(), "ok");

    let login = basic_authentication(&broker);
    let guest = Some(login.as_str());
    let (status, body) = request(port, "/queue-info", guest);
    let queues: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, queues.as_array().unwrap().len()), (200, 1), "{body}");
    assert_eq!(queues[0]["name"], "a \"b\"");
    assert_eq!(queues[0]["type"], "classic");
    assert_eq!(request(port, "/queue-info/%2F", guest).0, 200);
    assert_eq!(request(port, "/queue-info/nowhere", guest).0, 404);
    assert_eq!(request(port, "/queue-info", None).0, 401);
    assert_eq!(request(port, "/queue-info", Some("Z3Vlc3Q6d3Jvbmc=")).0, 401);
}
