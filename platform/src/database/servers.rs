//! Where a database is: one server, or several of which one is used, as in the URLs of libpq.

use std::{io, str::FromStr as _, time::Duration};

use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};

use super::deadline::{ACQUIRE_LIMIT, within};

/// How long one of several servers may take to accept a connection before the next one is tried.
const SERVER_LIMIT: Duration = Duration::from_secs(2);

/// Which of several servers is used: libpq's `target_session_attrs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

impl Target {
    const NAMES: [(&str, Self); 6] = [
        ("any", Self::Any),
        ("read-write", Self::ReadWrite),
        ("read-only", Self::ReadOnly),
        ("primary", Self::Primary),
        ("standby", Self::Standby),
        ("prefer-standby", Self::PreferStandby),
    ];

    fn parse(name: &str) -> Result<Self, sqlx::Error> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, target)| *target).ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name).join(", ");
            sqlx::Error::Configuration(
                format!("target_session_attrs is {name:?}, expected one of {names}").into(),
            )
        })
    }

    /// What is looked for first, and what then.
    const fn in_turn(self) -> &'static [Self] {
        match self {
            Self::Any => &[Self::Any],
            Self::ReadWrite => &[Self::ReadWrite],
            Self::ReadOnly => &[Self::ReadOnly],
            Self::Primary => &[Self::Primary],
            Self::Standby => &[Self::Standby],
            Self::PreferStandby => &[Self::Standby, Self::Any],
        }
    }

    const fn is(self, is_standby: bool, is_read_only: bool) -> bool {
        match self {
            Self::Any | Self::PreferStandby => true,
            Self::ReadWrite => !is_read_only,
            Self::ReadOnly => is_read_only,
            Self::Primary => !is_standby,
            Self::Standby => is_standby,
        }
    }
}

/// The servers of one database, in the order in which they are tried.
#[derive(Debug, Clone)]
pub struct Servers {
    options: Vec<PgConnectOptions>,
    target: Target,
}

/// How a connection is opened: without a setting, which poolers such as `PgBouncer` refuse when it starts, and without the log of
/// sqlx, which has the whole texts of slow statements. The pool logs these.
fn of_pool(options: PgConnectOptions) -> PgConnectOptions {
    options.extra_float_digits(None).disable_statement_logging()
}

impl From<PgConnectOptions> for Servers {
    /// One server.
    fn from(options: PgConnectOptions) -> Self {
        Self { options: vec![of_pool(options)], target: Target::Any }
    }
}

impl Servers {
    /// Parses a connection URL such as `postgres://user:password@host/database`. As for libpq, it may name several hosts
    /// (`@first:5432,second:5432/`, or `?host=first,second&port=5432`), and `target_session_attrs` says which of them is
    /// meant.
    pub fn parse(url: &str) -> Result<Self, sqlx::Error> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Ok(PgConnectOptions::from_str(url)?.into());
        };
        let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (login, mut hosts) =
            authority.rsplit_once('@').map_or(("", authority), |(login, hosts)| (login, hosts));
        let at = if authority.contains('@') { "@" } else { "" };
        let mut target = Target::Any;
        let mut ports = "";
        let mut others = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("target_session_attrs", name)) => target = Target::parse(name)?,
                Some(("host", named)) if named.contains(',') => hosts = named,
                Some(("port", named)) if named.contains(',') => ports = named,
                _ => others.push(parameter),
            }
        }
        let mut ports = ports.split(',').filter(|port| !port.is_empty());
        let options = hosts.split(',').map(|host| {
            let port = ports.next().map(|port| format!(":{port}"));
            let url = format!(
                "{scheme}://{login}{at}{host}{}{path}?{}",
                port.unwrap_or_default(),
                others.join("&")
            );
            Ok(of_pool(PgConnectOptions::from_str(url.trim_end_matches('?'))?))
        });
        Ok(Self { options: options.collect::<Result<_, sqlx::Error>>()?, target })
    }

    /// The same servers, whose connections have this `application_name`.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        let options = self.options.into_iter().map(|options| options.application_name(name));
        Self { options: options.collect(), ..self }
    }

    /// Where the servers are: their hosts and ports, or their sockets. Contains no password.
    pub fn address(&self) -> String {
        let address = |options: &PgConnectOptions| match options.get_socket() {
            None => format!("{}:{}", options.get_host(), options.get_port()),
            Some(socket) => socket.display().to_string(),
        };
        self.options.iter().map(address).collect::<Vec<_>>().join(",")
    }

    /// How each server is reached.
    pub fn options(&self) -> &[PgConnectOptions] {
        &self.options
    }

    /// Connects to the first server that accepts a connection and is the one that is meant.
    pub async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        self.find().await.map(|(db, _)| db)
    }

    /// The same, and how that server is reached. The error is that of the first server.
    pub(super) async fn find(&self) -> Result<(PgConnection, &PgConnectOptions), sqlx::Error> {
        let mut first_error = None;
        for target in self.target.in_turn() {
            for options in &self.options {
                let limit = if self.options.len() > 1 { SERVER_LIMIT } else { ACQUIRE_LIMIT };
                match within(limit, connect_as(options, *target)).await {
                    Ok(db) => return Ok((db, options)),
                    Err(error) => first_error = first_error.or(Some(error)),
                }
            }
        }
        Err(first_error.unwrap_or(sqlx::Error::PoolTimedOut)) // there is at least one server
    }
}

#[expect(clippy::disallowed_methods, reason = "Servers::find limits the time")]
async fn connect_as(options: &PgConnectOptions, target: Target) -> Result<PgConnection, sqlx::Error> {
    let mut db = PgConnection::connect_with(options).await?;
    if target != Target::Any {
        let (is_standby, is_read_only): (bool, bool) =
            sqlx::query_as("select pg_is_in_recovery(), current_setting('transaction_read_only')::bool")
                .fetch_one(&mut db)
                .await?;
        if !target.is(is_standby, is_read_only) {
            let reason =
                format!("the server {} is not what target_session_attrs asks for", options.get_host());
            return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, reason).into());
        }
    }
    Ok(db)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> (String, Target) {
        let servers = Servers::parse(url).unwrap();
        for options in servers.options() {
            assert_eq!((options.get_username(), options.get_database()), ("me", Some("akhar")), "{url}");
        }
        (servers.address(), servers.target)
    }

    #[test]
    fn a_url_names_one_host_or_several_as_for_libpq() {
        for (url, address, target) in [
            ("postgres://me:p%40s@a/akhar", "a:5432", Target::Any),
            ("postgres://me:p@a:1,b:2,c/akhar", "a:1,b:2,c:5432", Target::Any),
            (
                "postgresql://me@a,b/akhar?sslmode=disable&target_session_attrs=read-write",
                "a:5432,b:5432",
                Target::ReadWrite,
            ),
            (
                "postgres://me@/akhar?host=a,b&port=1,2&target_session_attrs=primary",
                "a:1,b:2",
                Target::Primary,
            ),
            ("postgres://me@/akhar?host=a,b&port=7", "a:7,b:7", Target::Any),
            (
                "postgres://me@[::1]:1,[::2]:2/akhar?target_session_attrs=prefer-standby",
                "[::1]:1,[::2]:2",
                Target::PreferStandby,
            ),
        ] {
            assert_eq!(parsed(url), (address.to_owned(), target), "{url}");
        }
    }

    #[test]
    fn a_target_that_libpq_does_not_know_is_refused() {
        let error =
            Servers::parse("postgres://me@a,b/akhar?target_session_attrs=master").unwrap_err().to_string();
        assert!(error.contains("master") && error.contains("read-write"), "{error}");
    }

    #[test]
    fn each_target_takes_the_servers_that_it_names() {
        let [primary, read_only, standby] = [(false, false), (false, true), (true, true)];
        for (target, taken) in [
            (Target::Any, vec![primary, read_only, standby]),
            (Target::ReadWrite, vec![primary]),
            (Target::ReadOnly, vec![read_only, standby]),
            (Target::Primary, vec![primary, read_only]),
            (Target::Standby, vec![standby]),
        ] {
            for server in [primary, read_only, standby] {
                assert_eq!(target.is(server.0, server.1), taken.contains(&server), "{target:?} {server:?}");
            }
        }
    }
}
