//! Turns a job that has ended into the response of its operation, in the representation that the caller prefers.

use std::time::Duration;

use akhar_client::{
    HandwritingBody, JobResultBody, Png, SegmentBody, TranscriptionBody, paragraphs,
    subtitles::{self, Layout},
};
use akhar_jobs::Timing;
use akhar_requests::{HandwritingParameters, Job, Operation, Outcome, Parameters, SubtitleSize};
use axum::{
    Json,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response},
};

use super::{
    body::{body, segment},
    warnings::{warnings, with_warnings},
};
use crate::{
    http::{context::RequestContext, representation::Representation},
    problems::Problem,
};

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
const PAGES: HeaderName = HeaderName::from_static("akhar-pages");

/// Checks that the response to these parameters can have a representation that the caller accepts.
pub(crate) fn check_accepted(parameters: &Parameters, context: &RequestContext) -> Result<(), Problem> {
    negotiate(context, parameters.operation(), representations(parameters)).map(|_| ())
}

/// The representation that the caller prefers. The problem says how to get one that other parameters give.
fn negotiate(
    context: &RequestContext,
    operation: Operation,
    offered: &[Representation],
) -> Result<Representation, Problem> {
    let (with_more, advice) = match operation {
        Operation::HandwritingGenerator => (
            Representation::PICTURE_AND_SVG,
            "A picture is made on request: send `with-image` with the value true. An SVG is made \
                if the Accept header of that request prefers it.",
        ),
        Operation::SpeechRecognition | Operation::LiveTranscription => (
            Representation::SEGMENTS,
            "Subtitles are made from segments: send `with-timestamps` with the value true.",
        ),
        Operation::AlphabetRecognition | Operation::DigitRecognition | Operation::Translation => {
            (Representation::JSON, "")
        }
    };
    context.negotiate(offered).map_err(|problem| match context.negotiate(with_more) {
        Ok(_) => problem.with_advice(advice),
        Err(_) => problem,
    })
}

/// The representations that the response to these parameters can have. The first is the default.
const fn representations(parameters: &Parameters) -> &'static [Representation] {
    match parameters {
        Parameters::HandwritingGenerator(HandwritingParameters { picture: Some(picture), .. }) => {
            pictures(picture.with_svg)
        }
        Parameters::SpeechRecognition(speech) if speech.with_timestamps => Representation::SEGMENTS,
        Parameters::LiveTranscription(_) => Representation::SEGMENTS,
        Parameters::SpeechRecognition(_) | Parameters::Translation(_) => Representation::TEXT,
        Parameters::AlphabetRecognition { .. }
        | Parameters::DigitRecognition { .. }
        | Parameters::HandwritingGenerator(_) => Representation::JSON,
    }
}

const fn pictures(with_svg: bool) -> &'static [Representation] {
    if with_svg { Representation::PICTURE_AND_SVG } else { Representation::PICTURE }
}

/// The operation's response in the representation that the caller prefers. `total` is the time since the request
/// arrived, or from the job's acceptance to its end. The `Server-Timing` header divides it into queue, decode and
/// infer.
pub(crate) fn result(job: Job, total: Duration, context: &RequestContext) -> Result<Response, Problem> {
    let warnings = warnings(job.outcome.as_ref());
    let layout = match &job.outcome {
        Some(Outcome::Transcription { subtitles, .. }) => layout(*subtitles),
        _ => Layout::default(),
    };
    let representation = negotiate(context, job.operation, representations_of(job.outcome.as_ref()));
    // Only a text has paragraphs.
    let read = job.outcome.as_ref().filter(|_| matches!(representation, Ok(Representation::Text)));
    let segments: Vec<SegmentBody> =
        read.map_or(&[][..], Outcome::segments).iter().cloned().map(segment).collect();
    let (mut job, mut svg, mut n_pages) = (job, None, None);
    if let Some(Outcome::Handwriting { n_pages: n, svg: drawn, .. }) = &mut job.outcome {
        (n_pages, svg) = (*n, drawn.take());
    }
    let body = body(job.operation, job.state, job.outcome)?;
    let representation = representation?;
    let response = match (representation, svg) {
        (Representation::Svg, Some(svg)) => typed(representation, svg),
        _ => represent(body, representation, &segments, layout),
    };
    let mut response = with_warnings(response, &warnings);
    if let Some(n_pages) = n_pages {
        response.headers_mut().insert(PAGES, n_pages.into());
    }
    Ok(with_server_timing(response, job.timing, total))
}

/// Adds the `Server-Timing` header to a response.
pub(crate) fn with_server_timing(
    mut response: Response,
    timing: Option<Timing>,
    total: Duration,
) -> Response {
    if let Some(timing) = server_timing(timing, total) {
        response.headers_mut().insert(SERVER_TIMING, timing);
    }
    response
}

fn translation(segment: &SegmentBody) -> &str {
    segment.translation.as_deref().unwrap_or_default()
}

/// The layout of subtitles of this size.
pub(crate) fn layout(subtitles: SubtitleSize) -> Layout {
    let usual = Layout::default();
    Layout {
        max_line_length: subtitles.max_line_length.map_or(usual.max_line_length, |max| max.get().into()),
        max_lines: subtitles.max_lines.map_or(usual.max_lines, |max| max.get().into()),
    }
}

/// The representations that the response with this outcome can have. The first is the default.
fn representations_of(outcome: Option<&Outcome>) -> &'static [Representation] {
    match outcome {
        Some(Outcome::Handwriting { image: Some(_), svg, .. }) => pictures(svg.is_some()),
        Some(Outcome::Transcription { timestamps: Some(_), .. }) => Representation::SEGMENTS,
        Some(Outcome::Transcription { .. } | Outcome::Translation { .. }) => Representation::TEXT,
        _ => Representation::JSON,
    }
}

/// A response with a text of this media type.
fn typed(representation: Representation, text: String) -> Response {
    let media_type = format!("{}; charset=utf-8", representation.media_type());
    ([(header::CONTENT_TYPE, media_type)], text).into_response()
}

/// The part of the body that the representation shows. The JSON document if the body has no such part.
fn represent(
    body: JobResultBody,
    representation: Representation,
    segments: &[SegmentBody],
    layout: Layout,
) -> Response {
    let text = |text: String| typed(representation, text);
    match (representation, body) {
        (
            Representation::Png,
            JobResultBody::Handwriting(HandwritingBody { image: Some(Png(bytes)), .. }),
        ) => ([(header::CONTENT_TYPE, Representation::Png.media_type())], bytes).into_response(),
        (Representation::Text, JobResultBody::Translation(body)) => text(body.translation),
        (Representation::Text, JobResultBody::Transcription(body)) => {
            let said = paragraphs(segments, |segment| &segment.transcription);
            let translation = body.translation.map(|_| paragraphs(segments, translation));
            let texts = [Some(said), translation].into_iter().flatten();
            text(texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n"))
        }
        (
            Representation::Srt,
            JobResultBody::Transcription(TranscriptionBody { timestamps: Some(s), .. }),
        ) => text(subtitles::srt(&s, layout)),
        (
            Representation::Vtt,
            JobResultBody::Transcription(TranscriptionBody { timestamps: Some(s), .. }),
        ) => text(subtitles::vtt(&s, layout)),
        (_, body) => Json(body).into_response(),
    }
}

/// The time from a job's acceptance to its end.
pub(crate) fn lifetime(job: &Job) -> Duration {
    job.ended_at.and_then(|end| (end - job.created_at).to_std().ok()).unwrap_or_default()
}

fn server_timing(timing: Option<Timing>, total: Duration) -> Option<HeaderValue> {
    let timing = timing?;
    let ms = |us: i32| f64::from(us) / 1e3;
    let decode = ms(timing.decode_us);
    let infer = ms(timing.infer_us);
    let queue = (total.as_secs_f64() * 1e3 - decode - infer).max(0.0);
    HeaderValue::try_from(format!("queue;dur={queue:.3}, decode;dur={decode:.3}, infer;dur={infer:.3}")).ok()
}

#[cfg(test)]
mod tests {
    use akhar_jobs::JobState;

    use super::*;

    #[test]
    fn the_picture_is_sent_alone_if_png_is_preferred() {
        let content_type = |image, representation| {
            let outcome = Outcome::Handwriting { points: b"{}".to_vec(), image, n_pages: None, svg: None };
            let body = body(Operation::HandwritingGenerator, JobState::Succeeded, Some(outcome)).unwrap();
            represent(body, representation, &[], Layout::default()).headers()[header::CONTENT_TYPE].clone()
        };
        let png = || Some(b"\x89PNG".to_vec());
        assert_eq!(content_type(png(), Representation::Png), "image/png");
        assert_eq!(content_type(png(), Representation::Json), "application/json");
        assert_eq!(content_type(None, Representation::Json), "application/json");
    }
}
