//! Pulls that fail. Each says why, installs nothing, and keeps the files that a later pull can use.

use std::time::Duration;

use akhar_tests::{
    Fault,
    hostile::Hostility,
    hub::sha256,
    models::{ID, MODEL, Models, entry, model},
    until,
};
use tokio::net::TcpListener;

#[tokio::test]
async fn a_flipped_byte_is_detected_with_the_hash_of_the_hub_or_the_catalogue() {
    let world = Models::new().await;
    world.hub.fail(MODEL, Fault::FlipAt(model().len() / 2));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("onnx/model.onnx: its SHA-256"), "{said}");
    assert!(said.contains(&format!("the hub says {}", sha256(&model()))), "{said}");
    assert!(!world.pulled("").exists() && !world.partial("onnx/model.onnx").exists());

    world.hub.hide_hashes();
    world.hub.fail(MODEL, Fault::FlipAt(0));
    world.catalogue(&format!("{}sha256 = \"{}\"\n", entry(), sha256(&model())));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains(&format!("the catalogue says {}", sha256(&model()))), "{said}");
    world.done(&["pull", ID]).await;
}

#[tokio::test]
async fn a_transfer_that_breaks_off_repeatedly_is_given_up_and_its_bytes_are_kept() {
    let world = Models::new().await;
    let half = model().len() / 2;
    (0..5).for_each(|_| world.hub.fail(MODEL, Fault::BreakAt(half)));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("onnx/model.onnx: the download failed 5 times in a row"), "{said}");
    assert_eq!(world.hub.sent(MODEL).len(), 5);
    world.done(&["pull", ID]).await;
    let sent: usize = world.hub.sent(MODEL).iter().map(|request| request.n_bytes).sum();
    assert_eq!(sent, model().len(), "no byte is sent twice");
}

#[tokio::test]
async fn a_hub_that_answers_badly_makes_a_pull_fail_or_install_what_is_published() {
    let mut world = Models::new().await;
    let proxies = world.hub.behind_proxies().await;
    world.set("HF_ENDPOINT", &proxies[0].address);
    // The hub says the hash of a large file only.
    let config = "path = \"config.json\"\n";
    world.catalogue(&entry().replace(config, &format!("{config}sha256 = \"{}\"\n", sha256(b"{}"))));
    let slow = Hostility::Slow(Duration::from_millis(5));
    for hostility in
        [Hostility::Status(500), Hostility::Truncated, slow, Hostility::Redirect, Hostility::Flipped]
    {
        // Every second connection is as it should be.
        for proxy in &proxies {
            proxy.turn_to(&[hostility, Hostility::Slow(Duration::ZERO)]);
        }
        let ended = world.run(&["pull", ID]).await;
        assert_eq!(ended.code == Some(0), world.pulled("").exists(), "{hostility:?}: {ended:?}");
        if ended.code == Some(0) {
            world.done(&["verify", ID]).await;
            world.done(&["remove", ID]).await;
        } else {
            let has_reason = ended.err.lines().any(|line| line.starts_with("akhar: "));
            assert!(ended.code == Some(1) && has_reason, "{hostility:?}: {ended:?}");
        }
    }
    for proxy in &proxies {
        proxy.turn_to(&[]);
    }
    world.done(&["pull", ID]).await;
    world.done(&["verify", ID]).await;
}

#[tokio::test]
async fn the_error_names_a_hub_that_cannot_be_reached() {
    let mut world = Models::new().await;
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let nobody = format!("http://{}", free.local_addr().expect("an address"));
    drop(free);
    world.set("HF_ENDPOINT", &nobody);
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains(&nobody) && said.contains("HF_ENDPOINT") && said.contains("refused"), "{said}");
    world.set("HF_ENDPOINT", "huggingface.co");
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("HF_ENDPOINT is \"huggingface.co\", expected an address"), "{said}");
}

#[tokio::test]
async fn the_error_names_a_file_that_does_not_exist() {
    let world = Models::new().await;
    world.catalogue(&entry().replace("model.onnx", "modell.onnx"));
    let said = world.refused(&["pull", ID]).await;
    let url = format!("{}/akhar/digits/resolve/main/onnx/modell.onnx", world.hub.url);
    assert!(said.contains(&url) && said.contains("404"), "{said}");
}

#[tokio::test]
async fn a_gated_model_needs_a_token_which_only_the_hub_receives() {
    let mut world = Models::new().await;
    world.hub.require_token("hf_secret");
    let said = world.refused(&["pull", ID]).await;
    for part in ["401", "Access to this model is restricted", "HF_TOKEN", "/akhar/digits"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    world.set("HF_TOKEN", "hf_wrong");
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("the token that is set may not read it") && !said.contains("hf_wrong"), "{said}");
    world.set("HF_TOKEN", "hf_secret");
    world.done(&["pull", ID]).await;
    let (store, hub): (Vec<_>, Vec<_>) = world.hub.requests().into_iter().partition(|request| request.store);
    assert_eq!(hub.last().and_then(|request| request.authorization.as_deref()), Some("Bearer hf_secret"));
    assert!(!store.is_empty() && store.iter().all(|request| request.authorization.is_none()), "{store:?}");
}

#[tokio::test]
async fn a_model_that_is_too_large_for_the_disk_is_not_downloaded() {
    let world = Models::new().await;
    world.catalogue(&entry().replace("size_mb = 1", "size_mb = 1000000000000"));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("1.00 EB are needed") && said.contains("free"), "{said}");
    assert!(world.hub.requests().is_empty());
}

#[tokio::test]
async fn an_invalid_catalogue_entry_is_refused_before_any_request() {
    let world = Models::new().await;
    world.catalogue(&entry().replace("labels", "lables"));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains(ID) && said.contains("lables"), "{said}");
    world.catalogue(&entry().replace("config.json", "../../../digits-pa.toml"));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("catalogue.toml") && said.contains("inside the repository"), "{said}");
    assert!(world.hub.requests().is_empty());
    let said = world.refused(&["pull", "nothing"]).await;
    assert!(said.contains("nothing") && said.contains(ID), "{said}");
}

#[tokio::test]
async fn two_commands_cannot_pull_the_same_model_at_the_same_time() {
    let world = Models::new().await;
    world.hub.fail(MODEL, Fault::HoldAt(10));
    let mut first = world.start(&["pull", ID]);
    until("the first pull has begun", async || (!world.hub.sent(MODEL).is_empty()).then_some(())).await;
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("another `akhar models pull`"), "{said}");
    first.kill().await;
    world.done(&["pull", ID]).await;
}
