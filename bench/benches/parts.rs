//! The parts of one recognition, each alone: decoding a file, finding its ink, and the model for one
//! image and for a full batch.

use std::{hint::black_box, path::PathBuf};

use akhar_models::{Classifier, Runtime, ink, load_all};
use akhar_tests::{
    images::{fixture_of, plain, ways_to_store},
    root,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Images one model run takes at most, as the product is configured.
const MAX_BATCH: usize = 16;

fn decoding(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode");
    let fixture = fixture_of("੫");
    // What the worker's decoder is made of, without its bounds and orientation.
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
                let view = ink::RgbView::new(side as usize, side as usize, black_box(image.as_raw()));
                ink::features(view.expect("its size")).expect("ink")
            });
        });
    }
}

fn inference(c: &mut Criterion) {
    let image = image::load_from_memory(&fixture_of("੫").bytes).expect("it decodes").into_rgb8();
    let view = ink::RgbView::new(image.width() as usize, image.height() as usize, image.as_raw());
    let ink = ink::features(view.expect("its size")).expect("ink");
    let dylib = std::env::var_os("AKHAR_ORT_DYLIB")
        .map_or_else(|| root().join(".cache/onnxruntime/libonnxruntime.so"), PathBuf::from);
    let runtime = Runtime::load(&dylib).expect("ONNX Runtime");
    for manifest in load_all(&root().join("models")).expect("manifests") {
        let mut model = Classifier::load(&runtime, &manifest, 1).expect("it loads");
        let mut group = c.benchmark_group(&manifest.operation);
        for n in [1, MAX_BATCH] {
            let batch = vec![ink.clone(); n];
            group.throughput(Throughput::Elements(n as u64));
            group.bench_function(BenchmarkId::new("batch", n), |b| {
                b.iter(|| model.classify(black_box(&batch)).expect("scores"));
            });
        }
    }
}

criterion_group!(parts, decoding, finding_ink, inference);
criterion_main!(parts);
