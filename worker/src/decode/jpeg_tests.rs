//! Files that libjpeg-turbo's `cjpeg` writes, decoded here and by its `djpeg`. `scripts/setup.sh test` installs both.

use std::{
    io::{Seek as _, Write as _},
    process::{Command, Stdio},
};

use akhar_requests::{MediaType, Upload};
use image::DynamicImage;
use proptest::{prelude::*, sample::select};

use crate::decode::{
    image::{DecodedImage, ImageDecoding, Pixels},
    undecodable::Undecodable,
};

/// What one of the programs writes with `input` as its standard input. `None` if it refuses its options.
fn run(program: &str, options: &[String], input: &[u8]) -> Option<Vec<u8>> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    file.rewind().unwrap();
    let output = Command::new(program).args(options).stdin(Stdio::from(file)).output();
    let output = output.expect("libjpeg-turbo-progs is installed");
    output.status.success().then_some(output.stdout)
}

/// A picture with a smooth background and a stroke, as `cjpeg` reads it.
fn ppm(width: usize, height: usize, ink: [u8; 3]) -> Vec<u8> {
    let mut ppm = format!("P6 {width} {height} 255\n").into_bytes();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let distance = (x * height).abs_diff(y * width) * 8 / (width * height);
        let paper = 250 - 100 * x / width;
        ppm.extend(ink.map(|ink| if distance < 2 { ink } else { u8::try_from(paper).unwrap() }));
    }
    ppm
}

/// The bytes of RGB of a picture that `djpeg` wrote.
fn rgb(pnm: &[u8]) -> Vec<u8> {
    let n_header = pnm.iter().enumerate().filter(|(_, byte)| byte.is_ascii_whitespace()).nth(3).unwrap().0;
    let pixels = &pnm[n_header + 1..];
    if pnm.starts_with(b"P5") { pixels.iter().flat_map(|&grey| [grey; 3]).collect() } else { pixels.to_vec() }
}

fn decoded(jpeg: Vec<u8>) -> Result<Vec<u8>, Undecodable> {
    let upload = Upload { media_type: MediaType::Jpeg, bytes: jpeg.into() };
    Ok(match ImageDecoding::new(1 << 20).decode_small(&upload)? {
        DecodedImage::Pixels(Pixels::Grey(grey)) => DynamicImage::ImageLuma8(grey).into_rgb8().into_raw(),
        DecodedImage::Pixels(Pixels::Rgb(rgb)) => rgb.into_raw(),
        DecodedImage::Large(_) => unreachable!("the picture is small"),
    })
}

fn mean_difference(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let sum: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    f64::from(sum) / f64::from(u32::try_from(a.len()).unwrap())
}

/// The options of `cjpeg` for a file that most programs could write.
fn options(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_files_that_programs_write_are_decoded() {
    let modes = ["", "-progressive", "-optimize", "-restart 1", "-progressive -restart 2B"];
    let samples = ["1x1", "2x1", "2x2", "1x2", "4x1", "2x2,1x2,1x2", "1x2,1x2,1x2"];
    for (mode, sample) in modes.iter().flat_map(|mode| samples.map(|sample| (mode, sample))) {
        for colours in ["", "-grayscale", "-rgb"] {
            let options = options(&format!("-quality 90 {mode} {colours} -sample {sample}"));
            let jpeg = run("cjpeg", &options, &ppm(37, 53, [20, 40, 120])).unwrap();
            let expected = rgb(&run("djpeg", &[], &jpeg).unwrap());
            let difference = mean_difference(&decoded(jpeg).unwrap(), &expected);
            assert!(difference < 3.0, "{options:?}: {difference}");
        }
    }
}

#[test]
fn a_kind_of_jpeg_that_is_not_supported_is_named() {
    let picture = ppm(40, 40, [0; 3]);
    let jpeg = |words: &str| run("cjpeg", &options(words), &picture).unwrap();
    let with_byte = |at_marker: [u8; 2], offset: usize, byte: u8| {
        let mut jpeg = jpeg("");
        let at = jpeg.windows(2).position(|pair| pair == at_marker).unwrap();
        jpeg[at + offset] = byte;
        jpeg
    };
    let cases = [
        (jpeg("-arithmetic"), "arithmetic"),
        (jpeg("-arithmetic -progressive"), "arithmetic"),
        (with_byte([0xff, 0xc0], 1, 0xc3), "lossless"),
        (with_byte([0xff, 0xc0], 1, 0xc5), "hierarchical"),
        (with_byte([0xff, 0xc0], 4, 12), "12 bits"),
        (jpeg("-sample 1x1,2x2,2x2"), "resolution"),
    ];
    for (jpeg, reason) in cases {
        let error = decoded(jpeg).unwrap_err();
        assert_eq!(error.code, "unsupported_codec");
        assert!(error.detail.contains(reason), "{error}");
    }
}

#[test]
fn a_cut_file_gives_the_whole_picture_or_none() {
    for mode in ["-sample 2x2", "-progressive", "-grayscale", "-restart 1B -optimize"] {
        let jpeg = run("cjpeg", &options(mode), &ppm(37, 29, [30, 20, 90])).unwrap();
        let whole = decoded(jpeg.clone()).unwrap();
        let n_read = (0..jpeg.len())
            .filter(|&n| match decoded(jpeg[..n].to_vec()) {
                Ok(picture) => {
                    assert_eq!(picture, whole, "{mode}: {n} of {}", jpeg.len());
                    true
                }
                Err(error) => {
                    assert_eq!(error.code, "undecodable");
                    false
                }
            })
            .count();
        assert!(n_read >= 2, "{mode}: a file without its end marker is read");
        let behind = [&jpeg[..], b"\xff\xda behind the end"].concat();
        assert_eq!(decoded(behind).unwrap(), whole);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_jpeg_is_decoded_as_libjpeg_turbo_decodes_it_or_refused(
        (width, height) in (16_usize..90, 16_usize..90),
        ink: [u8; 3],
        colours in select(vec!["", "", "", "-grayscale", "-rgb"]),
        factors in prop::collection::vec((1_u8..5, 1_u8..5), 1..4),
        scans in select(vec!["", "", "-progressive", "0;\n1;\n2;", "0 1;\n2;", "0;\n1 2;", "2;\n0 1;"]),
        restart in select(vec!["", "", "-restart 1", "-restart 3B"]),
        quality in 60_u8..96,
    ) {
        let factors: Vec<String> = factors.iter().map(|(h, v)| format!("{h}x{v}")).collect();
        let words = format!("-quality {quality} {colours} {restart} -sample {}", factors.join(","));
        let mut options = options(&words);
        let mut script = tempfile::NamedTempFile::new().unwrap();
        if scans.contains(';') {
            script.write_all(scans.as_bytes()).unwrap();
            options.extend(["-scans".to_owned(), script.path().to_string_lossy().into_owned()]);
        } else {
            options.extend(super::tests::options(scans));
        }
        let jpeg = run("cjpeg", &options, &ppm(width, height, ink));
        prop_assume!(jpeg.is_some());
        let jpeg = jpeg.unwrap_or_default();
        let expected = rgb(&run("djpeg", &[], &jpeg).unwrap());
        match decoded(jpeg) {
            Ok(picture) => {
                let difference = mean_difference(&picture, &expected);
                prop_assert!(difference < 3.0, "{options:?}, {scans}: {difference}");
            }
            Err(error) => prop_assert!(["undecodable", "unsupported_codec"].contains(&error.code)),
        }
    }
}
