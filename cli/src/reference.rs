//! `akhar reference`: a page of the reference, made from code, goes to stdout. `make reference` keeps the pages.

use std::fmt::Write as _;

use akhar_platform::config;
use clap::Command;

/// What can be made from code.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Page {
    /// The settings
    Configuration,
    /// The settings as a file for the environment
    Environment,
    /// The problem types
    Problems,
    /// The commands
    CommandLine,
    /// The paths, methods and statuses
    Http,
}

/// Prints one page.
pub(crate) fn print(page: Page, program: Command) {
    let text = match page {
        Page::Environment => return print!("{}", config::reference::environment_file()),
        Page::Configuration => config::reference::markdown(),
        Page::Problems => akhar_api::reference::problems(),
        Page::CommandLine => command_line(program),
        Page::Http => akhar_api::reference::http(),
    };
    print!("<!-- Made by `make reference` from the code: change the code. -->\n\n{text}");
}

/// The help of every command that is not hidden.
fn command_line(program: Command) -> String {
    let mut page = "# Command line\n\n\
        This page shows the help of the program and of each of its commands, as `--help` prints it. A command exits with \
        0 when it succeeded, with 1 when it failed, and with 2 when its arguments are wrong. It prints its answer to \
        standard output, and messages and logs to standard error. It reads the settings of the \
        [configuration](configuration.md).\n"
        .to_owned();
    let mut program = program.disable_help_subcommand(true);
    program.build();
    write_help(&mut page, &program);
    page
}

fn write_help(page: &mut String, command: &Command) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let help = command.clone().render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _infallible = write!(page, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        write_help(page, command);
    }
}
