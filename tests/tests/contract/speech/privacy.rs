//! No answer contains another caller's words: a recording without speech has the same answer after any other
//! recording.

use akhar_tests::{
    Form, Stack,
    speech::{music, noise, recordings, silence, wav},
};

use super::{form, transcribe};

#[tokio::test]
async fn sounds_without_speech_never_return_an_earlier_caller_s_words() {
    // Every job runs where the last one ran.
    let stack = Stack::start().await;
    let sounds = [silence(3), noise(3), music(3), noise(30)].map(|samples| wav(&samples));
    for lang in ["pa", "en"] {
        let forms = sounds
            .each_ref()
            .map(|file| Form::upload_and(file, "lang", lang).text("with-timestamps", "true"));
        let mut fresh = Vec::new();
        for form in &forms {
            fresh.push(transcribe(&stack, form).await);
        }
        for recording in recordings().into_iter().filter(|r| r.lang == lang) {
            for (sound, before) in forms.iter().zip(&fresh) {
                let said = transcribe(&stack, &form(&recording)).await;
                assert_ne!(said["transcription"], "", "{}", recording.name);
                assert_eq!(&transcribe(&stack, sound).await, before, "after {}", recording.name);
            }
        }
    }
}
