//! The `clinker` binary.

use std::process::ExitCode;

// Formats register themselves when they are linked; naming a crate links it.
use clinker_csv as _;
use clinker_json as _;
use clinker_x12 as _;

fn main() -> ExitCode {
    ExitCode::from(clinker_cli::main(std::env::args_os(), clinker_cli::Host::system()))
}
