//! A service of its own for one command: what `akhar serve` runs, on a free port of this machine, and with a temporary
//! database unless one is configured.

use std::{
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    time::Duration,
};

use akhar_platform::{
    blocking::joined, config::Config, database::TemporaryDataDir, reload::LiveConfig, shutdown::Shutdown,
    telemetry,
};
use tokio::{sync::oneshot, task::JoinHandle};

use super::{Ready, ServeOptions, run_until};
use crate::failure::Failure;

/// A service that is starting or running. [`Self::stop`] must be called.
#[derive(Debug)]
pub(crate) struct Embedded {
    /// Has the address and the demo key, if there is one, when the service is ready.
    ready: oneshot::Receiver<(SocketAddr, Option<String>)>,
    limit: Duration,
    shutdown: Shutdown,
    /// `None` after its end.
    task: Option<JoinHandle<Result<(), Failure>>>,
}

impl Embedded {
    /// Starts a service with these settings, and with as many copies of the speech models if the settings name no number.
    pub(crate) fn start(config: &Config, speech_copies: NonZeroUsize) -> Result<Self, Failure> {
        let temporary = config.database_url.is_none().then(TemporaryDataDir::create).transpose()?;
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut config = Config { listen, metrics_listen: None, ..config.clone() };
        if let Some(temporary) = &temporary {
            temporary.path().clone_into(&mut config.data_dir);
        }
        let limit = config.shutdown_limit();
        let copies = config.speech_copies.unwrap_or(speech_copies);
        let worker_environment = vec![
            ("RUST_LOG", telemetry::COMMAND_FILTER.to_owned()),
            ("AKHAR_SPEECH_COPIES", copies.to_string()),
        ];
        let shutdown = Shutdown::default();
        let (sender, ready) = oneshot::channel();
        let stop = shutdown.clone();
        let task = tokio::spawn(async move {
            let on_ready = |ready: Ready| {
                // Nobody waits any more.
                let _ = sender.send((ready.address, ready.demo.map(|demo| demo.key)));
                Ok(())
            };
            let options = ServeOptions { on_ready: Box::new(on_ready), has_link: false, worker_environment };
            let served = run_until(&config, LiveConfig::fixed(config.clone()), &stop, options).await;
            drop(temporary);
            served
        });
        Ok(Self { ready, limit, shutdown, task: Some(task) })
    }

    /// Waits until the service accepts requests. Returns its address, such as `http://127.0.0.1:41234`, and the demo key if
    /// there is one.
    pub(crate) async fn ready(&mut self) -> Result<(String, Option<String>), Failure> {
        if let Ok((address, key)) = (&mut self.ready).await {
            return Ok((format!("http://{address}"), key));
        }
        let Some(task) = self.task.take() else { return Err(Failure::WorkerStart) };
        Err(joined(task.await).err().unwrap_or(Failure::WorkerStart))
    }

    /// Stops the service. The worker finishes the jobs that it runs.
    pub(crate) async fn stop(self) -> Result<(), Failure> {
        let Some(mut task) = self.task else { return Ok(()) };
        tokio::select! {
            ended = &mut task => return joined(ended),
            () = self.shutdown.finish_within(self.limit) => (),
        }
        joined(task.await)
    }
}
