//! The bodies of the routes that follow OpenAI's audio API
//! (<https://platform.openai.com/docs/api-reference/audio>). Names are those of that API.

use serde::{Deserialize, Serialize};

/// The JSON bodies of both routes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioResult))]
#[serde(untagged)]
pub enum AudioResultBody {
    /// For `diarized_json`.
    Diarized(DiarizedAudioTextBody),
    /// For `verbose_json`.
    Verbose(VerboseAudioTextBody),
    /// For `json`.
    Text(AudioTextBody),
}

/// The response format `json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioText))]
#[serde(deny_unknown_fields)]
pub struct AudioTextBody {
    /// The whole text, in NFC. Empty if the recording has no speech.
    #[cfg_attr(feature = "schema", schema(example = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"))]
    pub text: String,
    /// The translation of the whole text, if it was asked for. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub translation: Option<String>,
    /// The words of the text with the probabilities that they are right, if `include[]` asks for them and the model tells
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub logprobs: Option<Vec<AudioLogprobBody>>,
    /// The languages of the recording, which the request names or which were detected. Empty if none could be told.
    #[serde(default)]
    pub languages: Vec<AudioLanguageBody>,
    /// The length of the recording.
    pub usage: AudioUsageBody,
}

/// A language of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioLanguage))]
#[serde(deny_unknown_fields)]
pub struct AudioLanguageBody {
    /// The code of ISO 639-1.
    #[cfg_attr(feature = "schema", schema(example = "pa"))]
    pub code: String,
}

/// A word of a text, and how likely it is right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioLogprob))]
pub struct AudioLogprobBody {
    /// The word, with the space before it.
    pub token: String,
    /// The natural logarithm of the probability that the word is right.
    pub logprob: f64,
    /// The bytes of the token in UTF-8.
    pub bytes: Vec<u8>,
}

/// The response format `diarized_json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DiarizedAudioText))]
#[serde(deny_unknown_fields)]
pub struct DiarizedAudioTextBody {
    /// Always `transcribe`.
    #[cfg_attr(feature = "schema", schema(example = "transcribe"))]
    pub task: String,
    /// The length of the recording in seconds.
    pub duration: f64,
    /// The whole text, in NFC.
    pub text: String,
    /// The translation of the whole text, if it was asked for. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub translation: Option<String>,
    /// The segments of all speakers in the order of their starts.
    pub segments: Vec<DiarizedAudioSegmentBody>,
    /// The length of the recording.
    pub usage: AudioUsageBody,
}

/// A segment of a recording with its speaker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DiarizedAudioSegment))]
pub struct DiarizedAudioSegmentBody {
    /// Always `transcript.text.segment`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name of the segment in this response.
    #[cfg_attr(feature = "schema", schema(example = "seg_0"))]
    pub id: String,
    /// The start in seconds from the start of the recording.
    pub start: f64,
    /// The end in seconds from the start of the recording.
    pub end: f64,
    /// The text.
    pub text: String,
    /// The translation of the text, if it was asked for. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub translation: Option<String>,
    /// The channel of the recording that it is said in: `A` is the first one.
    #[cfg_attr(feature = "schema", schema(example = "A"))]
    pub speaker: String,
}

/// The response format `verbose_json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = VerboseAudioText))]
pub struct VerboseAudioTextBody {
    /// `transcribe` or `translate`.
    #[cfg_attr(feature = "schema", schema(example = "transcribe"))]
    pub task: String,
    /// The language of the text: `punjabi` or `english`, as Whisper names them.
    #[cfg_attr(feature = "schema", schema(example = "punjabi"))]
    pub language: String,
    /// The length of the recording in seconds.
    pub duration: f64,
    /// The whole text, in NFC.
    pub text: String,
    /// The translation of the whole text, if it was asked for. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub translation: Option<String>,
    /// The segments in order, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub segments: Option<Vec<AudioSegmentBody>>,
    /// The words in order, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub words: Option<Vec<AudioWordBody>>,
    /// What is unusual about the recording, and which parts of the text are probably wrong. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub warnings: Vec<String>,
    /// The length of the recording.
    pub usage: AudioUsageBody,
}

/// A segment of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioSegment))]
pub struct AudioSegmentBody {
    /// The number of the segment, from 0.
    pub id: usize,
    /// The start in seconds from the start of the recording.
    pub start: f64,
    /// The end in seconds from the start of the recording.
    pub end: f64,
    /// The text.
    pub text: String,
    /// The translation of the text, if it was asked for. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub translation: Option<String>,
    /// Always 0.
    pub seek: u32,
    /// Always 0.
    pub temperature: f64,
    /// Always empty.
    pub tokens: Vec<u32>,
    /// The natural logarithm of the expected share of the transcription's letters that are right. 0 if the model does not
    /// tell it.
    pub avg_logprob: f64,
    /// How often the text repeats itself: its bytes in UTF-8, divided by those that zlib makes of it.
    pub compression_ratio: f64,
    /// Always 0: a segment is where speech was recognised.
    pub no_speech_prob: f64,
    /// The expected share of the transcription's letters that are right, if the model tells it. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
}

/// A word of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioWord))]
pub struct AudioWordBody {
    /// The word.
    pub word: String,
    /// The start in seconds from the start of the recording.
    pub start: f64,
    /// The end in seconds from the start of the recording.
    pub end: f64,
    /// The probability that the word is right, if the model tells it. Not in OpenAI's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
}

/// An event of a transcription that is streamed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioEvent))]
#[serde(tag = "type")]
pub enum AudioEventBody {
    /// More of the text. All deltas together are the whole text.
    #[serde(rename = "transcript.text.delta")]
    Delta {
        /// The further text, with the space before it.
        delta: String,
    },
    /// The end.
    #[serde(rename = "transcript.text.done")]
    Done {
        /// The whole text.
        text: String,
        /// The translation of the whole text, if it was asked for. Not in OpenAI's API.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schema(nullable = false))]
        translation: Option<String>,
        /// What is unusual about the recording, and which parts of the text are probably wrong. Not in OpenAI's API.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schema(required = false))]
        warnings: Vec<String>,
        /// The words of the text with the probabilities that they are right, if `include[]` asks for them and the model
        /// tells them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schema(nullable = false))]
        logprobs: Option<Vec<AudioLogprobBody>>,
        /// The languages of the recording, which the request names or which were detected. Empty if none could be told.
        #[serde(default)]
        languages: Vec<AudioLanguageBody>,
        /// The length of the recording.
        usage: AudioUsageBody,
    },
}

/// What a request used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AudioUsage))]
pub struct AudioUsageBody {
    /// Always `duration`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schema(example = "duration"))]
    pub kind: String,
    /// The length of the recording in seconds.
    pub seconds: f64,
}

/// The models that the routes accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Models))]
pub struct ModelsBody {
    /// Always `list`.
    #[cfg_attr(feature = "schema", schema(example = "list"))]
    pub object: String,
    /// The models.
    pub data: Vec<ModelBody>,
}

/// A model that the routes accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Model))]
pub struct ModelBody {
    /// The name in requests.
    #[cfg_attr(feature = "schema", schema(example = "speech-pa"))]
    pub id: String,
    /// Always `model`.
    #[cfg_attr(feature = "schema", schema(example = "model"))]
    pub object: String,
    /// Seconds from 1970 to when the first models of this service were made.
    pub created: i64,
    /// Always `akhar`.
    #[cfg_attr(feature = "schema", schema(example = "akhar"))]
    pub owned_by: String,
}

/// The member of a problem that clients of OpenAI's API read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = OpenAiError))]
pub struct OpenAiErrorBody {
    /// What was wrong with this request.
    pub message: String,
    /// `authentication_error`, `invalid_request_error`, `rate_limit_error` or `server_error`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schema(example = "invalid_request_error"))]
    pub kind: String,
    /// The field that was wrong, if it was one.
    pub param: Option<String>,
    /// A code that never changes.
    pub code: String,
}
