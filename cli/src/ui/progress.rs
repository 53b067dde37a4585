//! The progress bar: counts of what is established, on a terminal only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use clinker_events::Progress;
use indicatif::{HumanBytes, HumanCount, ProgressDrawTarget, ProgressStyle};

use super::Console;

const REDRAW: Duration = Duration::from_millis(100);
/// While the size of the input is unknown.
const UNSIZED: &str = "{spinner} {elapsed} {msg}";
/// The bar is the share of the input's bytes that were read: no number stands for it, as nobody knows what the rest costs.
const SIZED: &str = "{spinner} {elapsed} [{bar:24}] {msg}";

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
        styled(&bar, UNSIZED);
        console.attach(Some(bar.clone()));
        let (stop, stopped) = channel::<()>();
        let drawn = bar.clone();
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
            while stopped.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
                draw(&drawn, &progress);
            }
        });
        // Without the thread there is no bar: nothing else is lost.
        Self { console: console.clone(), bar, stop: Some(stop), thread: thread.ok() }
    }
}

fn styled(bar: &indicatif::ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
}

fn draw(bar: &indicatif::ProgressBar, progress: &Progress) {
    let now = Counts::of(progress);
    if let (Some(total), None) = (now.total, bar.length()) {
        bar.set_length(total);
        styled(bar, SIZED);
    }
    bar.set_position(now.read);
    bar.set_message(now.line(bar.elapsed()));
    bar.tick();
}

/// The counters at one moment.
struct Counts {
    read: u64,
    /// Known once the input files were found, and not for empty ones.
    total: Option<u64>,
    rows: u64,
    written: u64,
    rejected: u64,
}

impl Counts {
    fn of(progress: &Progress) -> Self {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Self {
            read: load(&progress.bytes_read),
            total: Some(load(&progress.bytes_total)).filter(|total| *total > 0),
            rows: load(&progress.rows_read),
            written: load(&progress.rows_written),
            rejected: load(&progress.rows_rejected),
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let of = self.total.map(|total| format!(" of {}", HumanBytes(total))).unwrap_or_default();
        let rate = |amount: u64| (amount as f64 / elapsed.as_secs_f64().max(REDRAW.as_secs_f64())) as u64;
        format!(
            "{}{of} at {}/s, {} rows read at {}/s, {} written, {} rejected",
            HumanBytes(self.read),
            HumanBytes(rate(self.read)),
            HumanCount(self.rows),
            HumanCount(rate(self.rows)),
            HumanCount(self.written),
            HumanCount(self.rejected),
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_1_4_the_line_has_counts_and_rates_and_no_percentage() {
        let progress = Progress::default();
        Progress::add(&progress.bytes_read, 3 << 20);
        Progress::add(&progress.rows_read, 1_234_567);
        Progress::add(&progress.rows_written, 1_000_000);
        Progress::add(&progress.rows_rejected, 12);
        let second = Duration::from_secs(2);
        assert_eq!(
            Counts::of(&progress).line(second),
            "3.00 MiB at 1.50 MiB/s, 1,234,567 rows read at 617,283/s, 1,000,000 written, 12 rejected"
        );
        Progress::add(&progress.bytes_total, 4 << 20);
        let line = Counts::of(&progress).line(second);
        assert!(line.starts_with("3.00 MiB of 4.00 MiB at 1.50 MiB/s, ") && !line.contains('%'), "{line}");
        assert!(
            Counts::of(&progress).line(Duration::ZERO).contains("1,234,567 rows read at"),
            "no time has passed yet"
        );
    }

    #[test]
    fn mp_11_the_bar_gets_its_length_once_the_size_is_known() {
        let bar = indicatif::ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let progress = Progress::default();
        draw(&bar, &progress);
        assert_eq!(bar.length(), None, "nothing was discovered yet");
        Progress::add(&progress.bytes_total, 10);
        Progress::add(&progress.bytes_read, 4);
        draw(&bar, &progress);
        assert_eq!((bar.length(), bar.position()), (Some(10), 4));
    }
}
