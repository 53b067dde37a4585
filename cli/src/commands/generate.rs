//! `clinker completions` and `clinker man`: made from the definitions of the flags, so that they cannot lag behind.

use clinker_events::Level;

use crate::flags::{CompletionsFlags, LogLevel, ManFlags, definitions};
use crate::ui::Console;
use crate::{Host, exit};

/// Prints the completions of a shell.
pub fn completions(flags: &CompletionsFlags, host: &Host) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut definitions(), "clinker", &mut script);
    host.deliver(&String::from_utf8_lossy(&script))
}

/// Prints a manual page.
pub fn man(flags: &ManFlags, host: &Host) -> u8 {
    let console = Console::new(host.stderr.clone(), LogLevel::Warn);
    let mut program = definitions();
    // Subcommands learn here what the command line in front of them is.
    program.build();
    let command = match &flags.command {
        None => Some(program),
        Some(name) => program.find_subcommand(name).cloned(),
    };
    let Some(command) = command else {
        let names: Vec<String> =
            definitions().get_subcommands().map(|command| format!("`{}`", command.get_name())).collect();
        let name = flags.command.as_deref().unwrap_or_default();
        console
            .line(Level::Error, &format!("error: no command `{name}`\n  help: the commands are {}", names.join(", ")));
        return exit::CONFIGURATION;
    };
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => host.deliver(&String::from_utf8_lossy(&page)),
        Err(error) => {
            console.line(Level::Error, &format!("error: cannot write the manual page: {error}"));
            exit::INFRASTRUCTURE
        }
    }
}
