//! The node that the tests talk to: the distribution's RabbitMQ, started once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rabbitscope_erlang::{ConnectOptions, Connection};
pub(crate) use rabbitscope_testing::existing_broker as broker;
use rabbitscope_testing::{connection_to, evaluate};

pub(crate) fn options() -> ConnectOptions {
    connection_to(broker())
}

pub(crate) fn connection() -> Connection {
    Connection::open(&options()).unwrap()
}

/// Evaluates an expression on the node. Unlike `erl_call`, this works concurrently.
pub(crate) fn eval(expression: &str) -> String {
    evaluate(broker(), expression)
}

/// Lock for tests that trace: on OTP 25 and 26 a node has one tracer.
pub(crate) fn tracing_alone() -> MutexGuard<'static, ()> {
    static TRACING: Mutex<()> = Mutex::new(());
    TRACING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether each client has a trace session of its own, as from OTP 27 on.
pub(crate) fn has_sessions() -> bool {
    eval("list_to_integer(erlang:system_info(otp_release)) >= 27") == "true"
}

/// Returns whether any session has a pattern for local calls of the function.
pub(crate) fn is_patterned(function: &str) -> bool {
    let legacy = format!("erlang:trace_info({{{function}}}, traced) =/= {{traced,false}}");
    let sessions = format!("trace:session_info({{{function}}}) =/= []");
    eval(if has_sessions() { &sessions } else { &legacy }) == "true"
}
