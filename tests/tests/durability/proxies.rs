//! nginx and `HAProxy` with the files of `deploy/` in front of two apis: what one caller is refused, what the service refuses,
//! and an api that stops cost no request of another caller.

use std::{net::IpAddr, time::Duration};

use akhar_tests::{
    Form, LoadBalancer, Process, Stack,
    http::{connect, head, send, try_send},
    images::fixture_of,
    load::{Load, Sample, measure, statuses},
    load_balancer::Program,
    speech::{silence, wav},
    until,
};
use reqwest::{Client, RequestBuilder};
use rustix::process::Signal;
use tokio::{net::TcpStream, time::interval};

const SPEECH: &str = "speech-recognition";

/// The address of callers that get refusals. The load balancers limit the rate of each address.
const REFUSED: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

/// The time between two requests of one client, so that an address stays below the limits of the load balancers.
const PAUSE: Duration = Duration::from_millis(15);

/// Requests through each load balancer in the time in which each api stops twice, more or less.
const N_IN_A_ROUND: usize = 60;

/// How many innocent requests are sent in each case through each load balancer.
fn n_innocent() -> usize {
    // As many as a test has time for.
    std::env::var("TESTS_INNOCENT").map_or(30, |n| n.parse().expect("a number"))
}

/// Two apis behind both load balancers.
struct Site {
    stack: Stack,
    second: Process,
    apis: [String; 2],
    balancers: [LoadBalancer; 2],
}

impl Site {
    async fn start(settings: &[(&str, u64)]) -> Self {
        let with = Stack::with();
        let mut stack =
            settings.iter().fold(with, |stack, (name, value)| stack.set(name, *value)).start().await;
        let (second, address) = stack.start_api().await;
        let apis = [stack.base.clone(), address];
        let [first, other] = &apis;
        let start = |program: Program| program.start(stack.folder(), [first, other]);
        let [nginx, haproxy] = Program::ALL;
        let balancers = [start(nginx).await, start(haproxy).await];
        stack.key = stack.keys(&["create", "--name", "innocent"]).await;
        Self { stack, second, apis, balancers }
    }

    /// The picture that callers send through one of the load balancers.
    fn innocent(&self, nth: usize) -> RequestBuilder {
        let fixture = fixture_of(["੫", "ਕ"][nth]);
        let url = format!("{}/v1/models/{}", self.balancers[nth].base, fixture.operation);
        Form::upload(&fixture.bytes)
            .send_with(self.stack.anonymous("POST", &url).bearer_auth(&self.stack.key))
    }

    /// Sends pictures through each load balancer while `form` is sent again and again, which is always answered with one
    /// of these statuses (0: no answer). Returns what was not as it should be.
    async fn beside(
        &self,
        case: &str,
        key: &str,
        form: &Form,
        (allowed, slug): (&[u16], &str),
    ) -> Vec<String> {
        let client = Client::builder().local_address(REFUSED).build().expect("a client");
        let refused =
            |base: &str| form.send_with(client.post(format!("{base}/v1/models/{SPEECH}")).bearer_auth(key));
        for base in &self.apis {
            until(&format!("{case}: requests are refused"), async || {
                let answer = try_send(refused(base)).await.ok()?;
                (answer.status == allowed[0] && answer.problem(allowed[0]).slug == slug).then_some(())
            })
            .await;
        }
        let mut failures = Vec::new();
        for (nth, balancer) in self.balancers.iter().enumerate() {
            let load = Load::measure_every(&refused(&balancer.base), PAUSE);
            let innocent = self.innocent(nth);
            let mut samples = Vec::new();
            let mut ticks = interval(PAUSE);
            for _ in 0..n_innocent() {
                ticks.tick().await;
                samples.push(measure(&innocent).await);
            }
            let refusals = load.stop().await;
            let program = Program::ALL[nth];
            println!("{program:?}, {case}: {:?}, refused {:?}", statuses(&samples), statuses(&refusals));
            if !samples.iter().all(Sample::is_good) {
                failures.push(format!("{program:?}, {case}: innocent requests: {:?}", statuses(&samples)));
            }
            if statuses(&refusals).keys().any(|status| !allowed.contains(status)) {
                failures.push(format!("{program:?}, {case}: other requests: {:?}", statuses(&refusals)));
            }
        }
        failures
    }

    /// A body that has begun to arrive at each api, and takes memory of this account there.
    async fn hold_memory(&self, key: &str, form: &Form) -> [TcpStream; 2] {
        let length = form.body().len().to_string();
        let headers = [("Content-Type", &*form.content_type()), ("Content-Length", &*length)];
        let head = head("POST", &format!("/v1/models/{SPEECH}"), key, &headers);
        [connect(&self.apis[0], &head).await, connect(&self.apis[1], &head).await]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_take_no_api_from_other_callers() {
    let site = Site::start(&[("AKHAR_MAX_WAITING", 10), ("AKHAR_MAX_UPLOAD_BYTES", 4_000_000)]).await;
    let key = async |name| site.stack.keys(&["create", "--name", name]).await;
    let [flooding, uploading, third] = [key("flooding").await, key("uploading").await, key("third").await];
    let clip = Form::upload_and(&wav(&silence(1)), "lang", "pa");
    let large = Form::upload(&vec![b'x'; 2_000_000]);

    // An api does not read all of such a body before it closes the connection, so its caller may get no answer.
    let huge = Form::upload(&vec![b'x'; 20_000_000]);
    let too_large = (&[413, 502, 0][..], "too-large");
    let mut failures = site.beside("bodies that are not read", &uploading, &huge, too_large).await;
    // It has no accepted type, so it would be answered with 415 if there were memory for it.
    let no_memory = (&[429, 415][..], "account-busy");
    let _held = site.hold_memory(&uploading, &large).await;
    failures.extend(site.beside("large uploads", &uploading, &large, no_memory).await);
    site.stack.akhar(&["queues", "pause", "speech"]).await;
    // A worker claims no more from its next heartbeat on, and has applied that when it sends another.
    for _ in 0..2 {
        let sent = async || -> String {
            let sent = sqlx::query_scalar("select min(seen_at)::text from workers");
            sent.fetch_one(&site.stack.db).await.expect("a worker")
        };
        let last = sent().await;
        until("the worker sends a heartbeat", async || (sent().await != last).then_some(())).await;
    }
    let fill = async |key: &str| {
        let request = || site.stack.post_as(key, SPEECH, &clip).header("prefer", "respond-async");
        while send(request()).await.status == 202 {}
    };
    fill(&flooding).await;
    failures.extend(site.beside("waiting jobs", &flooding, &clip, (&[429], "account-busy")).await);
    fill(&third).await;
    failures.extend(site.beside("a full queue", &flooding, &clip, (&[503], "queue-full")).await);
    site.stack.akhar(&["queues", "drain", "speech"]).await;
    failures.extend(site.beside("a drained queue", &flooding, &clip, (&[503], "queue-closed")).await);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_stops_or_is_killed_costs_no_request() {
    let mut site = Site::start(&[]).await;
    let loads = [0, 1].map(|nth| {
        let innocent = site.innocent(nth);
        [(); 4].map(|()| Load::measure_every(&innocent, 4 * PAUSE))
    });
    let operations = ["੫", "ਕ"].map(|label| fixture_of(label).operation);
    let n_rounds = n_innocent().div_ceil(N_IN_A_ROUND);
    for signal in (0..n_rounds).flat_map(|_| [Signal::TERM, Signal::KILL]) {
        for api in [&mut site.stack.api, &mut site.second] {
            api.restart(signal).await;
            until("both load balancers use the api again", async || {
                let log = api.log();
                let served = |operation: &&str| log.iter().any(|line| line.contains(operation));
                operations.iter().all(served).then_some(())
            })
            .await;
        }
    }
    for (program, loads) in Program::ALL.into_iter().zip(loads) {
        let mut samples = Vec::new();
        for load in loads {
            samples.extend(load.stop().await);
        }
        println!("{program:?}: {:?}", statuses(&samples));
        assert!(samples.iter().all(Sample::is_good), "{program:?}: {:?}", statuses(&samples));
    }
}
