//! schemathesis reads the served OpenAPI document and tries what it allows and what it forbids.

use std::path::PathBuf;

use akhar_tests::{Stack, root};
use tokio::process::Command;

/// Requests it tries for each route and phase: enough to reach every parameter's edges.
const EXAMPLES: &str = "40";

/// Fixed, so that a failure comes again.
const SEED: &str = "20261121";

#[tokio::test(flavor = "multi_thread")]
async fn the_service_does_what_its_openapi_document_says() {
    let program = std::env::var("AKHAR_SCHEMATHESIS")
        .map_or_else(|_| root().join(".cache/schemathesis/bin/schemathesis"), PathBuf::from);
    assert!(program.is_file(), "{} is missing: run `make test`, which installs it", program.display());
    // What no worker can hold up: a response is kept for a second at most.
    let stack = Stack::with().set("AKHAR_QUICK_WAIT_S", 1).start().await;
    let output = Command::new(program)
        .args(["run", &format!("{}/openapi.json", stack.base)])
        .args(["--header", &format!("Authorization: Bearer {}", stack.key)])
        .args(["--seed", SEED, "--max-examples", EXAMPLES, "--generation-database", "none"])
        // Not the examples phase: where a field has no example it sends one that is no image.
        .args(["--phases", "coverage,fuzzing,stateful"])
        // One worker: CPython 3.11 cannot parse source in two threads at once, which Hypothesis does.
        .args(["--checks", "all", "--workers", "1", "--no-color", "--request-timeout", "20"])
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
