//! The pages in each language. A page is a file of HTML in which `{{name}}` stands for a text of the language.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    http::{compression::Packed, public_path::PublicPath},
    ui::{assets, head, language::Language},
};

const PLAYGROUND: &str = include_str!("page.html");
const REFERENCE: &str = include_str!("docs.html");
/// What both pages have, by its name in them.
const PARTS: [(&str, &str); 3] = [
    ("part.head", include_str!("parts/head.html")),
    ("part.top", include_str!("parts/top.html")),
    ("part.end", include_str!("parts/end.html")),
];
const ENGLISH: &str = include_str!("text/en.json");
const PANJABI: &str = include_str!("text/pa.json");

/// Scripts that the playground does not need when it opens.
const LOADED_LATER: [&str; 4] = ["docs.js", "example.js", "schema.js", "tap.js"];

type Texts = BTreeMap<String, String>;

/// A page in all languages.
#[derive(Debug, Clone)]
pub(super) struct Pages(std::sync::Arc<Vec<(Language, Packed)>>);

impl Pages {
    /// The playground. It has the limits of numbers from the OpenAPI document.
    pub(super) fn playground(document: &[u8], public: &PublicPath) -> Self {
        Self::of_template(PLAYGROUND, "/", &limits(document), public)
    }

    /// The page that shows the OpenAPI document.
    pub(super) fn reference(public: &PublicPath) -> Self {
        Self::of_template(REFERENCE, "/docs", &json!({}), public)
    }

    /// The page in a language.
    pub(super) fn of(&self, language: Language) -> &Packed {
        let found = self.0.iter().find(|(other, _)| *other == language).or_else(|| self.0.first());
        found.map_or(&EMPTY, |(_, page)| page)
    }

    fn of_template(template: &str, path: &str, limits: &Value, public: &PublicPath) -> Self {
        let page = |language| {
            let html = public.page(render(template, path, language, limits));
            (language, Packed::new(html.into()))
        };
        Self(Language::ALL.map(page).into_iter().collect::<Vec<_>>().into())
    }
}

/// Of a language that there is not.
static EMPTY: Packed = Packed::new(Bytes::new());

/// All texts of a language.
fn texts(language: Language) -> Texts {
    let json = match language {
        Language::English => ENGLISH,
        Language::Panjabi => PANJABI,
    };
    serde_json::from_str(json).unwrap_or_default() // a test parses them
}

/// The limits and defaults of the numbers in a handwriting request.
fn limits(document: &[u8]) -> Value {
    let document: Value = serde_json::from_slice(document).unwrap_or_default();
    let fields = &document["components"]["schemas"]["HandwritingForm"]["properties"];
    let numbers = fields.as_object().into_iter().flatten().filter(|(_, field)| field["minimum"].is_number());
    let limits = numbers.map(|(name, field)| {
        let limits = ["minimum", "maximum", "default"].map(|key| (key.to_owned(), field[key].clone()));
        (name.clone(), Value::Object(limits.into_iter().collect()))
    });
    Value::Object(limits.collect())
}

fn render(template: &str, path: &str, language: Language, limits: &Value) -> String {
    let part =
        |name: &str| PARTS.iter().find(|(part, _)| *part == name).map(|(_, text)| Cow::Borrowed(*text));
    let template = &fill(template, part);
    let texts = texts(language);
    let data = json!({ "code": language.code(), "texts": texts, "limits": limits });
    // A `<` in a script's data could end the script.
    let data = data.to_string().replace('<', "\\u003c");
    let scripts = assets::names("playground/js/").filter(|name| !LOADED_LATER.contains(name));
    let preload = |name| format!("<link rel=\"modulepreload\" href=\"{}\">\n", assets::path(name));
    let preloads: String = scripts.map(preload).collect();
    let other = Language::ALL.into_iter().find(|other| *other != language).unwrap_or(language);
    fill(template, |name| match name {
        "assets" => Some(assets::folder().into()),
        "shared" => Some(head::shared().into_string().into()),
        "code" => Some(language.code().into()),
        "other.code" => Some(other.code().into()),
        "other.name" => Some(other.name().into()),
        "path" => Some(path.into()),
        "version" => Some(env!("CARGO_PKG_VERSION").into()),
        "data" => Some(Cow::Borrowed(&data)),
        "preloads" => Some(Cow::Borrowed(&preloads)),
        _ => texts.get(name).map(|text| escape(text).into()),
    })
}

/// Replaces each `{{name}}` by its value. One without a value stays, which a test finds.
fn fill<'a>(template: &str, value: impl Fn(&str) -> Option<Cow<'a, str>>) -> String {
    let mut page = String::with_capacity(2 * template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            rest = after;
            break;
        };
        match value(name) {
            Some(value) => page.push_str(&value),
            None => page.extend(["{{", name, "}}"]),
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// A text as it is written in an element or in an attribute.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        openapi::{openapi, openapi_json},
        problems::ProblemType,
    };

    #[test]
    fn every_part_of_the_pages_has_a_text_in_every_language() {
        let limits = limits(openapi_json(&openapi()).as_bytes());
        assert_eq!(limits["stroke-width"], json!({ "minimum": 1, "maximum": 8, "default": 2.5 }));
        for language in Language::ALL {
            for template in [PLAYGROUND, REFERENCE] {
                let page = render(template, "/", language, &limits);
                assert!(!page.contains("{{"), "{:?}", page.split("{{").nth(1).map(|rest| &rest[..20]));
                assert!(!page.contains("style=") && !page.contains("onclick="));
            }
        }
    }

    #[test]
    fn the_languages_have_the_same_texts_with_the_same_parts() {
        let parts = |text: &str| {
            let mut parts: Vec<String> =
                text.split('{').skip(1).map(|part| part.split('}').next().unwrap().to_owned()).collect();
            parts.sort();
            parts
        };
        let own = ["problem.type.", "problem.code.", "warning."];
        let is_own = |name: &str| own.iter().any(|prefix| name.starts_with(prefix));
        let all = |language| {
            let texts = texts(language).into_iter().filter(|(name, _)| !is_own(name));
            texts.map(|(name, text)| (name, parts(&text))).collect::<Vec<_>>()
        };
        assert!(texts(Language::English).len() > 100);
        assert_eq!(all(Language::English), all(Language::Panjabi));
        assert!(!ENGLISH.chars().any(|c| ('\u{a05}'..='\u{a39}').contains(&c)));
    }

    #[test]
    fn every_problem_has_a_name_in_panjabi() {
        let texts = texts(Language::Panjabi);
        let names = texts.keys().filter_map(|name| name.strip_prefix("problem.type."));
        let mut slugs: Vec<_> = ProblemType::ALL.iter().map(|problem| problem.facts().slug).collect();
        slugs.sort_unstable();
        assert!(names.eq(slugs));
    }

    #[test]
    fn texts_cannot_become_markup() {
        let value = |name: &str| (name == "a").then(|| Cow::Owned(escape("<b a=\"c\">&")));
        assert_eq!(fill("x{{a}}y{{b}}z{{", value), "x&lt;b a=&quot;c&quot;&gt;&amp;y{{b}}z");
    }
}
