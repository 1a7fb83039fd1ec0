//! The playground in Chromium, with axe. The program is in `tests/node`.

use akhar_tests::{
    Cluster, Service, root,
    scripts::{NodeFolder, json, output, python_program},
};
use serde_json::{Value, json};

/// The scripts say their types in comments, which TypeScript checks.
#[tokio::test]
async fn the_types_of_the_playgrounds_scripts_are_right() {
    let folder = NodeFolder::new(Cluster::shared().folder(), "playground-types");
    folder.add(&root().join("api/src/ui/playground/js"), "page");
    let mut check = folder.program_at("", "", "node_modules/typescript/bin/tsc");
    check.args(["--project", "tsconfig.page.json"]);
    output(check).await;
}

#[tokio::test]
async fn people_draw_write_and_speak_on_the_playground_on_phones_and_desktops() {
    let data = Cluster::shared().folder().join("played");
    let service = Service::start(&data).await;
    let link = service.link().await;
    let folder = NodeFolder::new(Cluster::shared().folder(), "playground");
    let visit = async |look: &str| {
        let mut visit = folder.program_at(&service.base, &service.key, "playground.ts");
        visit.env("LINK", &link).env("PYTHON", python_program());
        visit.arg(root().join("tests/fixtures")).arg(look);
        let result = json(visit).await;
        assert_eq!(result["found"], json!([]), "{look}");
        result["shown"].clone()
    };
    let desktop = visit("desktop").await;
    assert_eq!(desktop["handedOver"], json!([true, format!("{}/", service.base)]));
    let refusal = desktop["usedLink"].as_str().unwrap_or_default();
    assert!(refusal.contains("used already"), "{refusal}");
    used(&desktop, "ਮੌਸਮ", "Probably wrong", ["the file is cut off", "English was probably heard"]);
    ran(&desktop);
    for (kind, part) in [
        ("no picture", "SOURCE.md"),
        ("no recording", "SOURCE.md"),
        ("no text", "0,0,0"),
        ("quota", "Try again in 7 s."),
        ("key", "This key does not work."),
    ] {
        let text = desktop["errors"][kind].as_str().unwrap_or_default();
        assert!(text.contains(part), "{kind}: {text}");
    }
    assert_eq!(desktop["late"], json!({"stored": null, "best": "੫", "button": "Write", "nStreams": 0}));
    let live = &desktop["live"];
    let expected = json!([["session.update", 1], [["ਨਵੀਂ"], false]]);
    assert_eq!(json!([live["chosen"], live["again"]]), expected);
    assert!(live["refusal"].as_str().is_some_and(|text| text.contains("keyterms")), "{live}");
    let warnings = ["ਫ਼ਾਈਲ ਅਧੂਰੀ ਹੈ: ਇਸ ਵਿੱਚ 2.811 ਸਕਿੰਟ", "ਸ਼ਾਇਦ ਅੰਗਰੇਜ਼ੀ ਸੁਣੀ ਗਈ"];
    let phone = visit("phone").await;
    used(&phone, "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ", "ਸ਼ਾਇਦ ਗਲਤ ਹੈ", warnings);
    let [english, panjabi] = ["The weather is very nice today.", "mērā bharā sakūla vicca paṛhadā hai"];
    for (shown, channel, found) in [
        (&desktop, "Channel 1", ["English was detected", "Panjabi was detected"]),
        (&phone, "ਚੈਨਲ 1", ["ਬੋਲੀ ਅੰਗਰੇਜ਼ੀ ਪਛਾਣੀ ਗਈ", "ਬੋਲੀ ਪੰਜਾਬੀ ਪਛਾਣੀ ਗਈ"]),
    ] {
        let options = json!([[english, "en", channel, found[0]], [panjabi, "pa-Latn", channel, found[1]]]);
        assert_eq!(shown["speak"]["options"], options);
    }
}

/// Checks what the panels showed. `heard` is in the transcription, `doubt` stands beside one that is probably wrong, and the
/// warnings about a file that is cut off and about a wrong language begin with `warnings`.
fn used(shown: &Value, heard: &str, doubt: &str, warnings: [&str; 2]) {
    let [draw, write, speak] = ["draw", "write", "speak"].map(|panel| &shown[panel]);
    assert_eq!(json!([draw["n"], draw["isSmall"]]), json!([5, true]), "{shown}");
    assert_eq!(write["typed"], "ਅਸ", "{shown}");
    let sent = json!({"text": "ਪੰਜਾਬੀ", "page-length": 300, "with-image": true});
    assert_eq!(write["sent"], sent, "{shown}");
    let changed = json!([write["width"], write["color"], write["files"], write["refusal"]]);
    assert_eq!(changed, json!([555, "blue", [true, "PNG"], true]), "{shown}");
    assert!(speak["first"].as_str().is_some_and(|text| text.contains(heard)), "{shown}");
    assert_eq!(json!([speak["hasTranslation"], speak["files"]]), json!([true, [true, true]]), "{shown}");
    for (nth, begin) in warnings.into_iter().enumerate() {
        assert!(speak["warnings"][nth].as_str().is_some_and(|text| text.starts_with(begin)), "{shown}");
    }
    assert_eq!(speak["doubt"], doubt, "{shown}");
    assert_eq!(shown["jobs"]["isList"], true);
    assert_eq!(shown["reference"], json!(["200 application/json", false, "create-translation-secret"]));
}

/// Checks how the answers begin to the requests that the panels show as code, run with curl, Python and Node.js.
fn ran(shown: &Value) {
    for (panel, answers) in [
        ("draw", ["{\"predictions\":", "{'predictions':", "{predictions:"]),
        ("write", ["{\"points\":", "{'points':", "{points:"]),
        ("speak", ["{\"id\":", "id:", "id:"]),
        ("jobs", ["{\"jobs\":", "{'jobs':", "{jobs:"]),
    ] {
        let printed = &shown[panel]["code"];
        for (nth, answer) in answers.iter().enumerate() {
            assert!(printed[nth].as_str().is_some_and(|text| text.starts_with(answer)), "{panel}: {printed}");
        }
    }
}
