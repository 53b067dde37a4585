//! The watchdog: a call that neither returns nor asks the engine for anything ends the process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long a call may go on without asking for anything.
const LIMIT: Duration = Duration::from_secs(60);

/// What the binary lends to all plugins.
#[derive(Clone)]
pub struct Surroundings {
    /// How long a call may neither return nor ask for anything: 60 s.
    pub limit: Duration,
    /// Is told the reason (E468) before the process ends with exit code 1.
    pub report: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether the run was cancelled: plugins may ask.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self { limit: LIMIT, report: Arc::new(|_| {}), cancelled: Arc::new(|| false) }
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
    /// Milliseconds since the start of the watch when it last asked for something.
    alive: AtomicU64,
}

struct Watch {
    watched: Mutex<Watched>,
    begun: Condvar,
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
    let watch = WATCH.get_or_init(|| Watch { watched: Mutex::default(), begun: Condvar::new(), start: Instant::now() });
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
        let oldest = watched.calls.values().min_by_key(|call| call.alive.load(Ordering::Relaxed));
        let Some(oldest) = oldest else {
            watched = watch.begun.wait(watched).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let silent = watch.now().saturating_sub(oldest.alive.load(Ordering::Relaxed));
        if silent >= limit_ms {
            let reason = format!(
                "{} for {} s neither returned nor asked the engine for anything",
                oldest.name,
                limit.as_secs_f64()
            );
            (surroundings().report)(&reason);
            leave();
        }
        let rest = Duration::from_millis(limit_ms - silent);
        watched = watch.begun.wait_timeout(watched, rest).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Ends the process at once: handlers that run at an ordinary end could wait for the very call that hangs.
fn leave() -> ! {
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
        if watched.calls.len() == 1 {
            watch.begun.notify_one();
        }
        Self { id, running }
    }

    /// The call asked for something.
    pub(crate) fn alive(&self) {
        self.running.alive.store(watch().now(), Ordering::Relaxed);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        watch().lock().calls.remove(&self.id);
    }
}
