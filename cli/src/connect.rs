//! Connects to the configured database, or to the private database of `akhar serve`.

use akhar_platform::database::Pool;
use akhar_platform::{
    blocking::blocking,
    config::Config,
    database::{self, Database, PrivateError, PrivatePostgres, Servers},
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::failure::Failure;

/// Connects to the configured database. `name` is the `application_name` of the connections.
pub(crate) async fn configured(name: &'static str, config: &Config) -> Result<Database, Failure> {
    let servers = configured_servers(config)?.ok_or(Failure::NoDatabase)?;
    connect(name, servers, config).await
}

/// Connects to the configured database, whose schema must be the one of this version.
pub(crate) async fn migrated(name: &'static str, config: &Config) -> Result<Database, Failure> {
    let database = configured(name, config).await?;
    akhar_migrations::check(&database.pool).await?;
    Ok(database)
}

/// Connects to a database. The error says where the server was expected.
pub(crate) async fn connect(
    name: &'static str,
    servers: Servers,
    config: &Config,
) -> Result<Database, Failure> {
    let address = servers.address();
    let connected = Database::connect(name, servers, config.database_connections.get()).await;
    let database = connected.map_err(|source| Failure::Connect { address, source })?;
    let listen_url = config.database_listen_url.as_ref().filter(|_| config.database_url.is_some());
    let database = match listen_url.map(SecretString::expose_secret) {
        None => database,
        Some("off") => database.listening(None),
        Some(url) => database.listening(Some(parse("AKHAR_DATABASE_LISTEN_URL", url)?)),
    };
    let replica = config.database_read_url.as_ref().filter(|_| config.database_url.is_some());
    Ok(match replica {
        None => database,
        Some(url) => database.reading(parse("AKHAR_DATABASE_READ_URL", url.expose_secret())?),
    })
}

/// The servers of the configured database. `None` if `AKHAR_DATABASE_URL` is not set.
pub(crate) fn configured_servers(config: &Config) -> Result<Option<Servers>, Failure> {
    let url = config.database_url.as_ref();
    url.map(|url| parse("AKHAR_DATABASE_URL", url.expose_secret())).transpose()
}

fn parse(setting: &'static str, url: &str) -> Result<Servers, Failure> {
    Servers::parse(url).map_err(|source| Failure::Url { setting, source })
}

/// `akhar migrate`: applies all pending migrations to the configured database.
pub(crate) async fn migrate(config: &Config) -> Result<(), Failure> {
    let database = configured("akhar-migrate", config).await?;
    akhar_migrations::migrate(&database.pool).await?;
    tracing::info!("the schema is up to date");
    database.close();
    Ok(())
}

/// `akhar migrate --reset-role`: takes the settings off the role that processes give it.
pub(crate) async fn reset_role(config: &Config) -> Result<(), Failure> {
    let servers = configured_servers(config)?.ok_or(Failure::NoDatabase)?;
    let address = servers.address();
    database::reset_role(&servers).await.map_err(|source| Failure::Connect { address, source })?;
    tracing::info!("the role has the settings of the server again, until a process of Akhar starts with it");
    Ok(())
}

/// The database that one command uses.
pub(crate) struct CommandDatabase {
    pub(crate) database: Database,
    /// The private server, if it was started for this command alone.
    private: Option<PrivatePostgres>,
}

impl CommandDatabase {
    /// Connects to the configured database. If none is configured, connects to the private database of `akhar serve`,
    /// and starts it unless an `akhar serve` is running. Fails if there is none: a new one would hold keys that no
    /// server knows.
    pub(crate) async fn open(config: &Config) -> Result<Self, Failure> {
        let (servers, private) = match configured_servers(config)? {
            Some(servers) => (servers, None),
            None => private(config).await?,
        };
        let database = connect("akhar-command", servers, config).await?;
        if private.is_some() {
            akhar_migrations::migrate(&database.pool).await?;
        }
        Ok(Self { database, private })
    }

    /// Closes the connections, and stops the private server if it was started for this command.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        self.database.close();
        match self.private {
            Some(private) => stop(private).await,
            None => Ok(()),
        }
    }
}

/// Does the work of a command with the database that it uses, and closes it.
pub(crate) async fn with_database<T>(
    config: &Config,
    work: impl AsyncFnOnce(&Pool) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let opened = CommandDatabase::open(config).await?;
    let done = work(&opened.database.pool).await;
    opened.close().await?;
    done
}

async fn private(config: &Config) -> Result<(Servers, Option<PrivatePostgres>), Failure> {
    let data_dir = config.data_dir.clone();
    if !PrivatePostgres::exists(&data_dir)? {
        let folder = std::path::absolute(&data_dir).unwrap_or(data_dir);
        return Err(Failure::NoPrivateDatabase(folder));
    }
    blocking(move || match PrivatePostgres::start(&data_dir) {
        Ok(private) => Ok((private.options().into(), Some(private))),
        Err(PrivateError::InUse(_)) => Ok((PrivatePostgres::address(&data_dir)?.into(), None)),
        Err(error) => Err(error.into()),
    })
    .await
}

/// Starts the private database.
pub(crate) async fn start(config: &Config) -> Result<PrivatePostgres, Failure> {
    let data_dir = config.data_dir.clone();
    blocking(move || Ok(PrivatePostgres::start(&data_dir)?)).await
}

/// Stops the private database.
pub(crate) async fn stop(private: PrivatePostgres) -> Result<(), Failure> {
    blocking(move || Ok(private.stop()?)).await
}
