//! `clinker` under a name of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(clinker_cli::main(std::env::args_os(), clinker_cli::Host::system()))
}
