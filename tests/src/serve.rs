//! A running `akhar serve`: the whole product in one process tree, with a private Postgres.

use std::path::Path;

use crate::{Cluster, Process, stack::base_environment, until};

/// A running service, its address and its key.
#[derive(Debug)]
pub struct Service {
    /// The first process of the tree.
    pub process: Process,
    /// The service's address, such as `http://127.0.0.1:41234`.
    pub base: String,
    /// The demo key.
    pub key: String,
}

impl Service {
    /// Starts a service with its data in this folder. Its worker is ready when this returns.
    pub async fn start(data: &Path) -> Self {
        Self::start_with(&environment(data).await).await
    }

    /// Starts a service with this environment, made by [`environment`].
    pub async fn start_with(environment: &[(String, String)]) -> Self {
        let data = environment.iter().find(|(name, _)| name == DATA_DIR).expect("a folder for its data");
        let mut process = Process::start("serve", environment);
        let base = process.address().await;
        let key = std::fs::read_to_string(Path::new(&data.1).join("demo-key")).expect("its key");
        Self { process, base, key: key.trim().to_owned() }
    }

    /// The link to the playground, which hands the key over. A service prints it when it has made the key.
    pub async fn link(&self) -> String {
        until("it shows a link", async || {
            self.process.lines().into_iter().map(|line| line.trim().to_owned()).find(|l| l.contains("/#key="))
        })
        .await
    }
}

/// The setting of the folder with its data.
const DATA_DIR: &str = "AKHAR_DATA_DIR";

/// The environment of a service with its data in this folder.
pub async fn environment(data: &Path) -> Vec<(String, String)> {
    let mut environment = base_environment(&Cluster::shared().empty_database().await);
    environment.retain(|(name, _)| name != "AKHAR_DATABASE_URL");
    environment.push((DATA_DIR.to_owned(), data.to_string_lossy().into_owned()));
    environment
}
