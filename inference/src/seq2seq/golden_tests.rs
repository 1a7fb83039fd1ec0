//! Compares results with those of the transformers library, on tiny models with the real layouts, which
//! `training/fixtures` makes.

use serde::Deserialize;

use super::{Network, Translator};
use crate::{
    manifest::Manifest,
    testing::{apart, fixtures, golden, manifest_of, runtime},
};

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    source: String,
    target: String,
    input_ids: Vec<i64>,
    greedy: Vec<i64>,
    greedy_text: String,
    beam: Vec<i64>,
    beam_text: String,
    #[serde(default)]
    encoder: Vec<f32>,
    #[serde(default)]
    first_logits: Vec<f32>,
}

/// A manifest of a folder's files with this `[generation]` table.
fn manifest(generation: &str) -> Manifest {
    let languages = "[languages]\n'eng_Latn' = 'eng_Latn'\n'pan_Guru' = 'pan_Guru'\n";
    let files = [
        ("encoder", "encoder_model.onnx"),
        ("decoder", "decoder_model_merged.onnx"),
        ("tokenizer", "tokenizer.json"),
    ];
    let tables = format!("[generation]\n{generation}\n{languages}");
    manifest_of("seq2seq/m2m100", "m2m100", &tables, &files)
}

/// The manifest of `IndicTrans2` from the language with this code, with this `[generation]` table.
fn indictrans(from: &str, generation: &str) -> Manifest {
    let files = [
        ("encoder", "encoder_model.onnx"),
        ("encoder-weights", "encoder_model.onnx.data"),
        ("decoder", "decoder_model.onnx"),
        ("decoder-weights", "decoder_shared.onnx.data"),
        ("decoder-with-past", "decoder_with_past_model.onnx"),
        ("source-tokenizer", "tokenizer_src.json"),
        ("target-tokenizer", "tokenizer_tgt.json"),
    ];
    let to = if from == "en" { "pa" } else { "en" };
    let tables = format!("language = '{from}'\n[generation]\n{generation}\n");
    manifest_of(&format!("seq2seq/indictrans2/{from}-{to}"), "indictrans2", &tables, &files)
}

fn assert_equals_reference(folder: &str, manifest: impl Fn(&str) -> Manifest) {
    let golden: Golden = golden(&format!("seq2seq/{folder}/golden.json"));
    assert!(golden.cases.len() >= 50);
    let texts: Vec<(&str, &str, &str)> =
        golden.cases.iter().map(|c| (c.text.as_str(), c.source.as_str(), c.target.as_str())).collect();
    let translated = |search: &str| {
        let manifest = manifest(&format!("max_new_tokens = 40\n{search}"));
        Translator::tokens_of(runtime(), &manifest, &texts)
    };
    for (case, (source, translated, text)) in golden.cases.iter().zip(translated("num_beams = 1")) {
        assert_eq!(source, case.input_ids, "{folder}: {}", case.text);
        assert_eq!(translated, case.greedy[1..], "{folder}, greedy: {}", case.text);
        assert_eq!(text, case.greedy_text, "{folder}, greedy: {}", case.text);
    }
    for (case, (_, translated, text)) in
        golden.cases.iter().zip(translated("num_beams = 4\nno_repeat_ngram_size = 3"))
    {
        assert_eq!(translated, case.beam[1..], "{folder}, beams: {}", case.text);
        assert_eq!(text, case.beam_text, "{folder}, beams: {}", case.text);
    }
}

#[test]
fn m2m100_translates_as_the_reference_does() {
    assert_equals_reference("m2m100", manifest);
}

#[test]
fn indictrans2_translates_as_the_reference_does() {
    assert_equals_reference("indictrans2/en-pa", |search| indictrans("en", search));
    assert_equals_reference("indictrans2/pa-en", |search| indictrans("pa", search));
}

#[test]
fn the_numbers_of_indictrans2_are_those_of_the_reference() {
    for (folder, from) in [("en-pa", "en"), ("pa-en", "pa")] {
        let golden: Golden = golden(&format!("seq2seq/indictrans2/{folder}/golden.json"));
        let mut network = Network::load(runtime(), &indictrans(from, ""), 1).unwrap();
        let detailed = golden.cases.iter().filter(|case| !case.first_logits.is_empty());
        assert!(detailed.clone().count() >= 5);
        for case in detailed {
            let mut state = network.encode(std::slice::from_ref(&case.input_ids), 1).unwrap();
            assert!(apart(&state.hidden().values[..8], &case.encoder) <= 1e-4, "{folder}: {}", case.text);
            let logits = state.step(&case.greedy[..1]).unwrap();
            assert!(apart(&logits.values, &case.first_logits) <= 1e-4, "{folder}: {}", case.text);
        }
    }
}

#[test]
fn indictrans2_copies_addresses_and_refuses_the_other_direction() {
    let mut translator = Translator::load(runtime(), &indictrans("en", "max_new_tokens = 10"), 1).unwrap();
    let texts = ["See https://example.com/a_b now", "https://example.com", ""];
    let translations = translator.translate(&texts, "en", "pa").unwrap();
    assert!(translations[0].text.contains("https://example.com/a_b"), "{translations:?}");
    assert_eq!((&*translations[1].text, &*translations[2].text), ("https://example.com", ""));
    let error = translator.translate(&["x"], "pa", "en").unwrap_err().to_string();
    assert!(error.contains("\"pa\""), "{error}");
    let mut manifest = indictrans("en", "");
    manifest.language = None;
    let error = Translator::load(runtime(), &manifest, 1).err().unwrap().to_string();
    assert!(error.contains("translates from: pa or en"), "{error}");
}

#[test]
fn a_batch_gives_the_same_translations_as_single_texts() {
    let manifest = manifest(
        "max_new_tokens = 40\nmax_source_length = 60\nnum_beams = 4\nreverse_weight = 0.5\nno_repeat_ngram_size = 3",
    );
    let mut translator = Translator::load(runtime(), &manifest, 1).unwrap();
    let texts = ["ਮੇਰਾ ਨਾਂ ਕੀ ਹੈ?", "", "ਪਾਣੀ", "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ"];
    let together = translator.translate(&texts, "pan_Guru", "eng_Latn").unwrap();
    for (text, translation) in texts.iter().zip(&together) {
        assert_eq!(&translator.translate(&[text], "pan_Guru", "eng_Latn").unwrap()[0], translation);
    }
    assert_eq!((together[1].text.as_str(), together[1].confidence), ("", None));
    let long = ["ਪਾਣੀ ਦਾ ਗਲਾਸ"; 150].join(" ");
    assert!(!translator.translate(&[&long], "pan_Guru", "eng_Latn").unwrap()[0].text.is_empty());
    let unknown = translator.translate(&["x"], "pan_Guru", "hin_Deva").unwrap_err().to_string();
    assert!(unknown.contains("hin_Deva"), "{unknown}");
}

#[test]
fn only_a_model_that_translates_back_takes_a_reverse_weight() {
    let of = |weight: &str| format!("reverse_weight = {weight}");
    for manifest in [indictrans("en", &of("0.3")), manifest(&of("-1.0")), manifest(&of("nan"))] {
        let error = Translator::load(runtime(), &manifest, 1).err().unwrap().to_string();
        assert!(error.contains("expected a reverse_weight of 0 to 10"), "{error}");
    }
}

#[derive(Deserialize)]
struct Bundled {
    cases: Vec<BundledCase>,
}

#[derive(Deserialize)]
struct BundledCase {
    text: String,
    source: String,
    target: String,
    encoder_ids: Vec<i64>,
    greedy_ids: Vec<i64>,
    beam_ids: Vec<i64>,
    beam_text: String,
}

/// The golden file of the bundled translator, and its manifest.
fn bundled() -> (Bundled, Manifest) {
    let golden: Bundled =
        serde_json::from_slice(&std::fs::read(fixtures("seq2seq/bundled.json")).unwrap()).unwrap();
    assert!(golden.cases.len() >= 50);
    (golden, Manifest::load(&fixtures("../../models/translation-pa-en.toml")).unwrap())
}

#[test]
fn the_bundled_translator_gives_the_same_translation_alone_and_in_a_batch() {
    let (golden, manifest) = bundled();
    let mut translator = Translator::load(runtime(), &manifest, 1).unwrap();
    for (source, target) in [("en", "pa"), ("pa", "en")] {
        let cases = golden.cases.iter().filter(|c| c.source == source);
        let texts: Vec<&str> = cases.map(|c| c.text.as_str()).collect();
        let together = translator.translate(&texts, source, target).unwrap();
        for (text, translation) in texts.iter().zip(&together) {
            let alone = translator.translate(&[text], source, target).unwrap();
            assert_eq!(alone[0].text, translation.text, "{text}");
        }
    }
}

#[test]
fn the_bundled_translator_translates_as_the_reference_does() {
    let (golden, mut manifest) = bundled();
    let texts: Vec<(&str, &str, &str)> =
        golden.cases.iter().map(|c| (c.text.as_str(), c.source.as_str(), c.target.as_str())).collect();
    let beams = manifest.generation.as_ref().unwrap().num_beams;
    let mut translated = |beams: usize| {
        if let Some(generation) = &mut manifest.generation {
            (generation.num_beams, generation.max_new_tokens) = (beams, 40);
        }
        Translator::tokens_of(runtime(), &manifest, &texts)
    };
    for (case, (source, translated, _)) in golden.cases.iter().zip(translated(1)) {
        assert_eq!(source, case.encoder_ids, "{}", case.text);
        assert_eq!(translated, case.greedy_ids[1..], "greedy: {}", case.text);
    }
    for (case, (_, translated, text)) in golden.cases.iter().zip(translated(beams)) {
        assert_eq!(translated, case.beam_ids[1..], "beams: {}", case.text);
        assert_eq!(text, case.beam_text, "beams: {}", case.text);
    }
}
