//! Brokers that tests have for themselves, one after another.
//!
//! A broker takes seconds of CPU time to start, as long as most tests that need one. So its virtual host is made anew
//! after a test, and the broker is handed to the next test if its state is that of its start.

use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_broker::Broker;

use crate::brokers::broker_with;

/// Time for a broker to forget a test: connections that close, processes that end.
const SETTLING: Duration = Duration::from_secs(2);

/// The state of a broker that a test may change, as text: the process of the VM, names and settings of all kinds,
/// clients, modules from elsewhere, and processes in code that was sent as text.
const STATE: &str = "{os:getpid(), \
    lists:sort(rabbit_vhost:list_names()), \
    lists:sort(rabbit_amqqueue:list_names()), \
    lists:sort([element(2, Exchange) || Exchange <- rabbit_exchange:list()]), \
    lists:sort(lists:append([rabbit_binding:list(VHost) || VHost <- rabbit_vhost:list_names()])), \
    lists:sort(rabbit_auth_backend_internal:list_users()), \
    lists:sort(rabbit_auth_backend_internal:list_permissions()), \
    lists:sort(rabbit_policy:list()), \
    lists:sort(rabbit_runtime_parameters:list()), \
    lists:sort(application:get_all_env(rabbit)), \
    rabbit_alarm:get_alarms(), \
    vm_memory_monitor:get_vm_memory_high_watermark(), \
    rabbit_disk_monitor:get_disk_free_limit(), \
    rabbit_networking:connections(), \
    [Module || {Module, File} <- code:all_loaded(), is_list(File), \
        not lists:member(filename:dirname(File), code:get_path())], \
    erlang:trace_info(new, flags), \
    [Pid || Pid <- processes(), Pid =/= self(), {_, Stack} <- [process_info(Pid, current_stacktrace)], \
        lists:keymember(erl_eval, 1, Stack)]}";

/// Removes all that clients, policies and parameters have left, and the users of a test.
const RESET: &str = "VHost = <<\"/\">>, By = <<\"test\">>, \
    [rabbit_auth_backend_internal:delete_user(User, By) || Properties <- rabbit_auth_backend_internal:list_users(), \
        {user, User} <- Properties, User =/= <<\"guest\">>], \
    [rabbit_vhost:delete(Name, By) || Name <- rabbit_vhost:list_names()], \
    rabbit_vhost:add(VHost, By), \
    rabbit_auth_backend_internal:set_permissions(<<\"guest\">>, VHost, <<\".*\">>, <<\".*\">>, <<\".*\">>, By)";

/// Brokers that no test has.
static IDLE: Mutex<Vec<OwnBroker>> = Mutex::new(Vec::new());

/// A broker that one test has for itself. Dropping it hands it to another test, or ends it if something of this one is
/// left.
#[derive(Debug)]
pub struct OwnBroker {
    /// Absent after [`OwnBroker::take`].
    broker: Option<Broker>,
    /// State of the start.
    state: String,
}

/// Returns a broker for one test, for work that other tests could not tolerate.
pub fn own_broker() -> OwnBroker {
    idle().pop().unwrap_or_else(|| {
        let broker = broker_with(|_| ());
        let state = broker.eval(STATE).unwrap();
        OwnBroker { broker: Some(broker), state }
    })
}

fn idle() -> std::sync::MutexGuard<'static, Vec<OwnBroker>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OwnBroker {
    /// Returns the broker for a test that ends it, or keeps it in a form of its own.
    pub fn take(mut self) -> Broker {
        self.broker.take().expect("the broker is there until it is taken")
    }

    fn becomes_as_at_its_start(&self, broker: &Broker) -> bool {
        if broker.eval(RESET).is_err() {
            return false;
        }
        let deadline = Instant::now() + SETTLING;
        while Instant::now() < deadline {
            match broker.eval(STATE) {
                Ok(state) if state == self.state => return true,
                Ok(_) => thread::sleep(Duration::from_millis(200)),
                Err(_) => return false,
            }
        }
        false
    }
}

impl Deref for OwnBroker {
    type Target = Broker;

    fn deref(&self) -> &Broker {
        self.broker.as_ref().expect("the broker is there until it is taken")
    }
}

impl DerefMut for OwnBroker {
    fn deref_mut(&mut self) -> &mut Broker {
        self.broker.as_mut().expect("the broker is there until it is taken")
    }
}

impl Drop for OwnBroker {
    fn drop(&mut self) {
        let Some(broker) = self.broker.take() else { return };
        if !thread::panicking() && self.becomes_as_at_its_start(&broker) {
            idle().push(Self { broker: Some(broker), state: std::mem::take(&mut self.state) });
        }
    }
}
