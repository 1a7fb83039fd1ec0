//! All fuzz targets in one program. The environment variable `TARGET` chooses one of them; libFuzzer's arguments are
//! those of the command line. `scripts/fuzz.sh` builds and runs it.

#![no_main]

use std::sync::LazyLock;

use akhar_api::fuzzing::{self as api, State};
use akhar_inference::fuzzing as inference;
use akhar_worker::fuzzing::{self as worker, MediaType};
use tokio::runtime::{Builder, Runtime};

/// One target: takes an input and panics on a defect.
type Target = fn(&World, &[u8]);

/// The targets by name. Each has a folder in `tests/fuzz/corpus`.
const TARGETS: [(&str, Target); 17] = [
    ("headers", |world, data| world.runtime.block_on(api::headers(data))),
    ("json", |world, data| world.runtime.block_on(world.api.json(data))),
    ("multipart", |world, data| world.runtime.block_on(world.api.multipart(data))),
    ("handwriting_form", |world, data| world.runtime.block_on(world.api.handwriting_form(data))),
    ("handwriting", |_, data| inference::handwriting(data)),
    ("catalogue", |_, data| text(data, inference::catalogue)),
    ("manifest", |_, data| text(data, inference::manifest)),
    ("tokenizer_bin", |_, data| inference::tokenizer_bin(data)),
    ("tokenizer_text", |_, data| text(data, inference::tokenizer_text)),
    ("vocab", |_, data| inference::vocab(data)),
    ("wav", |_, data| worker::recording(MediaType::Wav, data.to_vec())),
    ("mp3", |_, data| worker::recording(MediaType::Mp3, data.to_vec())),
    ("flac", |_, data| worker::recording(MediaType::Flac, data.to_vec())),
    ("ogg", |_, data| worker::recording(MediaType::Ogg, data.to_vec())),
    ("mp4", |_, data| worker::recording(MediaType::Mp4, data.to_vec())),
    ("webm", |_, data| worker::recording(MediaType::WebM, data.to_vec())),
    ("picture", |world, data| world.runtime.block_on(worker::picture(data.to_vec()))),
];

/// What the targets share.
struct World {
    target: Target,
    runtime: Runtime,
    api: State,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let chosen = std::env::var("TARGET").unwrap_or_default();
    let names = TARGETS.map(|(name, _)| name).join(", ");
    let target = TARGETS.iter().find(|(name, _)| *name == chosen).map(|(_, target)| *target);
    let target = target.unwrap_or_else(|| panic!("TARGET is {chosen:?}, expected one of {names}"));
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let api = {
        let _within = runtime.enter();
        State::new().expect("a valid address")
    };
    World { target, runtime, api }
});

fn text(data: &[u8], target: fn(&str)) {
    if let Ok(text) = str::from_utf8(data) {
        target(text);
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (WORLD.target)(&WORLD, data);
});
