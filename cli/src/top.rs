//! `akhar top`: what happens in the queues, and the workers, again and again.

use std::{
    io::{IsTerminal as _, stdout},
    time::Duration,
};

use akhar_operators::{
    overview::{self, Load},
    queues::{MAX_COUNTED, QueueLoad},
};
use akhar_platform::{config::Config, database::Pool};
use chrono::Utc;
use rustix::termios::tcgetwinsize;
use tokio::time::{MissedTickBehavior, interval};

use crate::{connect, failure::Failure, output, signals::Signals, workers};

/// Shows a page of its own on a terminal, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";

/// Begins at the top of an empty page.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Shows what was on the terminal before.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// How often to look.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The seconds from one look to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
    /// Look once
    #[arg(long)]
    once: bool,
}

/// Looks until a signal.
pub(crate) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let Arguments { every, once } = arguments;
    let watched = connect::with_database(config, async |db| {
        if once {
            return output::print(page(&overview::load(db).await?));
        }
        let mut signals = Signals::new()?;
        tokio::select! {
            watched = watch(db, Duration::from_secs(every)) => watched,
            code = signals.next() => Err(Failure::Exit(code)),
        }
    });
    watched.await
}

/// Shows a page after each look. A look that fails is shown too, unless it is the first one.
async fn watch(db: &Pool, every: Duration) -> Result<(), Failure> {
    let first = overview::load(db).await?;
    let screen = Screen::enter()?;
    screen.show(&page(&first))?;
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await; // the first one comes at once
    loop {
        ticks.tick().await;
        match overview::load(db).await {
            Ok(load) => screen.show(&page(&load))?,
            Err(cause) => screen.show(&format!("{}\n\n{}\n", title(), Failure::from(cause)))?,
        }
    }
}

/// Standard output. On a terminal each page replaces the last one, and elsewhere it follows it.
struct Screen {
    is_terminal: bool,
}

impl Screen {
    fn enter() -> Result<Self, Failure> {
        let screen = Self { is_terminal: stdout().is_terminal() };
        if screen.is_terminal {
            output::print(ENTER)?;
        }
        Ok(screen)
    }

    fn show(&self, page: &str) -> Result<(), Failure> {
        if !self.is_terminal {
            return output::print(format_args!("{page}\n"));
        }
        // A page that is longer would scroll its beginning away.
        let n_rows = tcgetwinsize(stdout()).map_or(0, |size| usize::from(size.ws_row));
        let n_shown = if n_rows == 0 { usize::MAX } else { n_rows };
        let lines: Vec<&str> = page.lines().take(n_shown).collect();
        output::print(format_args!("{CLEAR}{}", lines.join("\r\n")))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_terminal {
            let _ = output::print(LEAVE); // nothing else can be done with a terminal that is gone
        }
    }
}

fn title() -> String {
    format!("akhar top  {} UTC", output::time(Utc::now()))
}

fn page(load: &Load) -> String {
    let head = ["QUEUE", "MODE", "QUEUED", "RUNNING", "OLDEST", "ENDED/MIN", "FAILED/MIN"];
    let queues = output::columns(head, load.queues.iter().map(queue).collect());
    let workers = if load.workers.is_empty() {
        "No worker is connected to the database.\n".to_owned()
    } else {
        workers::columns(&load.workers)
    };
    format!("{}\n\n{queues}\n{workers}", title())
}

fn queue(load: &QueueLoad) -> [String; 7] {
    let counted = |n: i64| if n > MAX_COUNTED { format!("{MAX_COUNTED}+") } else { n.to_string() };
    [
        load.queue.clone(),
        load.mode.name().to_owned(),
        counted(load.queued),
        counted(load.running),
        load.oldest_s.map_or_else(|| "-".to_owned(), output::age),
        format!("{:.1}", load.ended_per_minute),
        format!("{:.1}", load.failed_per_minute),
    ]
}

#[cfg(test)]
mod tests {
    use akhar_jobs::store::QueueMode;

    use super::*;

    #[test]
    fn a_page_has_a_row_for_each_queue_and_says_if_no_worker_is_there() {
        let queue = QueueLoad {
            queue: "speech".to_owned(),
            mode: QueueMode::Open,
            why: None,
            until: None,
            queued: 10_001,
            running: 4,
            oldest_s: Some(90.0),
            ended_per_minute: 12.0,
            failed_per_minute: 0.5,
        };
        let page = page(&Load { queues: vec![queue], workers: vec![] });
        let lines: Vec<&str> = page.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "",
                "QUEUE   MODE  QUEUED  RUNNING  OLDEST  ENDED/MIN  FAILED/MIN",
                "speech  open  10000+  4        2 min   12.0       0.5",
                "",
                "No worker is connected to the database.",
            ]
        );
    }
}
