//! Nobody hears another caller: what says nothing has the same answer whatever came before it.

use akhar_tests::{
    Form, Stack,
    speech::{music, noise, recordings, silence, wav},
};

use super::{form, heard};

#[tokio::test]
async fn sounds_without_speech_never_carry_an_earlier_callers_words() {
    // One worker, one speech job at a time: whatever could linger would.
    let stack = Stack::with().set("AKHAR_SPEECH_CONCURRENCY", 1).start().await;
    let sounds = [silence(3), noise(3), music(3), noise(30)].map(|samples| wav(&samples));
    for lang in ["pa", "en"] {
        let forms = sounds
            .each_ref()
            .map(|file| Form::upload_and(file, "lang", lang).text("with-timestamps", "true"));
        let mut fresh = Vec::new();
        for form in &forms {
            fresh.push(heard(&stack, form).await);
        }
        for recording in recordings().into_iter().filter(|r| r.lang == lang) {
            for (sound, before) in forms.iter().zip(&fresh) {
                let said = heard(&stack, &form(&recording)).await;
                assert_ne!(said["transcription"], "", "{}", recording.name);
                assert_eq!(&heard(&stack, sound).await, before, "after {}", recording.name);
            }
        }
    }
}
