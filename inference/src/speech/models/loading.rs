//! Loads a speech recognition model by the layout in its manifest.

use super::{
    SpeechModel, WindowInput, moonshine::Moonshine, nemo_ctc, omnilingual::Omnilingual,
    transducer::Transducer, whisper::Whisper, whisper_ctc,
};
use crate::{
    error::LoadError, key_terms::KeyTerms, layout::Layout, manifest::Manifest, runtime::Runtime,
    speech::features::SAMPLE_RATE,
};

/// Loads the model and runs it once, so that the first request is not slowed down by set-up. `n_threads` is the number
/// of threads that one run may use.
///
/// # Errors
///
/// When the layout is not one for speech, a file is missing, invalid or has another hash, or the model cannot be run.
pub fn load(
    runtime: &Runtime,
    manifest: &Manifest,
    n_threads: usize,
) -> Result<Box<dyn SpeechModel>, LoadError> {
    if let Some(fault) = manifest.confidence.and_then(|confidence| confidence.fault()) {
        return Err(manifest.inconsistent(fault).into());
    }
    let mut model: Box<dyn SpeechModel> = match manifest.layout {
        Layout::NemoCtc | Layout::IndicConformer => Box::new(nemo_ctc::load(runtime, manifest, n_threads)?),
        Layout::WhisperCtc => Box::new(whisper_ctc::load(runtime, manifest, n_threads)?),
        Layout::Omnilingual => Box::new(Omnilingual::load(runtime, manifest, n_threads)?),
        Layout::NemoTdt => Box::new(Transducer::load(runtime, manifest, n_threads)?),
        Layout::Whisper => Box::new(Whisper::load(runtime, manifest, n_threads)?),
        Layout::Moonshine => Box::new(Moonshine::load(runtime, manifest, n_threads)?),
        _ => return Err(manifest.unfit().into()),
    };
    let silence = model.front_end().features(&vec![0.0; SAMPLE_RATE]);
    if let Some(language) = manifest.languages.keys().next().or(manifest.language.as_ref()) {
        let terms = KeyTerms::default();
        model.infer(&[WindowInput { features: &silence, terms: &terms }], language)?;
    }
    Ok(model)
}
