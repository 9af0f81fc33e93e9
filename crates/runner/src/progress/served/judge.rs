//! The limit of the latest seconds, on a thread of its own.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rabbitscope_artifacts::rundir::RecordedRun;
use rabbitscope_check::case_of_run;
use rabbitscope_diagnosis::{Brief, CheckReport};
use rabbitscope_runs::record::BrokerStates;
use rabbitscope_serve::LiveServer;
use rabbitscope_web::{LiveRun, Tick};

use super::{clock::now, so_far::Recent};

/// The thread that judges. Dropping this value waits for it, so that no tick comes after the end.
pub(super) struct Judge {
    asked: Option<SyncSender<Asked>>,
    thread: Option<JoinHandle<()>>,
}

struct Asked {
    recent: Recent,
    states: Option<Arc<BrokerStates>>,
}

impl Judge {
    /// Starts the thread, which sends its results to the viewers.
    pub(super) fn start(server: Arc<LiveServer>) -> io::Result<Self> {
        let (asked, seconds) = mpsc::sync_channel(1);
        let judge = move || judge_all(&server, &seconds);
        let thread = thread::Builder::new().name("live-limit".to_owned()).spawn(judge)?;
        Ok(Self { asked: Some(asked), thread: Some(thread) })
    }

    /// Lets the latest seconds be judged. Seconds that come while others are judged are left out.
    pub(super) fn ask(&self, recent: Recent, states: Option<Arc<BrokerStates>>) {
        if let Some(asked) = &self.asked {
            let _ = asked.try_send(Asked { recent, states });
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        drop(self.asked.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn judge_all(server: &LiveServer, asked: &Receiver<Asked>) {
    while let Ok(Asked { recent, states }) = asked.recv() {
        let seconds = recent.seconds;
        let profiles = server.profile(Duration::from_secs(seconds as u64)).into_iter().collect();
        let run =
            RecordedRun { record: recent.record, series: recent.rows, profiles, packets: None };
        let checked = CheckReport::from_case(&case_of_run(&run, states.as_deref()));
        let mut tick = Tick::new(now());
        let note = format!("of the latest {seconds} s under load");
        LiveRun::limit(&mut tick, &note, Brief::from_report(&checked));
        server.tick(tick);
    }
}
