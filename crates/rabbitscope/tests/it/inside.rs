//! The broker's plugin.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;

use crate::plugin::built_plugin;
use crate::workbench::{Workbench, basic_authentication};

fn request(port: u16, path: &str, credentials: Option<&str>) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let authorization =
        credentials.map_or_else(String::new, |login| format!("Authorization: Basic {login}\r\n"));
    write!(stream, "GET {path} HTTP/1.1\r\nHost: h\r\n{authorization}Connection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[test]
fn the_plugin_serves_the_brokers_own_users() {
    let bench = Workbench::new("plugin");
    let archive = built_plugin(&bench).display().to_string();
    let name = archive.rsplit('/').next().unwrap().trim_end_matches(".ez").to_owned();

    let spec = ThrowawayBroker {
        plugins: vec!["rabbitmq_management".to_owned()],
        ..ThrowawayBroker::default()
    };
    let broker = Broker::start(&spec, &bench.path("broker.log")).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
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
