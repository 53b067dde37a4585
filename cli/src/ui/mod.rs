//! What a person sees on standard error: reports, log lines, the progress bar.

mod console;
mod progress;

pub use console::Console;
pub use progress::ProgressBar;
