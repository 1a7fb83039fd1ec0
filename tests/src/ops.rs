//! An operator in front of the operations page: a client that keeps cookies and follows no redirect.

use std::collections::BTreeMap;

use akhar_operators::Actor;
use akhar_platform::database::Pool;
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder, redirect::Policy};
use serde_json::Value;

use crate::{Answer, Stack, http};

/// Somebody who runs statements of operators.
pub fn actor() -> Actor {
    Actor::of_command("test@here".to_owned())
}

/// Records a day of all queues, from a minute ahead back, without the minute of ten hours ago.
pub async fn record_day(db: &Pool) {
    sqlx::query(
        "insert into queue_minutes (minute, queue, n_started, n_ended, n_failed, oldest_wait_ms, audio_s)
         select date_trunc('minute', now()) - make_interval(mins => ago), queue, n, n - ago % 3 + 1,
             case when ago % 97 < 5 then n / 4 else 0 end, (100 + n * n) * 1000 / 70, case queue when 'speech' then n * 20 else 0 end
         from generate_series(-1, 1439) as ago, unnest('{quick,speech,live}'::text[]) as queue,
             lateral (select (30 + 25 * sin(ago / 200.0) + ago % 7)::int4 as n) as load
         where ago <> 600
         on conflict (minute, queue) do update set n_started = excluded.n_started",
    )
    .execute(db)
    .await
    .expect("a day");
}

/// An operator.
#[derive(Debug)]
pub struct Operator {
    client: Client,
    base: String,
    cookies: Mutex<BTreeMap<String, String>>,
    headers: Vec<(&'static str, String)>,
}

impl Operator {
    /// Somebody who is not signed in. All have the same address.
    pub fn anonymous(stack: &Stack) -> Self {
        Self::at(&stack.base)
    }

    /// The same in front of the api at this address.
    pub fn at(base: &str) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder().redirect(Policy::none()).build().expect("a client");
        Self { client, base: base.to_owned(), cookies: Mutex::default(), headers: Vec::new() }
    }

    /// Creates an admin key and signs in with it.
    pub async fn signed_in(stack: &Stack) -> Self {
        Self::with_role(stack, "admin").await
    }

    /// Creates a key with this role, whose name is `operator`, and signs in with it.
    pub async fn with_role(stack: &Stack, role: &str) -> Self {
        let key = stack.keys(&["create", "--name", "operator", "--role", role]).await;
        let mut operator = Self::anonymous(stack);
        assert_eq!(operator.sign_in(&key).await.status, 303);
        operator
    }

    /// From now on, the operator finds the service at this address.
    pub fn comes_to(&mut self, base: &str) {
        base.clone_into(&mut self.base);
    }

    /// From now on, requests come through a proxy that gets them with this scheme.
    pub fn proxied(&mut self, scheme: &str) {
        self.headers.push(("x-forwarded-proto", scheme.to_owned()));
        self.headers.push(("x-forwarded-for", "192.0.2.1".to_owned()));
    }

    /// Gets a page.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(format!("{}{path}", self.base))).await
    }

    /// Gets the form for signing in, and sends it with this key.
    pub async fn sign_in(&mut self, key: &str) -> Answer {
        let token = token_in(&self.get("/ops/login").await);
        self.send_form("/ops/login", &[("key", key)], Some(&token), None).await
    }

    /// Sends a form of a page.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token().await;
        self.send_form(path, fields, Some(&token), None).await
    }

    /// Sends a form with this token, from a page of this site.
    pub async fn send_form(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        token: Option<&str>,
        origin: Option<&str>,
    ) -> Answer {
        let fields: Vec<_> =
            token.map(|token| ("token", token)).into_iter().chain(fields.iter().copied()).collect();
        let escape =
            |text: &str| text.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
        let body: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
        let mut request = self.client.post(format!("{}{path}", self.base));
        request = request.header("content-type", "application/x-www-form-urlencoded").body(body.join("&"));
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        self.send(request).await
    }

    /// The token in the forms of the pages.
    pub async fn token(&self) -> String {
        token_in(&self.get("/ops").await)
    }

    /// The data of the first event of a stream.
    pub async fn first_event(&self, path: &str) -> Value {
        let request = self.prepared(self.client.get(format!("{}{path}", self.base)));
        let mut response = request.send().await.expect("a stream");
        let mut text = String::new();
        while !text.contains("\n\n") {
            let chunk = response.chunk().await.expect("a chunk").expect("an event");
            text.push_str(&String::from_utf8_lossy(&chunk));
        }
        let data = text.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
        serde_json::from_str(data).expect("JSON")
    }

    fn prepared(&self, mut request: RequestBuilder) -> RequestBuilder {
        let cookies = self.cookies.lock();
        let cookies: Vec<_> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.header("cookie", cookies.join("; "))
    }

    async fn send(&self, request: RequestBuilder) -> Answer {
        let answer = http::send(self.prepared(request)).await;
        let mut cookies = self.cookies.lock();
        for cookie in answer.headers.get_all("set-cookie").iter().filter_map(|cookie| cookie.to_str().ok()) {
            if let Some((name, value)) = cookie.split(';').next().and_then(|pair| pair.split_once('=')) {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }
}

/// The token of the first form of a page. Empty without a form.
fn token_in(page: &Answer) -> String {
    let text = page.text();
    let rest = text.split_once("name=\"token\" value=\"").map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap_or_default().to_owned()
}
