//! The live view: an alternate screen, redrawn every second.

use super::super::Watcher;
use super::screen;
use crate::progress::RunHeader;
use rabbitscope_runs::record::SecondRow;
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor,
        event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
        execute,
        terminal::{self, EnterAlternateScreen, LeaveAlternateScreen},
    },
};
use std::{
    io, panic,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// The longest delay before the view notices a key or its own end.
const KEY_WAIT: Duration = Duration::from_millis(100);

/// Number of seconds in the curves.
const REMEMBERED: usize = 300;

/// The exit code that a shell reports for a program ended by SIGINT.
const ENDED_BY_SIGINT: i32 = 130;

/// The view. It takes the terminal when connections are made or the load starts, so that earlier messages stay
/// readable. Dropping it restores the terminal.
pub struct Live {
    head: RunHeader,
    stop: Arc<AtomicBool>,
    shown: Option<OpenView>,
}

/// A view that is on the terminal.
struct OpenView {
    picture: Arc<Mutex<Screen>>,
    has_ended: Arc<AtomicBool>,
    keys: Option<JoinHandle<()>>,
}

struct Screen {
    terminal: Terminal<CrosstermBackend<io::Stderr>>,
    head: RunHeader,
    rows: Vec<SecondRow>,
}

impl Live {
    /// Creates a view that is not shown yet. The view sets `stop` when the user asks for an early end.
    pub fn new(head: RunHeader, stop: Arc<AtomicBool>) -> Self {
        Self { head, stop, shown: None }
    }

    /// Returns the open view, and opens it first if necessary. If the terminal is unavailable, the run goes on
    /// without a view.
    fn picture(&mut self) -> Option<MutexGuard<'_, Screen>> {
        if self.shown.is_none() {
            self.shown = OpenView::open(self.head.clone(), Arc::clone(&self.stop)).ok();
        }
        self.shown.as_ref().map(|shown| lock(&shown.picture))
    }
}

impl OpenView {
    fn open(head: RunHeader, stop: Arc<AtomicBool>) -> io::Result<Self> {
        restore_on_panic();
        terminal::enable_raw_mode()?;
        let entered = execute!(io::stderr(), EnterAlternateScreen, cursor::Hide);
        let terminal = entered.and_then(|()| Terminal::new(CrosstermBackend::new(io::stderr())));
        let terminal = terminal.inspect_err(|_| restore())?;
        let picture = Arc::new(Mutex::new(Screen { terminal, head, rows: Vec::new() }));
        let has_ended = Arc::new(AtomicBool::new(false));
        let keys = {
            let (picture, has_ended) = (Arc::clone(&picture), Arc::clone(&has_ended));
            thread::spawn(move || watch_keys(&picture, &has_ended, &stop))
        };
        Ok(Self { picture, has_ended, keys: Some(keys) })
    }
}

impl Watcher for Live {
    fn connecting(&mut self, done: usize, of: usize) {
        if let Some(mut picture) = self.picture() {
            picture.head.connecting = Some((done, of));
            picture.draw();
        }
    }

    fn started(&mut self) {
        if let Some(mut picture) = self.picture() {
            picture.head.connecting = None;
            picture.draw();
        }
    }

    fn notice(&mut self, text: &str) {
        if let Some(mut picture) = self.picture() {
            picture.head.notice = Some(text.to_owned());
            picture.draw();
        }
    }

    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        let Some(mut picture) = self.picture() else { return Ok(()) };
        if picture.rows.len() >= REMEMBERED {
            picture.rows.remove(0);
        }
        picture.rows.push(row.clone());
        picture.draw();
        Ok(())
    }
}

impl Drop for OpenView {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        if let Some(keys) = self.keys.take() {
            let _ = keys.join();
        }
        restore();
    }
}

impl Screen {
    /// Draws the view. A failure does not end the run, because the terminal may be gone.
    fn draw(&mut self) {
        let (head, rows) = (&self.head, &self.rows);
        let _ = self.terminal.draw(|frame| screen::draw(frame, head, rows));
    }
}

fn lock(picture: &Mutex<Screen>) -> MutexGuard<'_, Screen> {
    picture.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch_keys(picture: &Mutex<Screen>, has_ended: &AtomicBool, stop: &AtomicBool) {
    while !has_ended.load(Ordering::Relaxed) {
        match event::poll(KEY_WAIT) {
            Ok(false) => continue,
            Ok(true) => {}
            // Without keys, signals still work.
            Err(_) => return,
        }
        match event::read() {
            Ok(Event::Key(key)) if is_end(key) => {
                if stop.swap(true, Ordering::Relaxed) {
                    restore();
                    std::process::exit(ENDED_BY_SIGINT);
                }
                let mut picture = lock(picture);
                picture.head.is_ending = true;
                picture.draw();
            }
            Ok(Event::Resize(..)) => lock(picture).draw(),
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

fn is_end(key: KeyEvent) -> bool {
    let is_ctrl_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press && (is_ctrl_c || key.code == KeyCode::Char('q'))
}

/// Restores the terminal; a second call is harmless.
fn restore() {
    let _ = terminal::disable_raw_mode();
    let _ = execute!(io::stderr(), LeaveAlternateScreen, cursor::Show);
}

/// Restores the terminal before a panic's message, so that the message is readable.
fn restore_on_panic() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        restore();
        before(info);
    }));
}
