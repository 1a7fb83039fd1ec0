//! Compares results with those of the transformers library, on tiny models with the real layouts, which
//! `training/fixtures` makes.

use serde::Deserialize;

use super::Translator;
use crate::{
    manifest::Manifest,
    testing::{fixtures, manifest_of, runtime},
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
}

/// A manifest of a folder's files with this `[generation]` table.
fn manifest(layout: &str, generation: &str) -> Manifest {
    let languages = "[languages]\n'eng_Latn' = 'eng_Latn'\n'pan_Guru' = 'pan_Guru'\n";
    let files = [
        ("encoder", "encoder_model.onnx"),
        ("decoder", "decoder_model_merged.onnx"),
        ("tokenizer", "tokenizer.json"),
    ];
    manifest_of(
        &format!("seq2seq/{layout}"),
        layout,
        &format!("[generation]\n{generation}\n{languages}"),
        &files,
    )
}

fn assert_equals_reference(layout: &str, generation: &str) {
    let path = fixtures(&format!("seq2seq/{layout}/golden.json"));
    let golden: Golden = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(golden.cases.len() >= 50);
    let texts: Vec<(&str, &str, &str)> =
        golden.cases.iter().map(|c| (c.text.as_str(), c.source.as_str(), c.target.as_str())).collect();
    let translated = |search: &str| {
        let manifest = manifest(layout, &format!("max_new_tokens = 40\n{search}\n{generation}"));
        Translator::tokens_of(runtime(), &manifest, &texts)
    };
    for (case, (source, translated, text)) in golden.cases.iter().zip(translated("num_beams = 1")) {
        assert_eq!(source, case.input_ids, "{layout}: {}", case.text);
        assert_eq!(translated, case.greedy[1..], "{layout}, greedy: {}", case.text);
        assert_eq!(text, case.greedy_text, "{layout}, greedy: {}", case.text);
    }
    for (case, (_, translated, text)) in
        golden.cases.iter().zip(translated("num_beams = 4\nno_repeat_ngram_size = 3"))
    {
        assert_eq!(translated, case.beam[1..], "{layout}, beams: {}", case.text);
        assert_eq!(text, case.beam_text, "{layout}, beams: {}", case.text);
    }
}

#[test]
fn m2m100_translates_as_the_reference_does() {
    assert_equals_reference("m2m100", "");
}

#[test]
fn marian_translates_as_the_reference_does() {
    // The padding token, which also begins every text, is the last one of the vocabulary. This tokenizer
    // calls it <s>.
    assert_equals_reference(
        "marian",
        "decoder_start_token_id = '<s>'\npad_token_id = '<s>'\nsuppress_tokens = ['<s>']\n\
         forced_eos_token_id = '</s>'\nrenormalize_logits = true",
    );
}

#[test]
fn a_batch_gives_the_same_translations_as_single_texts() {
    let manifest = manifest(
        "m2m100",
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
    for (layout, weight) in [("marian", "0.3"), ("m2m100", "-1.0"), ("m2m100", "nan")] {
        let manifest = manifest(layout, &format!("reverse_weight = {weight}"));
        let error = Translator::load(runtime(), &manifest, 1).err().unwrap().to_string();
        assert!(error.contains("expected a reverse_weight of 0 to 10"), "{layout}, {weight}: {error}");
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
