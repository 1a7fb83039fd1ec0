//! A running `akhar serve`: the whole product in one process tree, with a private Postgres.

use std::path::Path;

use crate::{Cluster, Process, stack::base_environment, until};

/// A running service, and the address and key that it printed.
#[derive(Debug)]
pub struct Service {
    /// The first process of the tree.
    pub process: Process,
    /// The service's address, such as `http://127.0.0.1:41234`.
    pub base: String,
    /// The demo key.
    pub key: String,
    /// The link to the playground, which hands the key over.
    pub link: String,
}

impl Service {
    /// Starts a service with its data in this folder. Its worker is ready when this returns.
    pub async fn start(data: &Path) -> Self {
        Self::start_with(&environment(data).await).await
    }

    /// Starts a service with this environment, made by [`environment`].
    pub async fn start_with(environment: &[(String, String)]) -> Self {
        let mut process = Process::start("serve", environment);
        let base = process.address().await;
        let key = until("it shows a key", async || {
            let line = process.lines().into_iter().find(|l| l.contains("Demo key: "))?;
            Some(line.split_once("Demo key: ")?.1.to_owned())
        })
        .await;
        let printed = until("it shows a link", async || {
            process.lines().into_iter().map(|line| line.trim().to_owned()).find(|l| l.contains("/#key="))
        })
        .await;
        Self { process, base, key, link: printed }
    }
}

/// The environment of a service with its data in this folder.
pub async fn environment(data: &Path) -> Vec<(String, String)> {
    let mut environment = base_environment(&Cluster::shared().empty_database().await);
    environment.retain(|(name, _)| name != "AKHAR_DATABASE_URL");
    environment.push(("AKHAR_DATA_DIR".to_owned(), data.to_string_lossy().into_owned()));
    environment
}
