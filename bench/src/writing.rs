//! Measures the worker's time for handwriting of 100 characters, as points and as a picture.

use akhar_tests::{
    Answer, Cluster, Stack,
    figures::{count, quantiles},
    http::send,
    load::work,
};
use serde_json::{Value, json};

use crate::{load::warm_stack, machine::Machine, report::Report};

/// 100 characters of everyday Panjabi, with vowel signs and conjuncts.
const TEXT: &str = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ। ਮੈਂ ਪੰਜਾਬੀ ਵਿੱਚ ਲਿਖਦਾ ਹਾਂ। ਕੁੜੀਆਂ ਨੇ ਫੁੱਲ ਤੋੜੇ ਅਤੇ ਘਰ ਨੂੰ ਪਰਤ ਆਈਆਂ। ੧੨ ਵਜੇ ਸਨ, ਧੁੱਪ ॥";

async fn write(stack: &Stack, order: &Value) -> Answer {
    let request = stack.request("POST", "/v1/models/handwriting-generator");
    send(request.json(order)).await
}

/// Measures the worker's time and the size of `n` answers with 100 characters, as points and as a picture.
pub(crate) async fn time(machine: Machine, n: usize) -> Report {
    assert_eq!(TEXT.chars().count(), 100, "the text has another length than the report says");
    let cluster = Cluster::own();
    let (stack, _) = warm_stack(&cluster).await;
    let about = format!("{n} times 100 characters on default pages; worker is what Server-Timing tells");
    let mut report = Report::new(machine, "writing", about);
    report.machine.rest().await;
    for (name, with_image) in [("points", false), ("picture", true)] {
        let order = json!({"text": TEXT, "with-image": with_image});
        let (mut worked, mut sizes) = (Vec::new(), Vec::new());
        for i in 0..n + 5 {
            let answer = write(&stack, &order).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            if i >= 5 {
                worked.push(work(&answer).expect("Server-Timing"));
                sizes.push(answer.body.len());
            }
        }
        report.row(&format!("{name}, worker"), quantiles(worked));
        report.row(&format!("{name}, bytes"), vec![("largest", count(sizes.into_iter().max().unwrap_or(0)))]);
    }
    report
}
