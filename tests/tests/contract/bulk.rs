//! `akhar transcribe` against a running service: the results and failures of a folder, a full queue, and wrong arguments.

use std::{collections::BTreeSet, ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, path::Path};

use akhar_tests::{
    Cluster, Stack,
    bulk::Folders,
    process::run,
    root,
    speech::{RATE, error_percent, noise, recording, silence, wav},
    terminal::Terminal,
    until,
};
use serde_json::Value;

#[tokio::test]
async fn each_recording_gets_its_results_and_each_broken_one_a_reason() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk");
    let sentences = recording("pa-two-sentences.wav");
    folders.add("calls/monday/first.wav", &sentences.bytes);
    folders.add("calls/again.wav", &sentences.bytes);
    folders.add("water.mp3", &recording("pa-water.mp3").bytes);
    let n_repeats = 14;
    let spoken = sentences.samples().repeat(n_repeats);
    folders.add("long.wav", &wav(&spoken));
    folders.add(
        "school.webm",
        &fs::read(root().join("tests/fixtures/audio/pa-school.webm")).expect("a fixture"),
    );
    folders.add("notes.txt", b"not a recording, and not taken from the folder");
    folders.add("broken/empty.wav", b"");
    folders.add("broken/page.mp3", b"<html>Not found</html>");
    let gsm = root().join("tests/fixtures/audio/gsm-inside.wav");
    folders.add("broken/gsm.wav", &fs::read(gsm).expect("a fixture"));
    folders.add("broken/long.mp3", &b"abc".repeat(1_000_000));

    let (code, out, log) = run(folders.command(&stack, &["--format", "json,txt,srt,vtt"])).await;
    assert_eq!(code, Some(1), "{out}{log}");
    assert!(out.contains("5 of 9 recordings transcribed, 4 failed, 1 skipped"), "{out}");
    let broken = [
        ("broken/empty.wav", "undecodable"),
        ("broken/gsm.wav", "unsupported_codec"),
        ("broken/long.mp3", "undecodable"),
        ("broken/page.mp3", "undecodable"),
    ];
    assert_eq!(folders.failures(), broken.map(|(path, code)| (path.to_owned(), code.to_owned())));
    assert!(broken.iter().all(|(path, _)| log.contains(path)), "{log}");
    assert!(log.contains("broken/long.mp3: expected MP3, WAV, FLAC"), "{log}");
    assert_eq!(folders.skipped(), [("notes.txt".to_owned(), "not_a_recording".to_owned())]);

    for name in ["calls/monday/first", "calls/again", "water", "long", "school"] {
        let document = folders.json(&format!("{name}.json"));
        let text = document["transcription"].as_str().expect("a text");
        assert!(!text.is_empty(), "{document}");
        assert_eq!(folders.text(&format!("{name}.txt")), format!("{text}\n"));
        let (srt, vtt) = (folders.text(&format!("{name}.srt")), folders.text(&format!("{name}.vtt")));
        let n_segments = document["timestamps"].as_array().expect("segments").len();
        assert_eq!(srt.matches(" --> ").count(), n_segments, "{srt}");
        assert!(vtt.starts_with("WEBVTT\n") && vtt.matches(" --> ").count() == n_segments, "{vtt}");
    }
    let confidence = folders.json("long.json")["confidence"].as_f64().expect("a confidence");
    assert!((0.5..=1.0).contains(&confidence), "{confidence}");
    assert!(folders.text("summary.csv").contains(&format!(",{confidence:.3},")), "{confidence}");
    let (first, again) = (folders.json("calls/monday/first.json"), folders.json("calls/again.json"));
    assert_eq!((&first["jobs"], &first["timestamps"]), (&again["jobs"], &again["timestamps"]));
    has_right_times(&folders.json("long.json"), &sentences.text(), n_repeats, spoken.len());
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(
        n_jobs, 6,
        "two for the long one, one for its copies, and for the mp3, the webm and the codec"
    );
}

/// Recordings that the decoder reads, by their kind.
const READABLE: [(&str, &str); 8] = [
    ("wav", "pa-school.wav"),
    ("mp3", "pa-water.mp3"),
    ("flac", "pa-school.flac"),
    ("m4a", "pa-school.m4a"),
    ("mp4", "mono-16k-aac-fragmented.mp4"),
    ("ogg", "pa-school.ogg"),
    ("opus", "mono-48k-opus.ogg"),
    ("webm", "pa-school.webm"),
];
/// Kinds of files that are not taken from a folder. The last has no extension.
const SKIPPED: [&str; 11] =
    [".aac", ".aiff", ".amr", ".caf", ".WMA", ".docx", ".jpg", ".pdf", ".txt", ".zip", ""];

#[tokio::test]
async fn every_file_of_a_folder_is_transcribed_failed_or_skipped_and_listed_once() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk-kinds");
    let mut transcribed = Vec::new();
    let mut failed = Vec::new();
    let mut skipped = Vec::new();
    for (kind, fixture) in READABLE {
        let bytes = fs::read(root().join("tests/fixtures/audio").join(fixture)).expect("a fixture");
        transcribed.push((format!("{kind}/good.{kind}"), bytes));
        failed.push((format!("bad.{kind}"), b"no sound".to_vec()));
    }
    failed.extend(["bad.mkv", "worse.mkv"].map(|name| (name.to_owned(), b"no sound".to_vec())));
    for kind in SKIPPED {
        skipped.extend([format!("below/kind{kind}"), format!("kind{kind}")].map(|name| (name, Vec::new())));
    }
    let all: Vec<_> = [&transcribed[..], &failed, &skipped].concat();
    let kinds: BTreeSet<_> = all.iter().map(|(name, _)| Path::new(name).extension()).collect();
    assert_eq!((all.len(), kinds.len()), (40, 20));
    let left_alone =
        [".hidden.wav", ".trash/old.wav", "wav/good.srt"].map(|name| (name.to_owned(), Vec::new()));
    for (name, bytes) in all.iter().chain(&left_alone) {
        folders.add(name, bytes);
    }
    let names =
        |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
    let listed =
        |list: Vec<(String, String)>| list.into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>();

    // The second run finds the results of the first one beside its recordings.
    let beside = Folders { results: folders.recordings.clone(), ..folders.clone() };
    for (folders, arguments, expected, failures) in [
        (&folders, &[][..], Some(1), "10 failed, 22 skipped"),
        (&beside, &[], Some(1), "10 failed, 22 skipped"),
        (&beside, &["--resume"], Some(0), "0 failed, 10 known failures, 22 skipped"),
    ] {
        let (code, out, log) = run(folders.command(&stack, arguments)).await;
        assert_eq!(code, expected, "{out}{log}");
        assert!(out.contains("of 18 recordings transcribed") && out.contains(failures), "{out}");
        assert!(log.contains("skipped.jsonl") && log.contains("failures.jsonl"), "{log}");
        let results = transcribed.iter().map(|(name, _)| {
            let document = folders.json(&Path::new(name).with_extension("json").to_string_lossy());
            folders.below(&document["file"])
        });
        assert_eq!(results.collect::<BTreeSet<_>>(), names(&transcribed));
        assert_eq!(listed(folders.failures()), names(&failed));
        assert_eq!(listed(folders.skipped()), names(&skipped));
        let summary = folders.summary();
        assert_eq!((summary.len(), listed(summary.clone())), (40, names(&all)));
        let order = ["failed", "transcribed", "skipped"].map(|status| {
            let of_status = |(_, other): &&(String, String)| other == status;
            summary.iter().filter(of_status).cloned().collect::<Vec<_>>()
        });
        assert_eq!(order.concat(), summary);
        assert_eq!(listed(order[0].clone()), names(&failed));
    }
    let unsupported = |(_, code): &(String, String)| code == "unsupported_format";
    assert_eq!(folders.skipped().into_iter().filter(unsupported).count(), 10, "{:?}", folders.skipped());
    let reasons = folders.text("skipped.jsonl");
    assert!(reasons.contains("install ffmpeg to read .wma, or convert"), "{reasons}");

    // With ffmpeg, recordings of other kinds are transcribed too, or fail. A text beside one of them is its result.
    folders.install_ffmpeg("below", &[recording("pa-school.wav").samples()]);
    let with_ffmpeg = Folders { results: folders.results.join("with-ffmpeg"), ..folders.clone() };
    let (code, out, log) = run(with_ffmpeg.command(&stack, &[])).await;
    assert_eq!(code, Some(1), "{out}{log}");
    assert!(out.contains("13 of 28 recordings transcribed, 15 failed, 10 skipped"), "{out}{log}");
    let (foreign, mut others): (Vec<_>, Vec<_>) = folders.skipped().into_iter().partition(unsupported);
    others.retain(|(name, _)| Path::new(name).extension().is_none_or(|kind| kind != "txt"));
    let (decoded, refused): (Vec<_>, Vec<_>) =
        foreign.into_iter().partition(|(name, _)| name.starts_with("below"));
    assert_eq!(with_ffmpeg.skipped(), others);
    let refused: BTreeSet<_> = &listed(refused) | &names(&failed);
    assert_eq!(listed(with_ffmpeg.failures()), refused);
    let text = with_ffmpeg.json("flac/good.json")["transcription"].clone();
    for (name, _) in decoded {
        assert_eq!(with_ffmpeg.json(&format!("{name}.json"))["transcription"], text, "{name}");
    }
    let reasons = with_ffmpeg.text("failures.jsonl");
    assert!(reasons.contains("ffmpeg cannot read it: Invalid data found"), "{reasons}");
    let arguments = fs::read_to_string(folders.programs.join("arguments")).expect("arguments");
    let limits = "-nostdin -loglevel error -protocol_whitelist file,pipe -i file:/";
    assert!(arguments.lines().all(|line| line.starts_with(limits)), "{arguments}");
}

#[tokio::test]
async fn only_failures_that_are_new_fail_a_later_run() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk-known");
    let school = recording("pa-school.wav").bytes;
    folders.add("school.wav", &school);
    folders.add("empty.wav", b"");
    folders.add("page.mp3", b"<html>Not found</html>");
    folders.add("broken.flac", b"fLaC and nothing else");
    folders.add(&format!("tl{}.wav", "ਅ".repeat(83)), &school);
    let resumed = async |expected: Option<i32>, summary: &str| {
        let (code, out, log) = run(folders.command(&stack, &["--resume"])).await;
        assert_eq!(code, expected, "{out}{log}");
        assert!(out.contains(summary), "expected {summary}: {out}{log}");
        folders.failures()
    };
    let failures = resumed(Some(1), "1 of 5 recordings transcribed, 4 failed, 0 skipped").await;
    let all_known =
        "0 of 5 recordings transcribed, 1 by an earlier run, 0 failed, 4 known failures, 0 skipped";
    assert_eq!(resumed(Some(0), all_known).await, failures, "they are still listed");
    assert_eq!(folders.summary().len(), 5);

    // What changed is tried again: it fails, which is new, or it is transcribed.
    folders.add("page.mp3", b"<html>Gone</html>");
    let new = "0 of 5 recordings transcribed, 1 by an earlier run, 1 failed, 3 known failures, 0 skipped";
    assert_eq!(resumed(Some(1), new).await, failures);
    assert_eq!(resumed(Some(0), all_known).await, failures);
    folders.add("page.mp3", &recording("pa-water.mp3").bytes);
    let repaired =
        "1 of 5 recordings transcribed, 1 by an earlier run, 0 failed, 3 known failures, 0 skipped";
    assert_eq!(resumed(Some(0), repaired).await.len(), 3);
}

#[tokio::test]
async fn a_killed_run_leaves_lists_of_what_has_ended() {
    // What the server would transcribe waits.
    let stack = Stack::with().workers(0).start().await;
    let folders = Folders::new(stack.folder(), "bulk-killed");
    folders.add("broken.flac", b"fLaC and nothing else");
    folders.add("notes.txt", b"no recording");
    folders.add("school.wav", &recording("pa-school.wav").bytes);
    let mut running = folders.command(&stack, &[]).spawn().expect("it starts");
    let table = folders.results.join("summary.csv");
    until("a failure is in the table", async || {
        fs::read_to_string(&table).is_ok_and(|text| text.contains("broken.flac")).then_some(())
    })
    .await;
    running.kill().await.expect("it is killed");
    assert_eq!(folders.failures(), [("broken.flac".to_owned(), "undecodable".to_owned())]);
    let rows = [("notes.txt", "skipped"), ("broken.flac", "failed")];
    assert_eq!(folders.summary(), rows.map(|(name, status)| (name.to_owned(), status.to_owned())));
}

#[tokio::test]
async fn a_recording_without_words_has_a_warning_and_is_reviewed_first() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk-silent");
    folders.add("school.wav", &recording("pa-school.wav").bytes);
    folders.add("noise.wav", &wav(&noise(3)));
    folders.add("silent.wav", &wav(&silence(3)));
    // It is cut into pieces.
    folders.add("long.wav", &wav(&silence(70)));
    for lang in ["pa", "auto"] {
        let results = Folders { results: folders.results.join(lang), ..folders.clone() };
        let (code, out, log) = run(results.command(&stack, &["--lang", lang])).await;
        assert_eq!(code, Some(0), "{out}{log}");
        assert!(out.contains("4 of 4 recordings transcribed, 0 failed, 0 skipped, 3 with warnings"), "{out}");
        let files: Vec<String> = results.summary().into_iter().map(|(file, _)| file).collect();
        assert_eq!(files, ["long.wav", "noise.wav", "silent.wav", "school.wav"]);
        for name in ["long", "noise", "silent"] {
            let warnings = results.json(&format!("{name}.json"))["warnings"].to_string();
            assert!(warnings.contains("no words were recognised"), "{warnings}");
        }
    }
}

#[tokio::test]
async fn what_is_wrong_with_one_file_does_not_end_a_run() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk-odd");
    let fixture = |name: &str| fs::read(root().join("tests/fixtures/audio").join(name)).expect("a fixture");
    // The longest names that a result and a recording can have.
    let [longest, too_long] = ["l", "tl"].map(|start| format!("{start}{}", "ਅ".repeat(83)));
    // Names that do not tell the truth, or are no UTF-8.
    folders.add("flac.wav", &fixture("pa-school.flac"));
    folders.add("webm.mp3", &fixture("pa-school.webm"));
    folders.add("ogg.weba", &fixture("pa-school.ogg"));
    folders.add("wave", &fixture("pa-school.wav"));
    folders.add("codec.mp4", &fixture("mono-16k-mp3.mp4"));
    folders.install_ffmpeg("codec", &[recording("pa-school.wav").samples()]);
    folders.add(&format!("{longest}.wav"), &fixture("pa-school.wav"));
    let latin_1 = folders.recordings.join(OsStr::from_bytes(b"gar\xe7on.flac"));
    fs::write(latin_1, fixture("pa-school.flac")).expect("a file");
    folders.add("taken.wav", &fixture("pa-school.wav"));
    fs::create_dir_all(folders.results.join("taken.json/x")).expect("a folder");
    folders.add(&format!("{too_long}.wav"), &fixture("pa-school.wav"));
    std::os::unix::fs::symlink("nothing.wav", folders.recordings.join("gone.wav")).expect("a link");

    let mut command = folders.command(&stack, &[]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let output = command.stderr(full).output().await.expect("it runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{out}");
    assert!(out.contains("7 of 9 recordings transcribed, 2 failed, 1 skipped"), "{out}");
    let failures = [("taken.wav".to_owned(), "unwritable"), (format!("{too_long}.wav"), "name_too_long")];
    assert_eq!(folders.failures(), failures.map(|(name, code)| (name, code.to_owned())));
    assert_eq!(folders.skipped(), [("gone.wav".to_owned(), "not_a_file".to_owned())]);
    assert_eq!(folders.summary().len(), 10);
    let names =
        ["flac", "webm", "ogg", "wave", "codec", &longest].map(|name| format!("{name}.json").into_bytes());
    for name in names.into_iter().chain([b"gar\xe7on.json".to_vec()]) {
        let document = fs::read(folders.results.join(OsStr::from_bytes(&name))).expect("a result");
        let document: Value = serde_json::from_slice(&document).expect("JSON");
        let text = document["transcription"].as_str().expect("a text");
        assert!(error_percent(&recording("pa-school.wav").text(), text) <= 20, "{document}");
    }
}

#[tokio::test]
async fn a_dry_run_says_what_a_run_would_do_and_writes_nothing() {
    let folders = Folders::new(Cluster::shared().folder(), "bulk-dry");
    folders.add("talk.wav", &wav(&vec![0; 36 * 60 * RATE]));
    folders.add(
        "school.flac",
        &fs::read(root().join("tests/fixtures/audio/pa-school.flac")).expect("a fixture"),
    );
    folders.add("bad.mp3", b"no sound");
    folders.add("call.amr", b"");
    // There is neither a server nor a key.
    let (code, out, log) = run(folders.command_with(&[folders.path()], &["--dry-run"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    for expected in [
        "3 recordings, 0.60 h of audio, about 0.7 min on one core",
        "1 files would fail:",
        "bad.mp3: ",
        "1 files would be skipped:",
        "call.amr: ",
        "(unsupported_format)",
    ] {
        assert!(out.contains(expected), "expected {expected}: {out}{log}");
    }
    assert!(!folders.results.exists());
}

/// Checks the result of a recording that says the same sentences again and again.
fn has_right_times(document: &Value, said: &str, n_repeats: usize, n_samples: usize) {
    let text = document["transcription"].as_str().expect("a text");
    let said = vec![said; n_repeats].join(" ");
    let error = error_percent(&said, text);
    assert!(error <= 10, "{error} % of the characters are wrong: {text}");
    #[expect(clippy::cast_precision_loss, reason = "a length in seconds")]
    let (length, rate) = (n_samples as f64, RATE as f64);
    let duration_s = document["duration_s"].as_f64().expect("seconds");
    assert!((duration_s - length / rate).abs() < 1e-3, "{duration_s}");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(2));
    let segments = document["timestamps"].as_array().expect("segments");
    let times = segments.iter().flat_map(|s| [&s["start"], &s["end"]].map(|t| t.as_f64().expect("seconds")));
    let times: Vec<f64> = times.collect();
    assert!(times.is_sorted(), "{times:?}");
    // The last sentence ends 0.07 s before the recording does. A model's times are right to about 0.3 s.
    assert!(times.last().is_some_and(|end| (duration_s - end).abs() < 0.5), "{times:?} of {duration_s} s");
}

#[tokio::test]
async fn a_full_queue_slows_a_run_down_and_fails_nothing() {
    let stack = Stack::with().set("AKHAR_MAX_WAITING", 2).start().await;
    let folders = Folders::new(stack.folder(), "bulk-full");
    folders.add_clips(12);
    let (code, out, log) = run(folders.command(&stack, &["--format", "txt"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    assert!(out.contains("12 of 12 recordings transcribed, 0 failed, 0 skipped"), "{out}");
    assert!(folders.failures().is_empty());
}

#[tokio::test]
async fn paths_come_as_patterns_and_on_standard_input() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk-paths");
    folders.add_clips(3);
    let (results, key) = (folders.results.to_str().expect("UTF-8"), folders.recordings.join("key"));
    fs::write(&key, format!("{}\n", stack.key)).expect("a file");
    let script = format!(
        "cd {} && ls 0.wav | {} transcribe - './[12].wav' --out {results} --url {} --key-file {} --translate --delete",
        folders.recordings.display(),
        akhar_tests::binary().display(),
        stack.base,
        key.display()
    );
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", &script]);
    let (code, out, log) = run(shell).await;
    assert_eq!(code, Some(0), "{out}{log}");
    for nth in 0..3 {
        assert!(folders.json(&format!("{nth}.json"))["translation"].is_string());
    }
    let deleted = sqlx::query_as("select (select count(*) from jobs), (select count(*) from deleted_jobs)");
    let deleted: (i64, i64) = deleted.fetch_one(&stack.db).await.expect("counts");
    assert_eq!(deleted, (0, 3), "their jobs are deleted from the server");
}

#[tokio::test]
async fn a_run_that_cannot_start_says_why() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "bulk-refused");
    folders.add_clips(1);
    let none = Folders::new(stack.folder(), "bulk-nothing");
    let unread = Folders::new(stack.folder(), "bulk-unread");
    unread.add("call.amr", b"");
    let command = |url: &str, key: &str| {
        let environment = [("AKHAR_URL", url), ("AKHAR_KEY", key)];
        let environment = environment.map(|(n, v)| (n.to_owned(), v.to_owned()));
        folders.command_with(&[&environment[..], &[folders.path()]].concat(), &[])
    };
    for (command, expected) in [
        (command(&stack.base, "ak_wrong"), "(401)"),
        (command(&stack.base, ""), "set AKHAR_KEY"),
        (command("akhar.example", "ak_x"), "expected an address such as https://"),
        (none.command(&stack, &[]), "expected files with a known ending"),
        (unread.command(&stack, &[]), "1 skipped, such as"),
        (folders.command(&stack, &["no/such.wav"]), "no/such.wav: there is no such file"),
        (folders.command(&stack, &["--key-file", "/no/key"]), "cannot read the API key in /no/key"),
    ] {
        let (code, out, log) = run(command).await;
        assert!(code == Some(1) && log.contains(expected), "expected {expected}: {out}{log}");
    }
    assert_eq!(run(folders.command(&stack, &[])).await.0, Some(0));
    let (code, _, log) = run(folders.command(&stack, &[])).await;
    assert!(code == Some(1) && log.contains("--resume"), "{log}");
    let (code, _, log) = run(folders.command(&stack, &["--resume", "--lang", "en"])).await;
    assert!(code == Some(1) && log.contains("had other options"), "{log}");
}

#[tokio::test]
async fn subtitles_have_numbers_in_figures_unless_words_are_asked_for() {
    let stack = Stack::start().await;
    for (arguments, has_figures) in [
        (&["--format", "srt,json"] as &[&str], true),
        (&["--format", "srt,json", "--spoken"], false),
        (&["--format", "json"], false),
        (&["--format", "json", "--digits", "latin"], true),
    ] {
        let folders = Folders::new(stack.folder(), &format!("bulk-figures-{}", arguments.concat()));
        folders.add("price.mp3", &recording("pa-price.mp3").bytes);
        let (code, out, log) = run(folders.command(&stack, arguments)).await;
        assert_eq!(code, Some(0), "{out}{log}");
        let text = folders.json("price.json")["transcription"].as_str().expect("a text").to_owned();
        assert_eq!(text.contains("₹250"), has_figures, "{arguments:?}: {text}");
        if arguments[1].contains("srt") {
            assert_eq!(folders.text("price.srt").contains("₹250"), has_figures, "{arguments:?}");
        }
    }
}

#[tokio::test]
async fn the_progress_has_the_counts_of_the_group_on_the_server() {
    let stack = Stack::with().workers(0).start().await;
    let folders = Folders::new(stack.folder(), "waiting");
    folders.add("school.wav", &recording("pa-school.wav").bytes);
    folders.add("water.mp3", &recording("pa-water.mp3").bytes);
    let (terminal, screen) = Terminal::open();
    let mut command = folders.command(&stack, &[]);
    command.stderr(screen);
    let _run = command.spawn().expect("it starts");
    until("the jobs are shown", async || {
        terminal.shown().contains("on the server: 2 jobs waiting, 0 running, 0 done, 0 failed").then_some(())
    })
    .await;
}
