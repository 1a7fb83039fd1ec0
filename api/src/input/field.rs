//! The description of a field. It parses the field's value, and it describes the field to the OpenAPI document.

use std::marker::PhantomData;

use akhar_requests::{MediaType, sniff::media_type};
use akhar_webhooks::MAX_URL_BYTES;
use serde_json::{from_value, json};
use utoipa::openapi::{
    RefOr, Required,
    path::{Parameter, ParameterBuilder, ParameterIn},
    schema::Schema,
};

use super::{json::Kind, names::quoted, value::Value};
use crate::problems::{Code, Violation};

/// The most bytes of a file of another type that its violation shows.
const MAX_START: usize = 16;

/// A field of a form, or a parameter of a query string.
#[derive(Debug)]
pub(crate) struct Field<T> {
    /// The name in requests.
    pub(crate) name: &'static str,
    /// What happens if it is absent.
    pub(super) if_absent: IfAbsent,
    /// The value that has the same effect as none.
    neutral: Option<&'static str>,
    /// The lines of its description. A field without description is not in the OpenAPI document.
    text: &'static [&'static str],
    /// The only texts that are accepted, because they mean the same as no value.
    only: Option<&'static [&'static str]>,
    /// A value that is refused, for the example of a problem.
    wrong: Option<&'static str>,
    value: PhantomData<fn() -> T>,
}

/// What happens if a field is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IfAbsent {
    /// Nothing.
    Allow,
    /// It has this value, written as in a form.
    Default(&'static str),
    /// A violation.
    Refuse,
}

/// The name of a field, and how much may be sent for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(super) name: &'static str,
    /// The most values it may have, if that is more than one.
    pub(super) max_values: Option<usize>,
    /// The most bytes that a value may have in a form.
    pub(super) max_bytes: usize,
}

/// A field that can be absent.
pub(crate) const fn field<T>(name: &'static str) -> Field<T> {
    Field {
        name,
        if_absent: IfAbsent::Allow,
        neutral: None,
        text: &[],
        only: None,
        wrong: None,
        value: PhantomData,
    }
}

impl<T> Field<T> {
    /// The same field with this value if it is absent, written as in a form.
    pub(crate) const fn or(self, default: &'static str) -> Self {
        Self { if_absent: IfAbsent::Default(default), ..self }
    }

    /// The same field, in which this value has the same effect as none. It is the default in the OpenAPI document.
    pub(crate) const fn neutral(self, value: &'static str) -> Self {
        Self { neutral: Some(value), ..self }
    }

    /// The same field, which must be present.
    pub(crate) const fn required(self) -> Self {
        Self { if_absent: IfAbsent::Refuse, ..self }
    }

    /// The same field, of which this server has only the value that these texts mean.
    pub(crate) const fn only(self, texts: &'static [&'static str]) -> Self {
        Self { only: Some(texts), ..self }
    }

    /// The same field with a value that is refused, for the example of a problem.
    pub(crate) const fn wrong(self, example: &'static str) -> Self {
        Self { wrong: Some(example), ..self }
    }

    /// The same field with the lines of its description.
    pub(crate) const fn text(self, text: &'static [&'static str]) -> Self {
        Self { text, ..self }
    }
}

impl<T: Value> Field<T> {
    pub(super) fn parse(&self, text: &str) -> Result<T, Vec<Violation>> {
        let Some(only) = self.only.filter(|only| !only.contains(&text)) else {
            return T::check(self.name, text);
        };
        let expected = only.first().filter(|text| !text.is_empty()).unwrap_or(&"nothing");
        let (name, sent) = (self.name, quoted(text));
        let detail = format!("{name} is {sent}, which this server does not support: expected {expected}");
        Err(vec![Violation::new(name, Code::Unsupported, detail)])
    }

    /// Whether null counts as absent in a JSON body.
    pub(super) fn is_nullable(&self) -> bool {
        let is_plain = T::MAX_VALUES.is_none() && T::COMPONENT.is_none();
        self.if_absent == IfAbsent::Allow && is_plain && T::rule().schema.get("enum").is_none()
    }

    pub(super) fn missing(&self) -> String {
        let expected = T::COMPONENT.map(|_| format!(", expected {}", T::rule().expected)).unwrap_or_default();
        format!("{} is required{expected}", self.name)
    }
}

/// A field whatever the type of its value.
pub(crate) trait AnyField: Sync {
    fn slot(&self) -> Slot;
    /// Its description. `None` if the OpenAPI document does not have the field.
    fn describe(&self) -> Option<FieldDescription>;
    /// An example of a violation.
    fn violation(&self) -> Option<Violation>;
}

/// What the OpenAPI document has about a field.
pub(crate) struct FieldDescription {
    pub(super) name: &'static str,
    text: String,
    pub(super) is_required: bool,
    /// The schema, or a reference to that of the component.
    schema: serde_json::Value,
    default: Option<serde_json::Value>,
    is_nullable: bool,
    /// The name and the schema of the component.
    component: Option<(&'static str, serde_json::Value)>,
}

impl<T: Value> AnyField for Field<T> {
    fn slot(&self) -> Slot {
        Slot { name: self.name, max_values: T::MAX_VALUES, max_bytes: T::MAX_BYTES }
    }

    fn describe(&self) -> Option<FieldDescription> {
        let schema = T::COMPONENT.map_or_else(|| T::rule().schema, |name| json!({"$ref": reference(name)}));
        let default = match self.if_absent {
            IfAbsent::Default(text) => Some(text),
            IfAbsent::Allow => self.neutral,
            IfAbsent::Refuse => None,
        };
        let default = match T::JSON {
            Kind::String => default.map(serde_json::Value::from),
            _ => default.and_then(|text| text.parse().ok()),
        };
        (!self.text.is_empty()).then(|| FieldDescription {
            name: self.name,
            text: joined(self.text),
            is_required: self.if_absent == IfAbsent::Refuse,
            schema: match T::MAX_VALUES {
                Some(max) => json!({"type": "array", "items": schema, "maxItems": max}),
                None => schema,
            },
            default,
            is_nullable: self.is_nullable(),
            component: T::COMPONENT.map(|name| (name, T::rule().schema)),
        })
    }

    fn violation(&self) -> Option<Violation> {
        self.parse(self.wrong?).err()?.pop()
    }
}

impl FieldDescription {
    /// The field as a property of a form. Every value that generators of requests may fill in by themselves is valid: the
    /// default, or one of a list.
    pub(super) fn property(&self, is_json: bool) -> RefOr<Schema> {
        let mut schema = self.schema.clone();
        let is_null = is_json && self.is_nullable && self.default.is_none();
        if is_null {
            schema["type"] = json!([schema["type"], "null"]);
        }
        let is_empty = !is_json && !self.is_required;
        let default = self.default.clone().or_else(|| empty(&schema).filter(|_| is_empty));
        if let Some(default) = default {
            if schema.get("$ref").is_some() {
                schema = json!({"allOf": [schema]}); // a reference has no default
            }
            schema["default"] = default;
        }
        schema["description"] = self.text.as_str().into();
        let mut schema = parsed(schema);
        if let (true, RefOr::T(Schema::Object(object))) = (is_null, &mut schema) {
            object.default = Some(json!(null)); // the library reads it as none
        }
        schema
    }

    /// The field as a parameter of a query string.
    pub(crate) fn parameter(self) -> Parameter {
        ParameterBuilder::new()
            .name(self.name)
            .parameter_in(ParameterIn::Query)
            .description(Some(self.text))
            .required(if self.is_required { Required::True } else { Required::False })
            .schema(Some(parsed(self.schema)))
            .build()
    }

    /// The component that its schema refers to.
    pub(crate) fn component(self) -> Option<(String, RefOr<Schema>)> {
        self.component.map(|(name, schema)| (name.to_owned(), parsed(schema)))
    }
}

/// The file of a form. Its field is required, unless the form has its URL.
#[derive(Debug)]
pub(crate) struct File {
    /// The description.
    pub(crate) text: &'static str,
    /// The most bytes. `None` if the configuration decides it.
    pub(crate) max_bytes: Option<usize>,
    /// The accepted types.
    pub(crate) types: &'static [MediaType],
    /// What takes a file of another type, as a part of a sentence.
    pub(crate) if_other: Option<&'static str>,
    /// What takes a file that is too large, as a part of a sentence.
    pub(crate) if_larger: Option<&'static str>,
    /// The description of the field that may have a URL of the file in place of it. `None` if the form has no such field, and
    /// none for an upload.
    pub(crate) url: Option<&'static str>,
}

impl File {
    /// The name of its field.
    pub(crate) const NAME: &'static str = "file";
    pub(super) const SLOT: Slot = Slot { name: Self::NAME, max_values: None, max_bytes: 0 };
    /// The name of the field that may have its URL.
    pub(super) const URL: &'static str = "url";
    /// The name of the field that may have the id of its upload.
    pub(crate) const UPLOAD: &'static str = "upload";
    const UPLOAD_SLOT: Slot = Slot { name: Self::UPLOAD, max_values: None, max_bytes: 64 };
    const URL_SLOT: Slot = Slot { name: Self::URL, max_values: None, max_bytes: MAX_URL_BYTES };

    /// What a request may have.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        let elsewhere = self.url.map(|_| [Self::URL_SLOT, Self::UPLOAD_SLOT]);
        [Self::SLOT].into_iter().chain(elsewhere.into_iter().flatten())
    }

    /// The detail of the violation that it is absent.
    pub(super) fn missing(&self) -> String {
        let elsewhere = || format!(", or {} or {} in place of it", Self::URL, Self::UPLOAD);
        let elsewhere = self.url.map_or_else(String::new, |_| elsewhere());
        format!("{} is required{elsewhere}", Self::NAME)
    }

    /// The violation of a file with more bytes.
    pub(super) fn too_large(&self, max_bytes: usize) -> Violation {
        let name = Self::NAME;
        let advice = advice(self.if_larger);
        Violation::new(name, Code::TooLarge, format!("{name} is larger than {max_bytes} bytes{advice}"))
    }

    /// The sentence about its limit for an error about the whole body.
    pub(super) fn limit(&self, max_bytes: usize) -> String {
        format!("{} may have at most {max_bytes} bytes{}.", Self::NAME, advice(self.if_larger))
    }

    /// The type of a file that begins with these bytes, or the violation if it is not accepted.
    pub(super) fn media_type(&self, bytes: &[u8]) -> Result<MediaType, Violation> {
        media_type_of(Self::NAME, bytes, self.types, self.if_other)
    }

    /// The type of a recording that begins with these bytes and that a worker reads from elsewhere, or the violation of the field
    /// that names it.
    pub(crate) fn recording_type(field: &str, bytes: &[u8]) -> Result<MediaType, Violation> {
        media_type_of(field, bytes, MediaType::RECORDINGS, None)
    }

    /// The accepted formats in words.
    fn formats(&self) -> String {
        MediaType::formats(self.types)
    }

    /// The media types with which it can be sent.
    pub(super) fn content_types(&self) -> String {
        self.types.iter().map(|media_type| media_type.name()).collect::<Vec<_>>().join(", ")
    }

    /// The schema of the field with its URL, if the form has one.
    pub(super) fn url_schema(&self) -> Option<RefOr<Schema>> {
        let description = self.url?;
        Some(parsed(json!({
            "type": "string", "format": "uri", "pattern": "^$|^https?://", "maxLength": MAX_URL_BYTES, "default": "",
            "description": description,
        })))
    }

    /// The schema of the field with the id of its upload.
    pub(super) fn upload_schema() -> RefOr<Schema> {
        let description = "In place of `file`: the id of an upload (`POST /v1/uploads`) that has a recording, of the sizes and \
            formats that `url` may have. An upload is for one request.";
        parsed(json!({"type": "string", "default": "", "description": description}))
    }

    /// Its schema as a property.
    pub(super) fn schema(&self) -> RefOr<Schema> {
        let description = format!("{} Formats: {}.", self.text, self.formats());
        parsed(json!({"type": "string", "format": "binary", "description": description}))
    }
}

/// The type of a file that begins with these bytes, or the violation of its field if it is none of these types.
fn media_type_of(
    field: &str,
    bytes: &[u8],
    types: &[MediaType],
    if_other: Option<&str>,
) -> Result<MediaType, Violation> {
    media_type(bytes).filter(|found| types.contains(found)).ok_or_else(|| {
        let start = bytes[..bytes.len().min(MAX_START)].escape_ascii();
        let (expected, advice) = (MediaType::formats(types), advice(if_other));
        let detail = format!("{field} begins with \"{start}\", expected {expected}{advice}");
        Violation::new(field, Code::UnsupportedMediaType, detail)
    })
}

/// What takes a file that is refused, as the end of a sentence.
fn advice(elsewhere: Option<&str>) -> String {
    elsewhere.map(|advice| format!(": {advice}")).unwrap_or_default()
}

/// The value of a field of multipart/form-data that is sent as an empty text, which counts as absent.
fn empty(schema: &serde_json::Value) -> Option<serde_json::Value> {
    match schema["type"].as_str()? {
        "array" => Some(json!([])),
        "string" if schema.get("enum").is_none() => Some(json!("")),
        _ => None,
    }
}

/// The lines of a doc comment as one line.
pub(super) fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The address of a component's schema in the document.
pub(super) fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// The library's type of a JSON schema.
pub(super) fn parsed(schema: serde_json::Value) -> RefOr<Schema> {
    from_value(schema).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_type_is_refused_with_its_first_bytes_and_the_formats_that_are_accepted() {
        let mp3_or_wav = File {
            text: "A recording.",
            max_bytes: None,
            types: MediaType::MP3_AND_WAV,
            if_other: Some("another route takes more"),
            if_larger: None,
            url: None,
        };
        let any = File { types: MediaType::RECORDINGS, if_other: None, ..mp3_or_wav };
        let refused =
            |file: &File, bytes: &[u8]| file.media_type(bytes).map_err(|violation| violation.detail);
        assert_eq!(refused(&mp3_or_wav, b"ID3\x04"), Ok(MediaType::Mp3));
        assert_eq!(refused(&any, b"fLaC\0\0\0\"\x10\0"), Ok(MediaType::Flac));
        assert_eq!(
            refused(&mp3_or_wav, b"fLaC\0\0\0\"\x10\0").unwrap_err(),
            r#"file begins with "fLaC\x00\x00\x00\"\x10\x00", expected MP3 or WAV: another route takes more"#
        );
        let all = "MP3, WAV, FLAC, Ogg (Opus, Vorbis, FLAC), MPEG-4 (AAC), WebM (Opus, Vorbis) or AAC";
        let page = refused(&any, b"<!DOCTYPE html><title>Not found").unwrap_err();
        assert_eq!(page, format!("file begins with \"<!DOCTYPE html><\", expected {all}"));
        assert_eq!(
            any.content_types(),
            "audio/mpeg, audio/wav, audio/flac, audio/ogg, audio/mp4, audio/webm, audio/aac"
        );
    }
}
