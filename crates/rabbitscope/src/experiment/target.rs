//! The broker under load: one that is started for the run, or one that is there.

use std::sync::atomic::AtomicBool;

use rabbitscope_amqp::Uri;
use rabbitscope_broker::{Broker, Registry};
use rabbitscope_data::scenario::{BrokerSpec, Scenario};
use rabbitscope_load::Dialer;

use crate::{machine, output, rundir::RunDirectory};

/// The broker under load. A throwaway one ends with this value.
#[derive(Debug)]
pub(crate) struct Target {
    /// Where it is.
    pub(super) uri: Uri,
    pub(super) dialer: Dialer,
    /// Pid of the node, when it is on this machine.
    pub(super) pid: Option<u32>,
    pub(super) throwaway: Option<Broker>,
}

impl Target {
    pub(crate) fn open(
        scenario: &Scenario,
        directory: &RunDirectory,
        stop: &AtomicBool,
    ) -> anyhow::Result<Self> {
        match &scenario.broker {
            BrokerSpec::Existing { uris } => {
                let dialer = dialer(uris, scenario)?;
                dialer.wait_for_broker(stop)?;
                let uri = dialer.uri().clone();
                let pid = machine::local_node_at(&uri.host, uri.port);
                Ok(Self { dialer, uri, pid, throwaway: None })
            }
            BrokerSpec::Throwaway(spec) => {
                sweep_dead_brokers()?;
                let line = output::ProgressLine::default();
                line.show("starting a throwaway broker …");
                let broker = Broker::start(spec, &directory.broker_log())?;
                let dialer = dialer(&[broker.uri()], scenario)?;
                let uri = dialer.uri().clone();
                Ok(Self { uri, dialer, pid: Some(broker.pid), throwaway: Some(broker) })
            }
        }
    }
}

/// How connections to these addresses are made.
pub(super) fn dialer(uris: &[String], scenario: &Scenario) -> anyhow::Result<Dialer> {
    let uris = uris.iter().map(|uri| Uri::parse(uri)).collect::<Result<_, _>>()?;
    Ok(Dialer::new(uris, &scenario.connecting, scenario.seed)?)
}

/// Cleans up after brokers that died with everything that could have done it for them.
pub(crate) fn sweep_dead_brokers() -> anyhow::Result<()> {
    for swept in Registry::open()?.sweep()? {
        output::note(&format!("removed what the dead broker {} had left behind", swept.name));
    }
    Ok(())
}
