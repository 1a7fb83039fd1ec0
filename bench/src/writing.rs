//! Measures handwriting: the worker's time for 100 characters, as points and as a picture, and how well the
//! service's own recognisers read its handwriting.

use std::collections::BTreeMap;

use akhar_inference::load_all;
use akhar_tests::{
    Answer, Cluster, Form, Stack,
    figures::{Row, count, quantiles},
    http::send,
    load::work,
    stack::models,
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

/// Writes every letter and digit in `n_hands` handwriting styles, and recognises them with the recogniser of
/// their kind.
pub(crate) async fn legibility(machine: Machine, n_hands: usize) -> Report {
    let cluster = Cluster::own();
    let (stack, _) = warm_stack(&cluster).await;
    let about = format!("each letter and digit written by {n_hands} hands, read by the served recognisers");
    let mut report = Report::new(machine, "legibility", about);
    let mut misread: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let [mut n_all, mut first_all, mut third_all] = [0; 3];
    for manifest in load_all(&models()).expect("manifests") {
        let [mut n, mut first, mut third] = [0; 3];
        for label in &manifest.labels {
            // A text must have at least two characters. The space adds no ink.
            let order = json!({"text": format!("{label} "), "with-image": true, "page-width": 300, "page-length": 300});
            for _ in 0..n_hands {
                let picture = write(&stack, &order).await;
                assert_eq!(picture.status, 200, "{picture:?}");
                let answer = send(stack.post(&manifest.operation, &Form::upload(&picture.body))).await;
                let guesses: Vec<String> = answer.predictions().into_iter().map(|p| p.0).collect();
                n += 1;
                third += usize::from(guesses.contains(label));
                if guesses.first() == Some(label) {
                    first += 1;
                } else {
                    let guess = guesses.into_iter().next().unwrap_or_default();
                    *misread.entry(label.clone()).or_default().entry(guess).or_default() += 1;
                }
            }
        }
        if n > 0 {
            report.row(&manifest.id, shares(n, first, third));
        }
        [n_all, first_all, third_all] = [n_all + n, first_all + first, third_all + third];
    }
    report.row("all", shares(n_all, first_all, third_all));
    for (label, guesses) in misread {
        let guesses: Vec<String> = guesses.into_iter().map(|(guess, n)| format!("{guess} {n}")).collect();
        println!("misread: {label} as {}", guesses.join(", "));
    }
    report
}

fn shares(n: usize, first: usize, third: usize) -> Row {
    let percent = |k: usize| 100.0 * count(k) / count(n);
    vec![("n", count(n)), ("top1_percent", percent(first)), ("top3_percent", percent(third))]
}
