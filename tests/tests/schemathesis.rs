//! Runs schemathesis, which reads the served OpenAPI document and sends requests that it allows and that it
//! forbids.

#![expect(clippy::disallowed_methods, reason = "a test that waits for ever concerns its run only")]

use std::path::PathBuf;

use akhar_tests::{Stack, root, uploads::S3Server};
use tokio::process::Command;

/// The number of requests for each route and phase. It is large enough to reach the limits of every
/// parameter.
const EXAMPLES: &str = "40";

/// The paths of operators.
const ADMIN: &str = "^/v1/admin/";

/// A fixed seed makes failures reproducible.
const SEED: &str = "20261126";

#[tokio::test(flavor = "multi_thread")]
async fn the_service_does_what_its_openapi_document_says() {
    // With this limit, a request waits for at most one second, however long its job takes.
    let bucket = S3Server::start().await;
    let stack = Stack::with().settings(S3Server::settings(&bucket.address));
    let stack = stack.set("AKHAR_QUICK_WAIT_S", 1).start().await;
    check(&stack, &stack.key, &["--exclude-path-regex", ADMIN]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_api_does_what_its_openapi_document_says() {
    let stack = Stack::with().workers(0).start().await;
    let admin = stack.keys(&["create", "--name", "admin", "--role", "admin"]).await;
    check(&stack, &admin, &["--include-path-regex", ADMIN]).await;
}

/// Sends requests with this key. `paths` selects the paths.
async fn check(stack: &Stack, key: &str, paths: &[&str]) {
    let program = std::env::var("AKHAR_SCHEMATHESIS")
        .map_or_else(|_| root().join(".cache/schemathesis/bin/schemathesis"), PathBuf::from);
    assert!(program.is_file(), "{} is missing: run `make test`, which installs it", program.display());
    let output = Command::new(program)
        .arg("--config-file")
        .arg(root().join("tests/schemathesis.toml"))
        .args(["run", &format!("{}/openapi.json", stack.base)])
        .args(paths)
        .args(["--header", &format!("Authorization: Bearer {key}")])
        .args(["--seed", SEED, "--max-examples", EXAMPLES, "--generation-database", "none"])
        // The examples phase is left out: for a field without an example it sends a file that is not an
        // image.
        .args(["--phases", "coverage,fuzzing,stateful"])
        // One worker, because Hypothesis parses source code, and CPython 3.11 cannot do that in two threads
        // at once.
        .args(["--workers", "1", "--no-color", "--request-timeout", "20"])
        .current_dir(stack.folder())
        .env("SCHEMATHESIS_HOOKS", "schemathesis_hooks")
        .env("PYTHONPATH", root().join("tests"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TESTS_SOCKET", stack.folder())
        .kill_on_drop(true)
        .output()
        .await
        .expect("schemathesis runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let errors: Vec<String> =
        stack.api.log().into_iter().filter(|l| l.contains("\"level\":\"ERROR\"")).collect();
    assert!(errors.is_empty(), "the api logged errors:\n{}", errors.join("\n"));
}
