//! The reference page about paths, methods and statuses.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::openapi::openapi;

/// Describes all paths with their methods, parameters, fields and statuses in Markdown.
pub fn http() -> String {
    let document = serde_json::to_value(openapi()).unwrap_or_default();
    let mut page = "# HTTP interface\n\n\
        This page lists every path with its methods, parameters and statuses. It is generated from the \
        [OpenAPI document](https://github.com/akhar-project/akhar/blob/main/docs/openapi.json), which also has the schemas. \
        A running server has it at `/openapi.json`.\n\n\
        A path under `/v1` needs an API key in the header `Authorization: Bearer <API_KEY>`. A request with a \
        method that its path does not support is answered with 405 [method-not-allowed](problems.md#method-not-allowed).\n"
        .to_owned();
    for tag in document["tags"].as_array().into_iter().flatten() {
        // Writing to a String cannot fail.
        let _ = write!(page, "\n## {}\n\n{}\n", capitalised(text(&tag["name"])), text(&tag["description"]));
        for (path, item) in members(&document["paths"]) {
            for (method, route) in members(item) {
                if route["tags"][0] == tag["name"] {
                    write_route(&mut page, &document, &format!("{} {path}", method.to_uppercase()), route);
                }
            }
        }
    }
    page
}

fn write_route(page: &mut String, document: &Value, title: &str, route: &Value) {
    let _ = write!(page, "\n### {title}\n\n{}.\n", text(&route["summary"])); // writing to a String cannot fail
    if let Some(description) = route["description"].as_str() {
        let _ = write!(page, "\n{description}\n"); // writing to a String cannot fail
    }
    let parameters = route["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    if !parameters.is_empty() {
        page.push_str("\n| parameter | in | value | meaning |\n|---|---|---|---|\n");
    }
    for parameter in parameters {
        let name = text(&parameter["name"]);
        let place = text(&parameter["in"]);
        let value = value_of(document, &parameter["schema"]);
        // Writing to a String cannot fail.
        let _ =
            writeln!(page, "| `{name}` | {place} | {value} | {} |", cell(text(&parameter["description"])));
    }
    for (media_type, content) in members(&route["requestBody"]["content"]) {
        write_fields(page, document, media_type, resolved(document, &content["schema"]));
    }
    write_responses(page, &route["responses"]);
}

/// Writes the fields of a body, the required ones first.
fn write_fields(page: &mut String, document: &Value, media_type: &str, form: &Value) {
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "\nThe body is `{media_type}` with these fields:\n\n| field | value | meaning |\n|---|---|---|\n"
    );
    let is_required =
        |name: &str| form["required"].as_array().is_some_and(|names| names.iter().any(|n| n == name));
    let mut fields: Vec<(&String, &Value)> = members(&form["properties"]).collect();
    fields.sort_by_key(|(name, _)| !is_required(name));
    for (name, field) in fields {
        let required = if is_required(name) { ", required" } else { "" };
        let value = value_of(document, field);
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| `{name}` | {value}{required} | {} |", cell(description(document, field)));
    }
}

fn write_responses(page: &mut String, responses: &Value) {
    page.push_str("\n| status | meaning | body | headers |\n|---|---|---|---|\n");
    for (status, response) in members(responses) {
        let problems = members(&response["content"]["application/problem+json"]["examples"]);
        let problems: Vec<String> =
            problems.map(|(slug, _)| format!("[{slug}](problems.md#{slug})")).collect();
        let meaning =
            if problems.is_empty() { cell(text(&response["description"])) } else { problems.join(", ") };
        let names = |map: &Value| {
            let names: Vec<String> = members(map).map(|(name, _)| format!("`{name}`")).collect();
            names.join(", ")
        };
        let body = names(&response["content"]);
        let headers = names(&response["headers"]);
        let _ = writeln!(page, "| {status} | {meaning} | {body} | {headers} |"); // writing to a String cannot fail
    }
}

/// Describes the values that a schema allows in a few words.
fn value_of(document: &Value, schema: &Value) -> String {
    let own = resolved(document, schema);
    let mut words = if let Some(choices) = own["enum"].as_array() {
        let choices: Vec<String> = choices.iter().map(|choice| format!("`{}`", plain(choice))).collect();
        choices.join(", ")
    } else if own["format"] == "binary" {
        "file".to_owned()
    } else if own["format"] == "uuid" {
        "UUID".to_owned()
    } else {
        text(&own["type"]).to_owned()
    };
    for (minimum, maximum, unit) in [("minimum", "maximum", ""), ("minLength", "maxLength", " characters")] {
        if let (Some(least), Some(most)) = (own.get(minimum), own.get(maximum)) {
            let _ = write!(words, ", {} to {}{unit}", plain(least), plain(most)); // writing to a String cannot fail
        }
    }
    if let Some(default) = schema.get("default").or(own.get("default")) {
        let _ = write!(words, "; default `{}`", plain(default)); // writing to a String cannot fail
    }
    words
}

/// Follows the reference of a schema, if it is one.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = schema.get("oneOf").map_or(schema, |choices| &choices[0]);
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    name.map_or(schema, |name| &document["components"]["schemas"][name])
}

/// The description of a field, or of the schema that it refers to.
fn description<'a>(document: &'a Value, field: &'a Value) -> &'a str {
    let referring = field["oneOf"][0]["description"].as_str();
    referring
        .or(field["description"].as_str())
        .unwrap_or_else(|| text(&resolved(document, field)["description"]))
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A value as a caller writes it, which means strings without quotation marks.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Escapes text for one cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
