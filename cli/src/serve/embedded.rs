//! A service of its own for one command: what `akhar serve` runs, on a free port of this machine.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use akhar_platform::{blocking::joined, config::Config, reload::LiveConfig, shutdown::Shutdown, telemetry};
use tokio::{sync::oneshot, task::JoinHandle};

use super::{Ready, ServeOptions, run_until};
use crate::failure::Failure;

/// A running service.
#[derive(Debug)]
pub(crate) struct Embedded {
    /// Such as `http://127.0.0.1:41234`.
    pub(crate) base: String,
    /// The demo key, if there is one.
    pub(crate) key: Option<String>,
    limit: Duration,
    shutdown: Shutdown,
    task: JoinHandle<Result<(), Failure>>,
}

impl Embedded {
    /// Starts a service with these settings. It accepts requests when this returns.
    pub(crate) async fn start(config: &Config) -> Result<Self, Failure> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let config = Config { listen, metrics_listen: None, worker_metrics_listen: None, ..config.clone() };
        let limit = config.shutdown_limit();
        let shutdown = Shutdown::default();
        let (sender, ready) = oneshot::channel();
        let stop = shutdown.clone();
        let mut task = tokio::spawn(async move {
            let on_ready = |ready: Ready| {
                // Nobody waits any more.
                let _ = sender.send((ready.address, ready.demo.map(|demo| demo.key)));
                Ok(())
            };
            let options = ServeOptions {
                on_ready: Box::new(on_ready),
                has_link: false,
                worker_log: Some(telemetry::COMMAND_FILTER),
            };
            run_until(&config, LiveConfig::fixed(config.clone()), &stop, options).await
        });
        match ready.await {
            Ok((address, key)) => Ok(Self { base: format!("http://{address}"), key, limit, shutdown, task }),
            Err(_) => Err(joined((&mut task).await).err().unwrap_or(Failure::WorkerStart)),
        }
    }

    /// Stops the service. The worker finishes the jobs that it runs; jobs that wait are run after the next start.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        tokio::select! {
            ended = &mut self.task => return joined(ended),
            () = self.shutdown.finish_within(self.limit) => (),
        }
        joined(self.task.await)
    }
}
