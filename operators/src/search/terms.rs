//! What is searched for. The table of conditions describes each once: the search, the parameters and forms of the admin API and the
//! options of the commands are made from it.

use std::{fmt, time::Duration};

use akhar_jobs::JobId;
pub use akhar_jobs::{GroupName, JobState, Queue};
use akhar_platform::database::Pool;
pub use akhar_requests::Operation;
use akhar_requests::queue_named;
use uuid::Uuid;

use crate::{KeyError, accounts};

/// Calls the macro `$with` with all conditions, and then with `$more`. Each has its name in code, the type of its value, its name in
/// requests, its description in the API's document, the help of its option, and what else is said of that.
#[macro_export]
macro_rules! with_job_conditions {
    ($with:ident $($more:tt)*) => {
        $with! {
            [
                state: $crate::search::terms::JobState, "state", "Only jobs in this state.",
                    "In this state: queued, running, succeeded, failed or cancelled", ();
                queue: $crate::search::terms::Queue, "queue", "Only jobs in this queue.", "In this queue: quick, speech or live", ();
                operation: $crate::search::terms::Operation, "operation", "Only jobs of this operation.",
                    "Of this operation, such as speech-recognition", ();
                account: $crate::search::terms::AccountName, "account",
                    "Only jobs of the account with this name or id, or of the key with this prefix.",
                    "Of the account with this name, or of this key: the 8 characters after `ak_`, as `akhar keys list` shows them",
                    (visible_alias = "key", value_name = "NAME|PREFIX");
                group: $crate::search::terms::GroupName, "group", "Only jobs of the group with this name.",
                    "Of the group with this name, of any account", (value_name = "NAME");
                request_id: $crate::search::terms::Text, "request-id", "Only jobs that the request with this id made.",
                    "Made by the request with this id, which every response and every log line has", (value_name = "ID");
                error: $crate::search::terms::Text, "error", "Only jobs whose last error contains this text, in large or small letters.",
                    "Whose last error contains this text, in large or small letters", (value_name = "TEXT");
                older_than: $crate::search::terms::Age, "older-than-s", "Only jobs that were accepted at least so many seconds ago.",
                    "Accepted at least this long ago, such as 90s, 15m, 2h or 1d", (value_name = "AGE");
                ended_before: $crate::search::terms::Age, "ended-before-s", "Only jobs that ended at least so many seconds ago.",
                    "Ended at least this long ago", (value_name = "AGE");
            ]
            $($more)*
        }
    };
}

macro_rules! search {
    ([$($field:ident: $type:ty, $name:literal, $about:literal, $help:literal, $option:tt;)+]) => {
        /// Which jobs an operator means. `None` means any.
        #[derive(Debug, Clone, Default)]
        pub struct JobSearch {
            /// One of these jobs.
            pub ids: Option<Vec<JobId>>,
            $(#[doc = $about] pub $field: Option<$type>,)+
        }

        impl JobSearch {
            /// The conditions, each with its name in the audit trail.
            fn conditions(&self) -> impl Iterator<Item = (String, String)> {
                let ids = self.ids.as_ref().map(|ids| ids.iter().map(JobId::to_string).collect::<Vec<_>>().join(","));
                let name = |field: &str| field.trim_end_matches("_id").replace('_', "-");
                let conditions = [
                    ("id".to_owned(), ids),
                    $((name(stringify!($field)), self.$field.as_ref().map(Term::words)),)+
                ];
                conditions.into_iter().filter_map(|(name, value)| Some((name, value?)))
            }
        }
    };
}

with_job_conditions! { search }

impl JobSearch {
    /// Whether all jobs are meant.
    pub fn is_all(&self) -> bool {
        self.conditions().next().is_none()
    }

    /// The same search, with the account that is meant. Without this, one for an account finds nothing.
    pub async fn resolve(mut self, db: &Pool) -> Result<Self, KeyError> {
        if let Some(account) = &mut self.account {
            account.id = Some(accounts::find(db, &account.entered).await?);
        }
        Ok(self)
    }
}

/// The conditions as the audit trail has them, such as `state=failed queue=quick`.
impl fmt::Display for JobSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions: Vec<_> = self.conditions().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(if conditions.is_empty() { "all" } else { "" })?;
        f.write_str(&conditions.join(" "))
    }
}

/// The value of a condition.
pub trait Term: Sized {
    /// Parses what a person wrote. The error says what is expected.
    fn parse(text: &str) -> Result<Self, String>;

    /// The value as the audit trail has it.
    fn words(&self) -> String;
}

impl Term for JobState {
    fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|state| state.name() == text);
        found.ok_or_else(|| "expected queued, running, succeeded, failed or cancelled".to_owned())
    }

    fn words(&self) -> String {
        self.name().to_owned()
    }
}

impl Term for Queue {
    fn parse(text: &str) -> Result<Self, String> {
        queue_named(text).ok_or_else(|| "expected quick, speech or live".to_owned())
    }

    fn words(&self) -> String {
        self.name().to_owned()
    }
}

impl Term for Operation {
    fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|operation| operation.name() == text);
        found.ok_or_else(|| format!("expected one of {}", Self::ALL.map(Self::name).join(", ")))
    }

    fn words(&self) -> String {
        self.name().to_owned()
    }
}

impl Term for GroupName {
    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| {
            "expected the name of a group: 1 to 128 letters, digits, '.', '_' and '-', the first a letter or digit".to_owned()
        })
    }

    fn words(&self) -> String {
        self.as_str().to_owned()
    }
}

/// A text that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

impl Term for Text {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }

    fn words(&self) -> String {
        self.0.clone()
    }
}

/// An account, by its name or id, or by the prefix of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountName {
    entered: String,
    /// Its id, which [`JobSearch::resolve`] finds.
    pub(super) id: Option<Uuid>,
}

impl AccountName {
    /// The account for which somebody entered this.
    pub const fn new(entered: String) -> Self {
        Self { entered, id: None }
    }
}

impl Term for AccountName {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self::new(text.to_owned()))
    }

    fn words(&self) -> String {
        self.id.map_or_else(|| self.entered.clone(), |id| id.to_string())
    }
}

/// How long ago at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Age(pub Duration);

impl Term for Age {
    /// Parses a time such as `90s`, `15m`, `2h` or `1d`. A number alone is hours.
    fn parse(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit_s = match &text[digits.len()..] {
            "s" => 1,
            "m" => 60,
            "h" | "" => 3600,
            "d" => 86_400,
            _ => 0,
        };
        let n: Option<u32> = digits.parse().ok().filter(|_| unit_s > 0);
        n.map(|n| Self(Duration::from_secs(u64::from(n) * unit_s)))
            .ok_or_else(|| "expected a time such as 90s, 15m, 2h or 1d".to_owned())
    }

    fn words(&self) -> String {
        format!("{}s", self.0.as_secs())
    }
}
