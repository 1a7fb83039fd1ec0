//! What the pages say: a field for each text.

macro_rules! texts {
    ($(#[doc = $doc:literal] $name:ident { $($field:ident: $kind:ty,)+ })+) => {
        $(#[doc = $doc]
        #[derive(Debug)]
        pub(in crate::ui::ops) struct $name { $(pub(in crate::ui::ops) $field: $kind,)+ })+
    };
}

type Words = &'static str;

texts! {
    /// Everything that the pages say in one language.
    Text {
        skip: Words, navigation: Words, language: Words, sign_out: Words, times_are_utc: Words,
        sections: Sections, login: Login, failures: Failures, units: Units, notices: Notices, alerts: Alerts,
        overview: OverviewTexts, history: History, modes: Modes, workers: Workers, actions: Actions, states: States, jobs: Jobs,
        job: Job, errors: Errors, keys: Keys, roles: Roles, audit: Audit,
    }
    /// The names of the pages.
    Sections { overview: Words, jobs: Words, errors: Words, keys: Words, audit: Words, }
    /// The form for signing in.
    Login {
        title: Words, key: Words, hint: Words, sign_in: Words, wrong_key: Words, old_form: Words, too_many: Words,
    }
    /// Why a page cannot be shown.
    Failures { form: Words, forbidden: Words, not_found: Words, database: Words, }
    /// Units of durations.
    Units { seconds: Words, minutes: Words, hours: Words, days: Words, }
    /// What an action did.
    Notices {
        retried: Words, cancelled: Words, deleted: Words, queue: Words, worker: Words, revoked: Words, partial: Words,
    }
    /// What needs attention.
    Alerts {
        none: Words, storage_full: Words, no_worker: Words, silent: Words, paused: Words, draining: Words, long_wait: Words,
        poor_texts: Words,
    }
    /// Queues and workers.
    OverviewTexts {
        queues: Words, queue_heads: [Words; 8], workers: Words, worker_heads: [Words; 6], no_workers: Words,
        models: Words, model_heads: [Words; 5], mixed: Words,
        groups: Words, group_heads: [Words; 8],
        kept: Words, about: Words, live: Words, lost: Words,
    }
    /// The last day.
    History {
        title: Words, none: Words, rates: Words, wait: Words, started: Words, ended: Words, failed: Words, longest_wait: Words,
        missing: Words, most: Words, table: Words, caption: Words, heads: [Words; 7],
    }
    /// Modes of queues.
    Modes { open: Words, paused: Words, draining: Words, }
    /// States of workers.
    Workers { works: Words, draining: Words, drained: Words, silent: Words, }
    /// Buttons.
    Actions { pause: Words, drain: Words, resume: Words, retry: Words, cancel: Words, delete: Words, revoke: Words, }
    /// States of jobs.
    States { queued: Words, running: Words, succeeded: Words, failed: Words, cancelled: Words, }
    /// The list of jobs.
    Jobs {
        by_state: Words, all: Words, queue: Words, both_queues: Words, search_by: Words, search_for: Words, by_job: Words,
        by_request: Words, by_account: Words, by_error: Words, find: Words, no_such_id: Words, none: Words, caption: Words,
        heads: [Words; 8], select: Words, with_selected: Words, all_found: Words, most_changed: Words,
        delete_warning: Words, read_limit: Words, pages: Words, first_page: Words, next_page: Words,
    }
    /// One job.
    Job {
        title: Words, operation: Words, queue: Words, attempts: Words, caller: Words, waits: Words, asynchronous: Words,
        account: Words, request: Words, worker: Words, accepted: Words, not_before: Words, started: Words, ended: Words,
        decode: Words, inference: Words, upload: Words, bytes: Words, last_error: Words, failed_attempts: Words,
        attempt_heads: [Words; 5], rejected: Words,
    }
    /// Failed jobs by error.
    Errors { hint: Words, none: Words, caption: Words, heads: [Words; 4], retry_all: Words, }
    /// Keys and accounts.
    Keys {
        hint: Words, caption: Words, heads: [Words; 8], works: Words, until: Words, expired: Words, revoked: Words, revoke_warning: Words,
    }
    /// What keys of operators may do.
    Roles { view: Words, operate: Words, admin: Words, }
    /// What operators changed.
    Audit {
        hint: Words, caption: Words, heads: [Words; 6], none: Words, action: Words, any_action: Words, actor: Words, find: Words,
        command: Words,
    }
}
