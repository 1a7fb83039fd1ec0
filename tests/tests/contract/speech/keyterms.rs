//! Key terms: words that a recording is likely to have.

use std::fs;

use akhar_tests::{
    Form, Stack,
    bulk::Folders,
    http::send,
    process::run,
    speech::{Recording, recording},
};

use super::{OPERATION, document};

/// A recording with these terms.
fn form(recording: &Recording, terms: &[&str]) -> Form {
    let form = Form::upload_and(&recording.bytes, "lang", recording.lang);
    terms.iter().fold(form, |form, term| form.text("keyterms", term))
}

async fn text(stack: &Stack, file: &str, terms: &[&str]) -> String {
    let answer = send(stack.post(OPERATION, &form(&recording(file), terms))).await;
    document(&answer)["transcription"].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn a_term_is_written_where_it_is_said_and_others_change_nothing() {
    let stack = Stack::start().await;
    let others = ["ਗੁਰਕੀਰਤ", "ਡੇਰਾ ਬੱਸੀ", "ਪੈਰਾਸੀਟਾਮੋਲ"];
    assert_eq!(text(&stack, "pa-school.wav", &[]).await, "ਮੇਰਾ ਭਰਾ ਸਕੂਲ ਵਿਚ ਪੜ੍ਹਦਾ ਹੈ");
    assert_eq!(text(&stack, "pa-school.wav", &others).await, "ਮੇਰਾ ਭਰਾ ਸਕੂਲ ਵਿਚ ਪੜ੍ਹਦਾ ਹੈ");
    let said = text(&stack, "pa-school.wav", &[&others[..], &["ਵਿੱਚ"]].concat()).await;
    assert_eq!(said, "ਮੇਰਾ ਭਰਾ ਸਕੂਲ ਵਿੱਚ ਪੜ੍ਹਦਾ ਹੈ");
    let others = ["Gurkirat", "Dera Bassi", "paracetamol"];
    assert_eq!(text(&stack, "en-weather.wav", &others).await, "The weather is very nice today.");
}

#[tokio::test]
async fn a_term_in_letters_that_the_model_does_not_write_has_a_warning() {
    let stack = Stack::start().await;
    for (file, term, shown) in [("pa-school.wav", "Gurkirat", "Gurkirat"), ("en-weather.wav", "ਨੰਗਲ", "????")]
    {
        let answer = send(stack.post(OPERATION, &form(&recording(file), &[term]))).await;
        let expected = format!(
            r#""key terms without effect, because the model does not write their letters: \"{shown}\"""#
        );
        assert_eq!(answer.header("akhar-warnings"), expected);
    }
}

#[tokio::test]
async fn bad_terms_are_refused_and_named() {
    let stack = Stack::start().await;
    let school = recording("pa-school.wav");
    let long = "ਕ".repeat(65);
    let refused = stack.refused(stack.post(OPERATION, &form(&school, &["22", "गुर", &long])), 422).await;
    let codes = ["no_letter", "character_not_allowed", "too_long"];
    assert_eq!(refused.errors(), codes.map(|code| ("keyterms".to_owned(), code.to_owned())).into());
    let detail = refused.json["errors"][0]["detail"].clone();
    assert_eq!(detail, "keyterms \"22\" has no letter, expected at least one");
    let refused = stack.refused(stack.post(OPERATION, &form(&school, &["ਨੰਗਲ"; 101])), 422).await;
    assert_eq!(refused.errors(), [("keyterms".to_owned(), "too_many".to_owned())].into());
}

#[tokio::test]
async fn requests_with_other_terms_are_other_requests() {
    let stack = Stack::start().await;
    let request = |terms: &[&str]| {
        stack.post(OPERATION, &form(&recording("pa-school.wav"), terms)).header("idempotency-key", "a-key")
    };
    let first = send(request(&["ਨੰਗਲ"])).await;
    assert_eq!(send(request(&["ਨੰਗਲ"])).await.header("akhar-job"), first.header("akhar-job"));
    for others in [&[][..], &["ਨੰਗਲ", "ਬੰਗਾ"]] {
        let refused = stack.refused(request(others), 422).await;
        assert_eq!(refused.errors(), [("Idempotency-Key".to_owned(), "reused".to_owned())].into());
    }
}

#[tokio::test]
async fn openais_keywords_are_terms_and_what_is_no_term_has_a_warning() {
    let stack = Stack::start().await;
    for field in ["keywords[]", "keywords"] {
        let form = Form::upload_and(&recording("pa-school.wav").bytes, "model", "speech-pa");
        let form = form.text(field, "ਵਿੱਚ").text(field, "गुर");
        let answer = send(form.send_with(stack.request("POST", "/v1/audio/transcriptions"))).await;
        assert_eq!(answer.json()["text"], "ਮੇਰਾ ਭਰਾ ਸਕੂਲ ਵਿੱਚ ਪੜ੍ਹਦਾ ਹੈ।");
        let warning = "\"1 of keywords[] has no effect: it is not a term in Gurmukhi or Latin letters\"";
        assert_eq!(answer.header("akhar-warnings"), warning);
    }
}

#[tokio::test]
async fn akhar_transcribe_sends_the_terms_of_a_file() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "keyterms");
    folders.add("school.wav", &recording("pa-school.wav").bytes);
    let terms = stack.folder().join("terms.txt");
    fs::write(&terms, "ਨੰਗਲ\n\n  ਵਿੱਚ\n").expect("a file");
    let path = terms.to_str().expect("UTF-8");
    let (code, out, log) = run(folders.command(&stack, &["--keyterms", path])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    assert_eq!(folders.json("school.json")["transcription"], "ਮੇਰਾ ਭਰਾ ਸਕੂਲ ਵਿੱਚ ਪੜ੍ਹਦਾ ਹੈ");
    fs::write(&terms, "ਨੰਗਲ\n22\n").expect("a file");
    let (code, _, log) = run(folders.command(&stack, &["--resume", "--keyterms", path])).await;
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("terms.txt: the term of line 2 has no letter, expected at least one"), "{log}");
}
