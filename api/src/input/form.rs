//! The form of a request: its fields, and a file. It parses the body and describes it to the OpenAPI document.

use akhar_jobs::Queue;
use akhar_webhooks::UrlRules;
use axum::extract::Request;
use utoipa::openapi::{
    OpenApi, RefOr, Required,
    content::ContentBuilder,
    encoding::EncodingBuilder,
    example::ExampleBuilder,
    request_body::{RequestBody, RequestBodyBuilder},
    schema::{AdditionalProperties, ObjectBuilder, Ref, Schema},
};

use super::{
    field::{File, joined},
    fields::Fields,
    json,
    memory::BodyMemory,
    multipart, query,
    source::Source,
    values::Values,
};
use crate::problems::{Problem, Violation};

/// The body of a request: a JSON object, or, with a file, multipart/form-data.
pub(crate) trait Form: Fields {
    /// The file.
    const FILE: Option<File>;
    /// The queue of the requests, which decides on the memory for their bodies.
    const QUEUE: Queue;
    /// The fields after they were checked together. No later code checks them again.
    type Checked;

    /// Checks the fields together. Adds a violation if they contradict each other. `None` if one of them is not valid.
    fn check(self, violations: &mut Vec<Violation>) -> Option<Self::Checked>;

    /// An example of the whole form.
    fn example() -> Option<serde_json::Value> {
        None
    }

    /// Further examples: name, summary and form.
    fn examples() -> Vec<(&'static str, &'static str, serde_json::Value)> {
        Vec::new()
    }
}

/// Reads a form from a request. `max_file_bytes` is the size limit of its file, and `rules` are those of its URL.
pub(crate) async fn read<F: Form>(
    request: Request,
    max_file_bytes: usize,
    memory: &BodyMemory,
    rules: &UrlRules,
) -> Result<(F::Checked, Option<Source>), Problem> {
    let unexpected = query::unexpected(request.uri());
    let mut slots = F::slots();
    let mut values = if let Some(file) = F::FILE {
        slots.splice(0..0, file.slots());
        multipart::read(request, &slots, &file, max_file_bytes, memory).await?
    } else {
        Values::of_object(json::read(request, memory).await?, &slots)
    };
    values.violations.extend(unexpected);
    let source = F::FILE.and_then(|file| values.take_source(&file, rules));
    let fields = F::take(&mut values);
    match fields.check(&mut values.violations) {
        Some(checked) if values.violations.is_empty() => Ok((checked, source)),
        _ => Err(Problem::violations(values.violations)),
    }
}

/// What the OpenAPI document has about a form.
pub(crate) struct Description {
    /// The request body, which refers to the schema of the form.
    pub(crate) body: RequestBody,
    /// The schema of the form, and those that it refers to.
    pub(crate) components: Vec<(String, RefOr<Schema>)>,
    /// Examples of violations.
    pub(crate) violations: Vec<Violation>,
}

impl Description {
    /// Whether the form has a file.
    pub(crate) fn has_file(&self) -> bool {
        self.body.content.contains_key("multipart/form-data")
    }
}

/// Describes a form whose file may have this many bytes, if the form itself does not say it.
pub(crate) fn describe<F: Form>(max_file_bytes: usize) -> Description {
    #[expect(deprecated, reason = "a list of examples is not shown by as many tools")]
    let mut form = ObjectBuilder::new()
        .description(Some(joined(F::TEXT)))
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
        .example(F::example());
    let mut content = ContentBuilder::new().schema(Some(Ref::from_schema_name(F::NAME)));
    let mut violations = F::violation();
    if let Some(file) = F::FILE {
        form = form.property(File::NAME, file.schema());
        form = match file.url_schema() {
            Some(url) => form.property(File::URL, url).property(File::UPLOAD, File::upload_schema()),
            None => form.required(File::NAME),
        };
        let encoding = EncodingBuilder::new().content_type(Some(file.content_types())).build();
        content = content.encoding(File::NAME, encoding);
        violations.push(file.too_large(file.max_bytes.unwrap_or(max_file_bytes)));
        violations.extend(file.media_type(b"GIF89a").err());
    }
    let mut components = Vec::new();
    for field in F::described() {
        form = form.property(field.name, field.property(F::FILE.is_none()));
        form = if field.is_required { form.required(field.name) } else { form };
        components.extend(field.component());
    }
    let examples = F::examples().into_iter().map(|(name, summary, form)| {
        (name, ExampleBuilder::new().summary(summary).value(Some(form)).build())
    });
    let content = content.examples_from_iter(examples).build();
    let media_type = if F::FILE.is_some() { "multipart/form-data" } else { "application/json" };
    components.push((F::NAME.to_owned(), form.into()));
    Description {
        body: RequestBodyBuilder::new().content(media_type, content).required(Some(Required::True)).build(),
        components,
        violations,
    }
}

/// Adds the form of a JSON body to the document of its route.
pub(crate) fn with_json<F: Form>(mut document: OpenApi) -> OpenApi {
    let form = describe::<F>(0);
    for route in document.paths.paths.values_mut().filter_map(|item| item.post.as_mut()) {
        route.request_body = Some(form.body.clone());
    }
    document.components.get_or_insert_default().schemas.extend(form.components);
    document
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        super::{field::Slot, values::Sent},
        *,
    };
    use crate::{
        openai::form::{AudioTranscriptionForm, AudioTranslationForm},
        operations::{
            handwriting_generator::form::HandwritingForm, speech_recognition::form::SpeechForm,
            translation::form::TranslationForm,
        },
    };

    /// The violations of a form that has these values and, for all other fields, the defaults of the document.
    fn of_defaults<F: Form>(required: &[(&str, &str)]) -> Vec<Violation> {
        let described: Vec<_> = F::described().collect();
        let mut values = Values::default();
        for Slot { name, .. } in F::slots() {
            let required = required.iter().find(|(field, _)| *field == name).map(|(_, value)| json!(value));
            let field = described.iter().find(|field| field.name == name);
            let default = || {
                let property =
                    field.map(|field| serde_json::to_value(field.property(F::FILE.is_none())).unwrap());
                property?.get("default").cloned()
            };
            match required.or_else(default) {
                Some(value) if F::FILE.is_none() => {
                    values.add(name, Sent::Json(serde_json::value::to_raw_value(&value).unwrap()));
                }
                Some(Value::String(text)) if text.is_empty() => (), // counts as absent
                Some(Value::Array(list)) if list.is_empty() => (),
                Some(Value::String(text)) => values.add(name, Sent::Bytes(text.into())),
                Some(value) => values.add(name, Sent::Bytes(value.to_string().into())),
                None => (),
            }
        }
        let fields = F::take(&mut values);
        let is_valid = fields.check(&mut values.violations).is_some();
        assert_eq!(is_valid, values.violations.is_empty());
        values.violations
    }

    #[test]
    fn a_request_may_name_every_default() {
        for format in ["spoken", "written"] {
            assert_eq!(of_defaults::<SpeechForm>(&[("format", format)]), []);
            assert_eq!(of_defaults::<TranslationForm>(&[("text", "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"), ("format", format)]), []);
            assert_eq!(
                of_defaults::<AudioTranscriptionForm>(&[("model", "speech-pa"), ("format", format)]),
                []
            );
        }
        assert_eq!(of_defaults::<AudioTranslationForm>(&[("model", "speech-pa")]), []);
        assert_eq!(of_defaults::<HandwritingForm>(&[("text", "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ")]), []);
    }
}
