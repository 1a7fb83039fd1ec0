//! Benchmarks of the parts of a recognition and of handwriting.
//!
//! Recognition: from a file to the model's input, as a job computes it; decoding alone; feature extraction
//! alone; the model on one and two threads, with batches of up to 64 images. Handwriting of 100 characters: the model, the
//! layout, the points as JSON, the picture.

use std::{hint::black_box, time::Duration};

use akhar_inference::{
    Classifier, Layout, Manifest, Runtime,
    handwriting::{Hand, Ink, Page, Text, Writer, lay_out, png},
    ink, load_all,
};
use akhar_requests::{MediaType, Upload};
use akhar_tests::{
    images::{Fixture, fixture_of, plain, ways_to_store},
    stack::{self, onnxruntime},
};
use akhar_worker::classifier_input;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// From the bytes of a PNG to the classifier's input, as the worker computes it for a job.
fn preparing(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode and prepare");
    // A worker has loaded its models and freed their files. After such a large buffer is freed, glibc no
    // longer returns small buffers to the system.
    drop(black_box(vec![0_u8; 16 * 1024 * 1024]));
    for label in ["੫", "੦", "੭"] {
        let Fixture { name, bytes, .. } = fixture_of(label);
        let upload = Upload { media_type: MediaType::Png, bytes: bytes.into() };
        group.bench_function(name, |b| b.iter(|| classifier_input(black_box(&upload)).expect("ink")));
    }
}

fn decoding(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode");
    let fixture = fixture_of("੫");
    let mut files = ways_to_store(&plain(&fixture));
    files.retain(|(name, _)| ["RGB 8 PNG", "RGB JPEG"].contains(name));
    files.push(("fixture", fixture.bytes));
    for (name, file) in files {
        group.bench_function(name, |b| {
            b.iter(|| image::load_from_memory(black_box(&file)).expect("it decodes").into_rgb8());
        });
    }
}

fn finding_ink(c: &mut Criterion) {
    let mut group = c.benchmark_group("ink");
    for side in [64, 256, 1024] {
        let image = image::load_from_memory(&fixture_of("੫").bytes).expect("it decodes");
        let image = image.resize_exact(side, side, image::imageops::FilterType::Triangle).into_rgb8();
        group.throughput(Throughput::Elements(u64::from(side * side)));
        group.bench_function(BenchmarkId::from_parameter(format!("{side} x {side}")), |b| {
            b.iter(|| {
                let view = ink::PixelView::rgb(side as usize, side as usize, black_box(image.as_raw()));
                ink::features(view.expect("its size")).expect("ink")
            });
        });
    }
}

fn runtime() -> Runtime {
    Runtime::load(&onnxruntime()).expect("ONNX Runtime")
}

/// The bundled models with this layout.
fn models(layout: Layout) -> Vec<Manifest> {
    let mut manifests = load_all(&stack::models()).expect("manifests");
    manifests.retain(|m| m.layout == layout);
    manifests
}

fn inference(c: &mut Criterion) {
    let image = image::load_from_memory(&fixture_of("੫").bytes).expect("it decodes").into_rgb8();
    let view = ink::PixelView::rgb(image.width() as usize, image.height() as usize, image.as_raw());
    let ink = ink::features(view.expect("its size")).expect("ink");
    let runtime = runtime();
    for manifest in models(Layout::ImageClassifier) {
        let mut group = c.benchmark_group(&manifest.operation);
        group.sample_size(50).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
        for n_threads in [1, 2] {
            let mut model = Classifier::load(&runtime, &manifest, n_threads).expect("it loads");
            for n in [1, 2, 4, 8, 16, 32, 64] {
                let batch = vec![ink.clone(); n];
                group.throughput(Throughput::Elements(n as u64));
                group.bench_function(BenchmarkId::new(format!("threads {n_threads}, batch"), n), |b| {
                    b.iter(|| model.classify(black_box(&batch)).expect("scores"));
                });
            }
        }
    }
}

fn writing(c: &mut Criterion) {
    let sentence = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ। ਮੈਂ ਪੰਜਾਬੀ ਵਿੱਚ ਲਿਖਦਾ ਹਾਂ। ਕੁੜੀਆਂ ਨੇ ਫੁੱਲ ਤੋੜੇ। ";
    let text: String = sentence.chars().cycle().take(100).collect();
    let page = Page { line_space: 125.0, char_space: 35.0, word_space: 75.0, width: 550.0, length: 550.0 };
    let (runtime, hand) = (runtime(), Hand::new(1));
    let mut group = c.benchmark_group("write 100 characters");
    for manifest in models(Layout::GlyphStrokes) {
        let mut writer = Writer::load(&runtime, &manifest, 1).expect("it loads");
        let text = Text::read(&text, writer.glyphs());
        let glyphs = text.glyphs();
        let shapes = writer.shape(&glyphs, hand).expect("shapes");
        let sheet = lay_out(&text, &shapes, &page, hand);
        group.bench_function("model", |b| b.iter(|| writer.shape(black_box(&glyphs), hand).expect("shapes")));
        group.bench_function("layout", |b| b.iter(|| lay_out(black_box(&text), &shapes, &page, hand)));
        group.bench_function("points as JSON", |b| b.iter(|| black_box(&sheet).points_json()));
        group
            .bench_function("picture", |b| b.iter(|| png(black_box(&sheet), Ink::BLUE, 2.5).expect("a PNG")));
    }
}

criterion_group!(parts, preparing, decoding, finding_ink, inference, writing);
criterion_main!(parts);
