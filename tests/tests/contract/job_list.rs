//! The list of an account's jobs: filters, pages, and what other accounts see.

use std::collections::BTreeSet;

use akhar_tests::{Answer, Form, Stack, http::send};
use uuid::Uuid;

use crate::operations;

/// Submits an asynchronous job and returns its id.
async fn submit(stack: &Stack) -> Uuid {
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    send(request.header("prefer", "respond-async")).await.job()
}

/// The ids in a list.
fn ids(list: &Answer) -> Vec<Uuid> {
    assert_eq!(list.status, 200, "{list:?}");
    let json = list.json();
    let jobs = json["jobs"].as_array().expect("a list").clone();
    jobs.iter().map(|job| job["id"].as_str().and_then(|id| id.parse().ok()).expect("an id")).collect()
}

#[tokio::test]
async fn pages_have_every_job_once_although_jobs_are_submitted_meanwhile() {
    let stack = Stack::with().workers(0).start().await;
    let mut submitted = BTreeSet::new();
    for _ in 0..5 {
        submitted.insert(submit(&stack).await);
    }
    let (mut listed, mut path) = (Vec::new(), "/v1/jobs?limit=2".to_owned());
    loop {
        let page = stack.get(&path).await;
        listed.extend(ids(&page));
        submit(&stack).await;
        let Some(next) = page.json()["next"].as_str().map(str::to_owned) else { break };
        path = format!("/v1/jobs?limit=2&before={next}");
    }
    assert_eq!(listed.len(), submitted.len());
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), submitted);
    assert!(listed.is_sorted_by(|a, b| a > b), "newest first: {listed:?}");
}

#[tokio::test]
async fn a_list_has_only_the_jobs_of_its_account_that_match() {
    let stack = Stack::start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let image = &operations()[0];
    let right = stack.recognise(image.operation, &image.bytes).await;
    let right: Uuid = right.header("akhar-job").parse().expect("a job's id");
    let wrong = stack.recognise(image.operation, &image.bytes[..image.bytes.len() / 2]).await;
    wrong.problem(422);
    let wrong: Uuid = wrong.header("akhar-job").parse().expect("errors of a job name it too");

    let all = stack.get("/v1/jobs").await;
    assert_eq!(ids(&all), [wrong, right]);
    assert!(all.json()["jobs"][1]["result"].is_null(), "a list has no results");
    assert_eq!(all.json()["jobs"][0]["error"]["status"], 422);
    assert!(all.json()["next"].is_null());
    for (query, expected) in [
        ("state=succeeded", vec![right]),
        ("state=failed", vec![wrong]),
        ("state=queued", vec![]),
        (&format!("operation={}", image.operation), vec![wrong, right]),
        ("operation=speech-recognition", vec![]),
        ("since=2100-01-01T00:00:00Z", vec![]),
        ("until=2100-01-01T00:00:00Z&limit=1", vec![wrong]),
        (&format!("before={wrong}"), vec![right]),
    ] {
        assert_eq!(ids(&stack.get(&format!("/v1/jobs?{query}")).await), expected, "{query}");
    }
    let theirs = send(stack.anonymous("GET", "/v1/jobs").bearer_auth(&other)).await;
    assert!(ids(&theirs).is_empty());
    stack.refused(stack.anonymous("GET", "/v1/jobs"), 401).await;
    let refused = stack.refused(stack.request("GET", "/v1/jobs?limit=0&state=done&page=1"), 422).await;
    let expected = [("limit", "out_of_range"), ("page", "unknown"), ("state", "not_a_choice")];
    let expected = expected.map(|(field, code)| (field.to_owned(), code.to_owned()));
    assert_eq!(refused.errors(), expected.into());
}
