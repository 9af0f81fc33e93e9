//! Terms are shown with secrets redacted by their shape, and otherwise unchanged.

use std::time::Duration;

use rabbitscope_erlang::{Loaded, ModuleSource, Term};

use crate::node::connection;

/// The redaction of the agent, as a module of its own.
const SECRETS: ModuleSource = ModuleSource {
    name: "secrets_test",
    text: include_str!(concat!(env!("OUT_DIR"), "/secrets_test.erl")),
};

const PROMPT: Duration = Duration::from_secs(10);

fn check_all(guarded: bool, cases: &[(&str, &str)]) {
    let connection = connection();
    let secrets = Loaded::functions(&connection, SECRETS).unwrap();
    for (expression, expected) in cases {
        let term = connection.evaluate(&format!("{expression}."), &[], PROMPT).unwrap();
        let shown = secrets.call("shown", vec![Term::from(guarded), term], PROMPT).unwrap();
        assert_eq!(&shown.to_text().unwrap(), expected, "{expression}");
    }
}

#[test]
fn what_looks_like_a_secret_is_replaced() {
    check_all(
        false,
        &[
            (r#"{<<"password">>, longstr, <<"hunter2">>}"#, r#"{<<"password">>,'[redacted]'}"#),
            (
                r#"[{<<"PASSWORD">>, longstr, <<"hunter2">>}, <<"say hunter2">>]"#,
                r#"[{<<"PASSWORD">>,'[redacted]'},'[redacted]']"#,
            ),
            (r#"{"passcode", "hunter2"}"#, r#"{"passcode",'[redacted]'}"#),
            (r#"#{default_pass => <<"x">>}"#, "#{default_pass => '[redacted]'}"),
            (r#"#{<<"a">> => #{secret => 1}}"#, r#"#{<<"a">> => #{secret => '[redacted]'}}"#),
            (r#"[setcookie, "hunter2"]"#, "[setcookie,'[redacted]']"),
            (
                r#"<<"amqp://anna:hunter2@host:5672/%2f">>"#,
                r#"<<"amqp://[redacted]@host:5672/%2f">>"#,
            ),
            (r#""amqp://anna:hun@ter2@host""#, r#""amqp://[redacted]@host""#),
            (r#"<<"anna:hunter2@host">>"#, r#"<<"[redacted]@host">>"#),
            (r#"<<"Basic YW5uYTpodW50ZXIy">>"#, "'[redacted]'"),
            (r#"<<"YW5uYTpodW50ZXIy">>"#, "'[redacted]'"),
            (r#"<<"bearer abc">>"#, "'[redacted]'"),
            (r#"<<"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln">>"#, "'[redacted]'"),
            (r#"<<"{\"password\":\"hunter2\"}">>"#, "'[redacted]'"),
            (r#"<<0, "anna", 0, "hunter2">>"#, "{'…',13,bytes}"),
            (r#"[0 | "anna"] ++ [0 | "hunter2"]"#, "{'…','list with text'}"),
            (r#"["anna" | <<"hunter2">>]"#, r#"["anna"|<<"hunter2">>]"#),
            (
                r#"{internal_user, <<"anna">>, <<1>>, [administrator], hash, #{}}"#,
                "{internal_user,'[redacted]','[redacted]','[redacted]',hash,'[redacted]'}",
            ),
            (
                r#"{amqp_params_network, <<"anna">>, <<"hunter2">>, 5672}"#,
                "{amqp_params_network,'[redacted]','[redacted]',5672}",
            ),
            (
                r#"{context, {user, <<"a">>}, <<"hunter2">>, undefined}"#,
                "{context,'[redacted]','[redacted]',undefined}",
            ),
            (
                r#"{'connection.start_ok', [], <<"PLAIN">>, <<"r">>}"#,
                "{'connection.start_ok',[],'[redacted]','[redacted]'}",
            ),
            (
                r#"{sasl_authenticate, <<"PLAIN">>, <<"r">>}"#,
                "{sasl_authenticate,'[redacted]','[redacted]'}",
            ),
            (
                r#"{rabbit_auth_backend_internal, check, [<<"a">>]}"#,
                "{rabbit_auth_backend_internal,check,'[redacted]'}",
            ),
            ("erlang:get_cookie()", "'[redacted]'"),
            (
                r#"iolist_to_binary(["-setcookie ", atom_to_list(erlang:get_cookie())])"#,
                "'[redacted]'",
            ),
        ],
    );
}

#[test]
fn of_two_texts_the_second_may_be_a_password() {
    check_all(
        false,
        &[
            (
                r#"[maybe_call_mfa, {some_module, authn_params, [{<<"anna">>, <<"hunter2">>}]}]"#,
                "[maybe_call_mfa,{some_module,authn_params,'[redacted]'}]",
            ),
            (r#"[{<<"anna">>, <<"hunter2">>}, vhost]"#, r#"[{<<"anna">>,{'…',7,bytes}},vhost]"#),
        ],
    );
}

#[test]
fn what_is_no_secret_is_shown() {
    let same = [
        r#"<<"orders.created">>"#,
        r#"<<"password-resets">>"#,
        r#"<<"127.0.0.1:5000 -> 127.0.0.1:5672">>"#,
        r#"{resource,<<"/">>,queue,<<"amq.gen-Ni7MZ0cRfWtJDEGBBsVDHw">>}"#,
        r#"{'basic.publish',0,<<"orders">>,<<"key">>,false,true}"#,
        r#"<<"http://host:15672/api/queues">>"#,
        "rabbit@host",
        "[1,2,300,-4]",
        "\"text\"",
    ];
    check_all(false, &same.map(|term| (term, term)));
}

#[test]
fn of_a_login_process_no_text_stands_alone() {
    check_all(
        true,
        &[
            (r#"<<"hunter2">>"#, "{'…',7,bytes}"),
            (r#""hunter2""#, "{'…',7,bytes}"),
            (r#"#{path => <<"/api/queues">>}"#, r#"#{path => <<"/api/queues">>}"#),
            (
                r#"#{headers => #{<<"authorization">> => <<"x">>}}"#,
                r#"#{headers => #{<<"authorization">> => '[redacted]'}}"#,
            ),
            (r#"{resource, <<"/">>, queue, <<"q">>}"#, r#"{resource,<<"/">>,queue,<<"q">>}"#),
            (r#"[{<<"PASS">>, <<"hunter2">>}]"#, r#"[{<<"PASS">>,'[redacted]'}]"#),
        ],
    );
}
