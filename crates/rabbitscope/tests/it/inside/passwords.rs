//! Passwords of clients that log in during a look inside: nowhere in the output.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use rabbitscope_broker::{Broker, Installation};

use rabbitscope_testing::{
    Ends, Workbench, add_user, broker_with, encode_frame, evaluate, eventually, free_port, http,
    mqtt_client, node_options, permit, signal, with_length,
};
use rustix::process::Signal;

const USER: &str = "anna";

/// A broker with every kind of login, and clients that use them.
pub(crate) struct Logins {
    pub(crate) broker: Broker,
    mqtt: u16,
    stomp: u16,
    stream: u16,
    password: String,
}

impl Logins {
    pub(crate) fn start() -> Self {
        let [mqtt, stomp, stream] = [free_port(), free_port(), free_port()];
        let mut plugins = vec!["management", "mqtt", "stomp", "stream", "shovel_management"];
        // Since RabbitMQ 4.0 the broker itself speaks AMQP 1.0.
        if Installation::find().unwrap().has_plugin("rabbitmq_amqp1_0") {
            plugins.push("amqp1_0");
        }
        let broker = broker_with(|spec| {
            spec.plugins = plugins.iter().map(|name| format!("rabbitmq_{name}")).collect();
            spec.config = format!(
                "mqtt.listeners.tcp.1 = 127.0.0.1:{mqtt}\nstomp.listeners.tcp.1 = 127.0.0.1:{stomp}\n\
                 stream.listeners.tcp.1 = 127.0.0.1:{stream}\n"
            );
        });
        let password = random_password();
        add_user(&broker, USER, &password);
        let tags = "rabbit_auth_backend_internal:set_tags";
        evaluate(&broker, &format!("{tags}(<<\"{USER}\">>, [administrator], <<\"t\">>)"));
        permit(&broker, USER, [".*"; 3]);
        Self { broker, mqtt, stomp, stream, password }
    }

    /// Returns a lasting connection per protocol; the second is MQTT's.
    pub(crate) fn connections(&self) -> [TcpStream; 4] {
        let plain = self.plain();
        [
            self.amqp("PLAIN", plain.as_bytes()),
            self.mqtt(),
            self.stomp(),
            self.stream(plain.as_bytes()),
        ]
    }

    /// Returns the ports of MQTT, STOMP and the stream protocol.
    pub(crate) fn ports(&self) -> [u16; 3] {
        [self.mqtt, self.stomp, self.stream]
    }

    /// Returns the answer to a challenge of SASL's PLAIN.
    fn plain(&self) -> String {
        format!("\0{USER}\0{}", self.password)
    }

    /// Uses every kind of login once.
    fn log_in(&self) {
        drop(self.connections());
        let field = |key: &str, value: &str| {
            [
                &[u8::try_from(key.len()).unwrap()],
                key.as_bytes(),
                b"S",
                &with_length(value.as_bytes()),
            ]
            .concat()
        };
        self.amqp("AMQPLAIN", &[field("LOGIN", USER), field("PASSWORD", &self.password)].concat());
        self.management();
    }

    fn amqp(&self, mechanism: &str, response: &[u8]) -> TcpStream {
        let mut stream = connect(self.broker.address().port());
        stream.write_all(b"AMQP\x00\x00\x09\x01").unwrap();
        assert_eq!(read_some(&mut stream)[0], 1);
        let method = [
            &[0, 10, 0, 11, 0, 0, 0, 0, u8::try_from(mechanism.len()).unwrap()][..],
            mechanism.as_bytes(),
            &with_length(response),
            b"\x05en_US",
        ];
        write_method(&mut stream, &method.concat());
        assert_eq!(&read_some(&mut stream)[7..11], [0, 10, 0, 30], "tune");
        write_method(&mut stream, &[0, 10, 0, 31, 7, 255, 0, 2, 0, 0, 0, 0]);
        write_method(&mut stream, b"\x00\x0a\x00\x28\x01/\x00\x00");
        assert_eq!(&read_some(&mut stream)[7..11], [0, 10, 0, 41], "open-ok");
        stream
    }

    fn mqtt(&self) -> TcpStream {
        mqtt_client(self.mqtt, USER, &self.password)
    }

    fn stomp(&self) -> TcpStream {
        let mut stream = connect(self.stomp);
        write!(
            stream,
            "CONNECT\naccept-version:1.2\nhost:/\nlogin:{USER}\npasscode:{}\n\n\0",
            self.password
        )
        .unwrap();
        assert!(read_some(&mut stream).starts_with(b"CONNECTED"));
        stream
    }

    fn stream(&self, response: &[u8]) -> TcpStream {
        let mut stream = connect(self.stream);
        let mechanism = [&short(5)[..], b"PLAIN"].concat();
        for (key, rest) in [
            (0x11, vec![0; 4]),
            (0x12, Vec::new()),
            (0x13, [&mechanism[..], &with_length(response)].concat()),
        ] {
            let frame = [&[0, key, 0, 1, 0, 0, 0, 1][..], &rest].concat();
            stream.write_all(&with_length(&frame)).unwrap();
            // Length, key, version, correlation, response code.
            assert_eq!(read_some(&mut stream)[12..14], [0, 1], "command {key}");
        }
        stream
    }

    fn management(&self) {
        let uri =
            format!("amqp://{USER}:{}@127.0.0.1:{}", self.password, self.broker.address().port());
        let shovel = format!(
            "{{\"value\":{{\"src-uri\":\"{uri}\",\"src-queue\":\"a\",\"dest-uri\":[\"{uri}\"],\"dest-queue\":\"b\"}}}}"
        );
        let user = format!("{{\"password\":\"{}\",\"tags\":\"\"}}", self.password);
        for (method, path, body) in [
            ("GET", "/api/whoami", ""),
            ("PUT", "/api/users/bert", &user),
            ("PUT", "/api/parameters/shovel/%2F/moves", &shovel),
            ("DELETE", "/api/parameters/shovel/%2F/moves", ""),
        ] {
            let login = STANDARD.encode(format!("{USER}:{}", self.password));
            let answer = http::ask(
                ("127.0.0.1", self.broker.management_port().unwrap()),
                &format!(
                    "{method} {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Basic {login}\r\nContent-Type: application/json\r\n\
                     Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                ),
            );
            assert!(answer.starts_with("HTTP/1.1 20"), "{path}: {answer}");
        }
        evaluate(
            &self.broker,
            &format!(
                "rabbit_runtime_parameters:set_any(<<\"/\">>, <<\"shovel\">>, <<\"other\">>, \
                  [{{<<\"src-uri\">>, <<\"{uri}\">>}}, {{<<\"src-queue\">>, <<\"a\">>}}, \
                   {{<<\"dest-uri\">>, <<\"{uri}\">>}}, {{<<\"dest-queue\">>, <<\"b\">>}}], none), \
                 rabbit_runtime_parameters:clear_any(<<\"/\">>, <<\"shovel\">>, <<\"other\">>, <<\"t\">>), \
                 erlang:set_cookie('other@host', '{}')",
                self.password
            ),
        );
    }

    /// Returns pieces of six characters of the password, as text, in Base64, as numbers.
    fn forms(&self) -> Vec<String> {
        let bytes = self.password.as_bytes();
        let pieces = bytes.windows(6).flat_map(|piece| {
            let numbers = piece.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            [String::from_utf8(piece.to_vec()).unwrap(), numbers]
        });
        let encoded = (0..3).flat_map(|shift| {
            let text = STANDARD.encode([&vec![b'x'; shift][..], bytes].concat());
            let inner = text.as_bytes()[4..text.len() - 4].to_vec();
            inner
                .windows(8)
                .map(|piece| String::from_utf8(piece.to_vec()).unwrap())
                .collect::<Vec<_>>()
        });
        pieces.chain(encoded).collect()
    }
}

fn random_password() -> String {
    let mut bytes = [0; 20];
    std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
        .iter()
        .map(|byte| char::from(b"abcdefghijkmnopqrstuvwxyzABCDEFG"[usize::from(byte % 32)]))
        .collect()
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn read_some(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let count = stream.read(&mut bytes).unwrap();
    bytes.truncate(count);
    assert!(count > 3, "{bytes:?}");
    bytes
}

fn write_method(stream: &mut TcpStream, method: &[u8]) {
    stream.write_all(&encode_frame(1, 0, method)).unwrap();
}

fn short(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap().to_be_bytes()
}

/// Erlang that tells whether any process traces.
const TRACES: &str = "erlang:trace_info(new, flags) =/= {flags, []} orelse \
    (list_to_integer(erlang:system_info(otp_release)) >= 27 andalso \
     trace:session_info(all) -- [{legacy, default}] =/= [])";

/// Traces a function during all logins; the first line that reveals a password is the error.
fn says_no_secret(
    function: &str,
    form: &str,
    logins: &Logins,
    bench: &Workbench,
) -> Result<(), String> {
    let node = node_options(&logins.broker);
    let options = "--args --return --limit 100000 --duration 60s";
    let running = bench.start(&format!("trace {function} {options} {form} {node}"));
    eventually(&format!("{function} is traced"), || evaluate(&logins.broker, TRACES) == "true");
    thread::sleep(Duration::from_millis(200));
    logins.log_in();
    thread::sleep(Duration::from_millis(200));
    signal(&running, Signal::INT);
    let ended = running.ended().code(0);
    let said = ended.stdout + &ended.stderr;
    for form in logins.forms() {
        if let Some(line) = said.lines().find(|line| line.contains(&form)) {
            return Err(format!("{function}: `{form}` of `{}` in {line}", logins.password));
        }
    }
    let counts = [" call shown", " calls shown"];
    let was_called =
        counts.iter().any(|words| said.contains(words)) && !said.contains(": 0 calls shown");
    if was_called { Ok(()) } else { Err(format!("{function} was never called: {said}")) }
}

fn is_on(broker: &Broker, function: &str) -> bool {
    let (module, name) = function.split_once(':').unwrap();
    let has = "try lists:keymember(N, 1, M:module_info(exports)) orelse lists:keymember(N, 1, \
                M:module_info(functions)) orelse N =:= '_' catch error:undef -> false end";
    evaluate(broker, &format!("M = {module}, N = '{name}', {has}")) == "true"
}

fn nothing_is_said_by(functions: &[&str], form: &str, test: &str) {
    let bench = Workbench::new(test);
    let logins = Logins::start();
    logins.log_in();
    // The release decides which module has which function.
    let (here, absent): (Vec<&str>, Vec<&str>) =
        functions.iter().partition(|function| is_on(&logins.broker, function));
    assert!(here.len() > absent.len() * 2, "not on this release: {absent:?}");
    let check = |function: &&str| says_no_secret(function, form, &logins, &bench).err();
    let wrong: Vec<String> = here.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), here.len(), wrong.join("\n"));
}

#[test]
fn the_password_of_a_login_is_nowhere() {
    nothing_is_said_by(
        &[
            "rabbit_auth_mechanism_plain:handle_response",
            "rabbit_auth_mechanism_amqplain:handle_response",
            "rabbit_access_control:check_user_login",
            "rabbit_auth_backend_internal:user_login_authentication",
            "rabbit_binary_parser:parse_table",
            "rabbit_reader:handle_input",
            "rabbit_mqtt_processor:process_login",
            "rabbit_mqtt_processor:process_connect",
            "rabbit_stomp_processor:process_frame",
            "rabbit_stomp_frame:parse",
            "rabbit_stream_core:parse_request",
            "rabbit_mgmt_util:is_authorized",
            "rabbit_json:decode",
            "rabbit_runtime_parameters:set_any",
            "amqp_uri:parse",
            "erlang:set_cookie",
            "gen_server:start_link",
            "base64:decode",
            "cow_http_hd:parse_authorization",
            "proplists:get_value",
            "lists:keyfind",
        ],
        "",
        "secrets",
    );
}

/// Traces every function of the modules that handle a login, as JSON.
#[test]
fn the_password_of_a_login_is_nowhere_in_a_wide_sweep() {
    nothing_is_said_by(
        &[
            "rabbit_reader:_",
            "rabbit_auth_mechanism_plain:_",
            "rabbit_auth_mechanism_amqplain:_",
            "rabbit_access_control:_",
            "rabbit_auth_backend_internal:_",
            "rabbit_binary_parser:_",
            "rabbit_mqtt_reader:_",
            "rabbit_mqtt_processor:_",
            "rabbit_mqtt_frame:_",
            "rabbit_stomp_reader:_",
            "rabbit_stomp_processor:_",
            "rabbit_stomp_frame:_",
            "rabbit_stream_reader:_",
            "rabbit_stream_core:_",
            "rabbit_mgmt_util:_",
            "rabbit_mgmt_wm_user:_",
            "rabbit_mgmt_wm_parameter:_",
            "cowboy_http:_",
            "cowboy_req:_",
            "cow_http_hd:_",
            "jsx_decoder:_",
            "rabbit_json:_",
            "rabbit_runtime_parameters:_",
            "rabbit_shovel_parameters:_",
            "amqp_uri:_",
            "amqp_connection:_",
            "amqp_gen_connection:_",
            "amqp_network_connection:_",
            "rabbit_direct:_",
            "gen_server:_",
            "proc_lib:_",
            "supervisor2:_",
            "mnesia:_",
            "prim_inet:_",
            "rpc:_",
            "erl_eval:_",
            // Modules that the node itself uses too much.
            "erlang:set_cookie",
            "base64:decode",
            "proplists:get_value",
            "lists:keyfind",
        ],
        "--json",
        "wide-sweep",
    );
}
