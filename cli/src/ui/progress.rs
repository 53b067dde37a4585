//! The progress bar: counts of what is established, on a terminal only.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use clinker_events::Progress;
use indicatif::{HumanBytes, ProgressDrawTarget, ProgressStyle};

use super::Console;

const REDRAW: Duration = Duration::from_millis(100);

/// A running bar. Dropping it clears the line.
pub struct ProgressBar {
    console: Console,
    bar: indicatif::ProgressBar,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressBar {
    /// Starts to draw the counters of a run on standard error.
    pub fn start(console: &Console, progress: Arc<Progress>) -> Self {
        let bar = indicatif::ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        console.attach(Some(bar.clone()));
        let (stop, stopped) = channel::<()>();
        let drawn = bar.clone();
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
            while stopped.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
                drawn.set_message(counts(&progress));
                drawn.tick();
            }
        });
        // Without the thread there is no bar: nothing else is lost.
        Self { console: console.clone(), bar, stop: Some(stop), thread: thread.ok() }
    }
}

fn counts(progress: &Progress) -> String {
    let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let read = HumanBytes(load(&progress.bytes_read));
    let (rows, written, rejected) =
        (load(&progress.rows_read), load(&progress.rows_written), load(&progress.rows_rejected));
    match load(&progress.bytes_total) {
        0 => format!("{read}, {rows} rows read, {written} written, {rejected} rejected"),
        total => format!("{read} of {}, {rows} rows read, {written} written, {rejected} rejected", HumanBytes(total)),
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
        self.console.attach(None);
    }
}
