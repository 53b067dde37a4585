//! The watchdog: a call that neither returns nor asks the engine for anything ends the process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long a call may go on without asking for anything.
const LIMIT: Duration = Duration::from_secs(60);

/// Is told a code and a reason.
pub type Report = dyn Fn(&'static str, &str) + Send + Sync;

/// What the binary lends to all plugins.
#[derive(Clone)]
pub struct Surroundings {
    /// How long a call may neither return nor ask for anything: 60 s.
    pub limit: Duration,
    /// Is told code (E468; E465 while loading) and reason before the process ends with exit code 1.
    pub report: Arc<Report>,
    /// Whether the run was cancelled: plugins may ask.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self { limit: LIMIT, report: Arc::new(|_, _| {}), cancelled: Arc::new(|| false) }
    }
}

static SURROUNDINGS: OnceLock<Surroundings> = OnceLock::new();

/// Sets the surroundings, once, before the first plugin is loaded. Gives `false` when they were set before.
pub fn surround(surroundings: Surroundings) -> bool {
    SURROUNDINGS.set(surroundings).is_ok()
}

pub(crate) fn surroundings() -> &'static Surroundings {
    SURROUNDINGS.get_or_init(Surroundings::default)
}

/// Calls that are running.
#[derive(Default)]
struct Watched {
    next: u64,
    calls: HashMap<u64, Arc<Running>>,
}

struct Running {
    /// What is reported.
    name: String,
    /// Milliseconds since the start of the watch when it last asked for something; [`SERVED`] while it is being served.
    alive: AtomicU64,
}

/// The engine does what a call asked for, however long that takes: a slow file is no silence of the plugin.
const SERVED: u64 = u64::MAX;

impl Running {
    /// For how many milliseconds it has been silent.
    fn silent(&self, now: u64) -> u64 {
        now.saturating_sub(self.alive.load(Ordering::Relaxed))
    }
}

struct Watch {
    watched: Mutex<Watched>,
    start: Instant,
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The watch, which starts its thread when it is first needed.
fn watch() -> &'static Watch {
    static WATCH: OnceLock<Watch> = OnceLock::new();
    static THREAD: OnceLock<bool> = OnceLock::new();
    let watch = WATCH.get_or_init(|| Watch { watched: Mutex::default(), start: Instant::now() });
    // Without the thread calls go unwatched; nothing else depends on it.
    THREAD.get_or_init(|| std::thread::Builder::new().name("plugin watchdog".into()).spawn(|| guard(watch)).is_ok());
    watch
}

/// Waits for the call that is silent for longest.
fn guard(watch: &Watch) {
    let limit = surroundings().limit;
    let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let mut watched = watch.lock();
    loop {
        let now = watch.now();
        // A call that begins meanwhile is due later than the one that is looked for: nobody need wake this thread, which
        // would cost more than most calls do.
        let oldest = watched.calls.values().max_by_key(|call| call.silent(now));
        let silent = oldest.map_or(0, |oldest| oldest.silent(now));
        if let Some(oldest) = oldest
            && silent >= limit_ms
        {
            let reason = format!(
                "{} for {} s neither returned nor asked the engine for anything",
                oldest.name,
                limit.as_secs_f64()
            );
            end("E468", &reason);
        }
        drop(watched);
        std::thread::sleep(Duration::from_millis((limit_ms - silent).max(1)));
        watched = watch.lock();
    }
}

/// Reports what a plugin did and ends the process at once: handlers that run at an ordinary end could wait for a call that
/// hangs, or run into what an exception of another language left.
fn end(code: &'static str, reason: &str) -> ! {
    (surroundings().report)(code, reason);
    // SAFETY: `_exit` takes any code and does not return.
    unsafe { libc::_exit(1) }
}

/// A call that is running; dropped when it returns.
pub(crate) struct Guard {
    id: u64,
    running: Arc<Running>,
}

impl Guard {
    /// Watches a call of that name.
    pub(crate) fn new(name: String) -> Self {
        let watch = watch();
        let running = Arc::new(Running { name, alive: AtomicU64::new(watch.now()) });
        let mut watched = watch.lock();
        let id = watched.next;
        watched.next += 1;
        watched.calls.insert(id, Arc::clone(&running));
        Self { id, running }
    }

    /// Serves what the call asked for. Meanwhile the call is not watched.
    pub(crate) fn serve<T>(&self, function: impl FnOnce() -> T) -> T {
        self.running.alive.store(SERVED, Ordering::Relaxed);
        let served = function();
        self.running.alive.store(watch().now(), Ordering::Relaxed);
        served
    }
}

/// Around a call: dropped by an exception of another language, which nothing can catch, it reports it and ends the
/// process. Forget it when the call returned.
pub(crate) struct Foreign<'a> {
    pub code: &'static str,
    pub reason: &'a dyn Fn() -> String,
}

impl Drop for Foreign<'_> {
    fn drop(&mut self) {
        // A panic of this program is caught behind this.
        if !std::thread::panicking() {
            end(self.code, &(self.reason)());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        watch().lock().calls.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_15_2_a_call_is_silent_only_while_the_engine_does_nothing_for_it() {
        let guard = Guard::new("a call".to_owned());
        let later = watch().now() + 3_600_000;
        assert!(guard.running.silent(later) >= 3_599_000);
        assert_eq!(guard.serve(|| guard.running.silent(later)), 0);
        assert!(guard.running.silent(later) >= 3_599_000);
    }
}
