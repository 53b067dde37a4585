//! The command line: flags, commands, what is printed where, exit codes.
//!
//! Everything a command takes from its surroundings (streams, clock, ids, file systems, environment) is in [`Host`], so
//! that a test can run the whole command in its own process with any of them replaced.

mod commands;
pub mod exit;
mod flags;
mod host;
mod loader;
mod ui;

pub use host::{Environment, Host, Stream};

// The library brings the same formats as the binary.
use clinker_csv as _;
use clinker_json as _;
use clinker_x12 as _;

/// Runs a command and gives its exit code.
pub fn main(args: impl IntoIterator<Item = std::ffi::OsString>, host: Host) -> u8 {
    match flags::parse(args) {
        Ok(flags::Command::Run(flags)) => commands::run::run(&flags, &host),
        Ok(flags::Command::Explain(flags)) => commands::explain::explain(&flags, &host),
        Ok(flags::Command::Formats(flags)) => commands::formats::formats(&flags, &host),
        Ok(flags::Command::Plugin(flags)) => commands::plugin::plugin(&flags, &host),
        Ok(flags::Command::Schema) => host.deliver(&clinker_plan::schema::json_schema()),
        Ok(flags::Command::Completions(flags)) => commands::generate::completions(&flags, &host),
        Ok(flags::Command::Man(flags)) => commands::generate::man(&flags, &host),
        Err(stop) => {
            let stream = if stop.to_stdout { &host.stdout } else { &host.stderr };
            stream.write(&stop.text);
            stop.exit
        }
    }
}
