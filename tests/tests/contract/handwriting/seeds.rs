//! The field `seed`: the same seed gives the same strokes.

use akhar_tests::{Stack, http::send};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{GREETING, greeting_and, picture_and, write};
use crate::violations;

async fn points(stack: &Stack, fields: &Value) -> Vec<u8> {
    send(write(stack, fields).header("accept", "application/json")).await.body.to_vec()
}

#[tokio::test]
async fn a_seed_gives_the_same_strokes_in_every_job_and_another_seed_gives_others() {
    let (stack, other) =
        tokio::join!(Stack::start(), Stack::with().set("AKHAR_INFERENCE_THREADS", 2).start());
    let first = points(&stack, &greeting_and("seed", 7)).await;
    for same in [&stack, &other] {
        assert_eq!(points(same, &greeting_and("seed", 7)).await, first);
        let mut picture = picture_and("seed", 7);
        picture["stroke-width"] = 8.into();
        let document: Value = serde_json::from_slice(&points(same, &picture).await).expect("JSON");
        let strokes: Value = serde_json::from_slice(&first).expect("JSON");
        assert_eq!(document["points"], strokes["points"], "a picture has the same strokes");
    }
    for another in [greeting_and("seed", 8), greeting_and("seed", u32::MAX), json!({"text": GREETING})] {
        assert_ne!(points(&stack, &another).await, first, "{another}");
    }
    assert_ne!(
        points(&stack, &json!({"text": GREETING})).await,
        points(&stack, &json!({"text": GREETING})).await
    );
}

/// A change of this number is a change that callers see: the changelog says that every seed has another handwriting.
#[tokio::test]
async fn the_strokes_of_a_seed_are_the_same_on_every_machine() {
    let stack = Stack::start().await;
    let mut hash = Sha256::new();
    for seed in 0..20 {
        hash.update(
            points(&stack, &json!({"text": "ੴ ਸਤਿ ਨਾਮੁ ਕਰਤਾ ਪੁਰਖੁ ਨਿਰਭਉ ਨਿਰਵੈਰੁ ੧੨੩।", "seed": seed})).await,
        );
    }
    assert_eq!(
        hex::encode(hash.finalize()),
        "4b2cb84c6cb2eae8484f243042d28bd451de77f2fa515c42458d96036b36eff1"
    );
}

#[tokio::test]
async fn a_seed_is_an_integer_of_32_bits() {
    let stack = Stack::with().workers(0).start().await;
    // null is no seed.
    for seed in [json!(0), json!(1), json!(u32::MAX), json!(null)] {
        send(write(&stack, &greeting_and("seed", seed)).header("prefer", "respond-async")).await.job();
    }
    for (wrong, code) in [
        (json!(-1), "out_of_range"),
        (json!(1_u64 << 32), "out_of_range"),
        (json!(1.5), "not_an_integer"),
        (json!("7"), "wrong_type"),
        (json!([7]), "wrong_type"),
    ] {
        let problem = stack.refused(write(&stack, &greeting_and("seed", wrong)), 422).await;
        assert_eq!(problem.errors(), violations([("seed", code)]), "{}", problem.json);
    }
}

#[tokio::test]
async fn a_repeated_idempotency_key_needs_the_same_seed() {
    let stack = Stack::start().await;
    let request = |fields: &Value| write(&stack, fields).header("idempotency-key", "a-key");
    let first = send(request(&greeting_and("seed", 7))).await;
    assert_eq!(send(request(&greeting_and("seed", 7))).await.body, first.body);
    for other in [greeting_and("seed", 8), json!({"text": GREETING})] {
        let refused = stack.refused(request(&other), 422).await;
        assert_eq!(refused.errors(), violations([("Idempotency-Key", "reused")]));
    }
}
