//! What the commands of operators do, with the database or through a server's admin API. Each command writes the same output
//! either way.

mod audit;
mod jobs;
mod keys;
mod queues;
mod webhooks;

use std::path::PathBuf;

use akhar_accounts::{Actor, UrlRules};
use akhar_client::{Client, ClientError};
use akhar_platform::config::Config;
use akhar_platform::database::Pool;

pub(crate) use jobs::JobFilter;
pub(crate) use keys::{NewKey, UrlOption};

use crate::{actor, connect, elsewhere, failure::Failure};

/// The most entries of a page of the admin API.
const PAGE: u8 = 100;

/// A command of operators, and where it works.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments<C: clap::Subcommand> {
    #[command(subcommand)]
    pub(crate) command: C,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Where a command of operators works. Without an address, in the database.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The address of a server, such as <https://akhar.example>, whose admin API is used in place of the database. The key of an
    /// operator is in `AKHAR_KEY`
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// A file with that key, instead of `AKHAR_KEY`
    #[arg(long, global = true, value_name = "FILE", requires = "url")]
    key_file: Option<PathBuf>,
}

/// The service as operators reach it.
pub(crate) enum Admin {
    /// Its database.
    Database {
        /// The database.
        db: Pool,
        /// Who runs the command.
        actor: Actor,
        /// Where webhooks may be sent.
        rules: UrlRules,
    },
    /// A server.
    Server {
        /// A client with the key of an operator.
        client: Client,
        /// The address, for messages.
        base: String,
    },
}

impl Place {
    /// Does the work of a command.
    pub(crate) async fn with<T>(
        self,
        config: &Config,
        work: impl AsyncFnOnce(&Admin) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(url) = &self.url else {
            let rules = UrlRules::new(config.webhook_networks());
            return connect::with_database(config, async |db| {
                work(&Admin::Database { db: db.clone(), actor: actor::of_command(), rules }).await
            })
            .await;
        };
        elsewhere::check(url)?;
        let key = self.key_file.as_deref().map(elsewhere::key_in).transpose()?;
        let key = key.or_else(|| elsewhere::key_of(config)).ok_or_else(|| {
            Failure::Command(format!(
                "there is no API key for {url}: set AKHAR_KEY, or name its file with --key-file"
            ))
        })?;
        let base = url.trim_end_matches('/').to_owned();
        let client = Client::new(elsewhere::http(false)?, &base, key);
        work(&Admin::Server { client, base }).await
    }
}

/// At most `limit` entries of a list, read page by page. `page` gets where a page begins and its most entries, and returns them with
/// where the next page begins.
async fn pages<T, C>(
    limit: usize,
    page: impl AsyncFn(Option<C>, u8) -> Result<(Vec<T>, Option<C>), Failure>,
) -> Result<Vec<T>, Failure> {
    let mut entries = Vec::new();
    let mut from = None;
    loop {
        let n_left = u8::try_from(limit.saturating_sub(entries.len())).map_or(PAGE, |left| left.min(PAGE));
        let (found, next) = page(from, n_left).await?;
        entries.extend(found);
        from = next;
        if from.is_none() || entries.len() >= limit {
            return Ok(entries);
        }
    }
}

/// The failure of a request to the server at `base`.
fn refused(base: &str) -> impl Fn(ClientError) -> Failure {
    move |error| elsewhere::failure(base, &error)
}

/// A path with parameters, those that are given.
fn with_query(path: &str, parameters: &[(&str, Option<String>)]) -> String {
    let given = parameters.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let query = reqwest::Url::parse_with_params("http://query/", given);
    let query = query.ok().and_then(|url| url.query().map(str::to_owned)).unwrap_or_default();
    format!("{path}?{query}")
}

/// A part of a path.
fn segment(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'-' | b'_' | b'.' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_path_has_is_escaped() {
        let parameters = [("a", Some("x & y".to_owned())), ("b", None), ("c", Some("ਕ".to_owned()))];
        assert_eq!(with_query("jobs", &parameters), "jobs?a=x+%26+y&c=%E0%A8%95");
        assert_eq!(segment("a/b c"), "a%2Fb%20c");
    }
}
