//! Image files for tests: the repository's fixtures, the same picture in every file format, and invalid
//! files.

use std::{fs, io::Cursor, path::PathBuf};

use image::{DynamicImage, GrayImage, ImageFormat, LumaA, Rgba, imageops::FilterType, metadata::Orientation};

use crate::root;

/// The largest image file that the API allows, bytes.
pub const MAX_BYTES: usize = 15 * 1024;

/// A picture of one handwritten character.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// The file's name.
    pub name: String,
    /// The operation that recognises it.
    pub operation: &'static str,
    /// The character in the picture.
    pub label: String,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// All images in `tests/fixtures/images`. Their file names say which character they show.
pub fn fixtures() -> Vec<Fixture> {
    let folder = root().join("tests/fixtures/images");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("fixtures")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|e| e == "png" || e == "jpg"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no images in {}", folder.display());
    paths.into_iter().map(fixture).collect()
}

/// The fixture that shows this character.
pub fn fixture_of(label: &str) -> Fixture {
    let found = fixtures().into_iter().find(|f| f.label == label);
    found.unwrap_or_else(|| panic!("no fixture shows {label}"))
}

fn fixture(path: PathBuf) -> Fixture {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let (kind, rest) = stem.split_once('-').unwrap_or_else(|| panic!("{name}: no kind"));
    let what = rest.split('-').next().unwrap_or(rest);
    let (operation, label) = match kind {
        "digit" => ("digit-recognition", digit(what)),
        "letter" => ("alphabet-recognition", letter(what)),
        _ => panic!("{name}: neither digit nor letter"),
    };
    let label = label.unwrap_or_else(|| panic!("{name}: of which character?")).to_owned();
    Fixture { name, operation, label, bytes: fs::read(path).expect("a fixture") }
}

fn digit(name: &str) -> Option<&'static str> {
    let digits = ["੦", "੧", "੨", "੩", "੪", "੫", "੬", "੭", "੮", "੯"];
    digits.get(name.parse::<usize>().ok()?).copied()
}

/// The letter with this name in a fixture's file name.
fn letter(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 41] = [
        ("ura", "ੳ"),
        ("aira", "ਅ"),
        ("iri", "ੲ"),
        ("sa", "ਸ"),
        ("ha", "ਹ"),
        ("ka", "ਕ"),
        ("kha", "ਖ"),
        ("ga", "ਗ"),
        ("gha", "ਘ"),
        ("nga", "ਙ"),
        ("cha", "ਚ"),
        ("chha", "ਛ"),
        ("ja", "ਜ"),
        ("jha", "ਝ"),
        ("nya", "ਞ"),
        ("tta", "ਟ"),
        ("ttha", "ਠ"),
        ("dda", "ਡ"),
        ("ddha", "ਢ"),
        ("nna", "ਣ"),
        ("ta", "ਤ"),
        ("tha", "ਥ"),
        ("da", "ਦ"),
        ("dha", "ਧ"),
        ("na", "ਨ"),
        ("pa", "ਪ"),
        ("pha", "ਫ"),
        ("ba", "ਬ"),
        ("bha", "ਭ"),
        ("ma", "ਮ"),
        ("ya", "ਯ"),
        ("ra", "ਰ"),
        ("la", "ਲ"),
        ("va", "ਵ"),
        ("rra", "ੜ"),
        ("sha", "ਸ\u{a3c}"),
        ("khha", "ਖ\u{a3c}"),
        ("ghha", "ਗ\u{a3c}"),
        ("za", "ਜ\u{a3c}"),
        ("fa", "ਫ\u{a3c}"),
        ("lla", "ਲ\u{a3c}"),
    ];
    NAMES.iter().find(|(n, _)| *n == name).map(|(_, label)| *label)
}

/// A fixture as a small picture with 16 grey levels. It fits into 15 kB in every file format.
pub fn plain(fixture: &Fixture) -> GrayImage {
    let image = image::load_from_memory(&fixture.bytes).expect("a fixture decodes");
    let mut grey = image.resize(72, 72, FilterType::Triangle).into_luma8();
    for pixel in grey.pixels_mut() {
        pixel.0[0] = (pixel.0[0] >> 4) * 17;
    }
    grey
}

/// Encodes a picture as PNG.
pub fn png(image: &DynamicImage) -> Vec<u8> {
    encode(image, ImageFormat::Png)
}

fn encode(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).expect("it encodes");
    bytes.into_inner()
}

/// The same picture in every kind of PNG and JPEG file, with the name of each kind.
pub fn ways_to_store(grey: &GrayImage) -> Vec<(&'static str, Vec<u8>)> {
    let image = DynamicImage::ImageLuma8(grey.clone());
    let transparent = image::RgbaImage::from_fn(grey.width(), grey.height(), |x, y| {
        Rgba([0, 0, 0, 255 - grey.get_pixel(x, y).0[0]])
    });
    let transparent_grey = image::GrayAlphaImage::from_fn(grey.width(), grey.height(), |x, y| {
        LumaA([0, 255 - grey.get_pixel(x, y).0[0]])
    });
    let rgb = image.to_rgb8();
    vec![
        ("grey 8 PNG", png(&image)),
        ("grey 16 PNG", png(&image.to_luma16().into())),
        ("RGB 8 PNG", png(&rgb.clone().into())),
        ("RGB 16 PNG", png(&image.to_rgb16().into())),
        ("RGBA 8 PNG, opaque", png(&image.to_rgba8().into())),
        ("RGBA 16 PNG, opaque", png(&image.to_rgba16().into())),
        ("RGBA 8 PNG, black on transparent", png(&transparent.into())),
        ("grey and alpha PNG, black on transparent", png(&transparent_grey.into())),
        ("1 bit PNG", packed_png(grey, png::BitDepth::One, None)),
        ("2 bit PNG", packed_png(grey, png::BitDepth::Two, None)),
        ("4 bit PNG", packed_png(grey, png::BitDepth::Four, None)),
        ("4 bit palette PNG", packed_png(grey, png::BitDepth::Four, Some(ink_blue()))),
        ("RGB JPEG", jpeg(&rgb, &rgb, jpeg_encoder::ColorType::Rgb, false, None)),
        ("grey JPEG", jpeg(grey, grey, jpeg_encoder::ColorType::Luma, false, None)),
        ("progressive JPEG", jpeg(&rgb, &rgb, jpeg_encoder::ColorType::Rgb, true, None)),
        ("CMYK JPEG", cmyk(grey, jpeg_encoder::ColorType::Cmyk)),
        ("YCCK JPEG", cmyk(grey, jpeg_encoder::ColorType::CmykAsYcck)),
    ]
}

/// A palette of 16 colours from blue ink to yellowish paper.
fn ink_blue() -> Vec<u8> {
    (0..16_u8).flat_map(|i| [16 + i * 15, 20 + i * 15, 90 + i * 9]).collect()
}

/// A PNG with less than 8 bits for each pixel. With a `palette`, each pixel is an index into it.
fn packed_png(grey: &GrayImage, depth: png::BitDepth, palette: Option<Vec<u8>>) -> Vec<u8> {
    let bits = depth as usize;
    let packed = grey.rows().flat_map(|row| {
        let levels: Vec<u8> = row.map(|p| p.0[0] >> (8 - bits)).collect();
        let pack = |byte: &[u8]| {
            byte.iter().enumerate().fold(0, |sum, (i, level)| sum | level << (8 - bits * (i + 1)))
        };
        levels.chunks(8 / bits).map(pack).collect::<Vec<u8>>()
    });
    let packed: Vec<u8> = packed.collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, grey.width(), grey.height());
    encoder.set_depth(depth);
    encoder.set_color(if palette.is_some() { png::ColorType::Indexed } else { png::ColorType::Grayscale });
    if let Some(palette) = palette {
        encoder.set_palette(palette);
    }
    encoder.write_header().expect("a header").write_image_data(&packed).expect("its pixels");
    file
}

fn jpeg(
    size: &impl image::GenericImageView,
    pixels: &[u8],
    colours: jpeg_encoder::ColorType,
    progressive: bool,
    exif: Option<&[u8]>,
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut file, 92);
    encoder.set_progressive(progressive);
    if let Some(exif) = exif {
        encoder.add_exif_metadata(exif).expect("it fits");
    }
    let short = |n: u32| u16::try_from(n).expect("a small picture");
    encoder.encode(pixels, short(size.width()), short(size.height()), colours).expect("it encodes");
    file
}

/// A JPEG in CMYK that uses the black channel only.
fn cmyk(grey: &GrayImage, colours: jpeg_encoder::ColorType) -> Vec<u8> {
    let pixels: Vec<u8> = grey.pixels().flat_map(|p| [0, 0, 0, 255 - p.0[0]]).collect();
    jpeg(grey, &pixels, colours, false, None)
}

/// The picture as JPEG and PNG with each of EXIF's eight orientations. The pixels are turned and mirrored so
/// that the picture is upright when a reader applies the orientation tag.
pub fn with_orientations(grey: &GrayImage) -> Vec<(String, Vec<u8>)> {
    let stored = |tag: u8| {
        // Orientations 6 and 8 are quarter turns, which undo each other. Every other orientation undoes
        // itself.
        let inverse = match tag {
            6 => 8,
            8 => 6,
            other => other,
        };
        let mut image = DynamicImage::ImageLuma8(grey.clone());
        image.apply_orientation(Orientation::from_exif(inverse).expect("1 to 8"));
        image.into_luma8()
    };
    let mut files = Vec::new();
    for tag in 1..=8 {
        let (image, exif) = (stored(tag), exif(tag));
        let colours = jpeg_encoder::ColorType::Luma;
        files.push((format!("JPEG, orientation {tag}"), jpeg(&image, &image, colours, false, Some(&exif))));
        let file = with_chunk(&png(&image.into()), *b"eXIf", &exif);
        files.push((format!("PNG, orientation {tag}"), file));
    }
    files
}

/// An EXIF block in the TIFF 6.0 format that has the orientation tag (0x0112) only.
fn exif(orientation: u8) -> Vec<u8> {
    let mut tiff = b"II*\0\x08\0\0\0\x01\0".to_vec();
    tiff.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]);
    tiff
}

/// Inserts a chunk into a PNG, after its header.
pub fn with_chunk(png: &[u8], name: [u8; 4], data: &[u8]) -> Vec<u8> {
    const HEADER_END: usize = 8 + 25; // signature, IHDR
    let (header, rest) = png.split_at(HEADER_END);
    [header, &chunk(name, data), rest].concat()
}

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("a small chunk").to_be_bytes();
    let named = [&name[..], data].concat();
    [&length[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
}

/// Makes a PNG `n` bytes long with a chunk that readers skip. The file stays valid.
pub fn padded_png(png: &[u8], n: usize) -> Vec<u8> {
    let room = n.checked_sub(png.len() + 12).expect("the picture is smaller");
    with_chunk(png, *b"prVt", &vec![0x5a; room])
}

/// Makes a JPEG `n` bytes long with a comment. The file stays valid.
pub fn padded_jpeg(jpeg: &[u8], n: usize) -> Vec<u8> {
    let room = n.checked_sub(jpeg.len() + 2).expect("the picture is smaller");
    let length = u16::try_from(room).expect("one comment is enough").to_be_bytes();
    let (start, rest) = jpeg.split_at(2);
    [start, &[0xff, 0xfe], &length, &vec![b'.'; room - 2], rest].concat()
}

/// A PNG of a few bytes whose header says that the picture has this size.
pub fn png_claiming_size(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    // The beginning of a zlib stream of zeros, which is far too short for the pixels.
    let data = [0x78, 0x9c, 0xed, 0xc1, 0x01, 0x01, 0x00, 0x00, 0x00, 0x80, 0x90, 0xfe, 0xaf, 0xee, 0x08];
    let signature = b"\x89PNG\r\n\x1a\n".to_vec();
    [signature, chunk(*b"IHDR", &header), chunk(*b"IDAT", &data), chunk(*b"IEND", &[])].concat()
}

/// A JPEG whose frame header (SOF0) says that the picture has this size.
pub fn jpeg_claiming_size(grey: &GrayImage, width: u16, height: u16) -> Vec<u8> {
    let mut file = jpeg(grey, grey, jpeg_encoder::ColorType::Luma, false, None);
    let at = file.windows(2).position(|m| m == [0xff, 0xc0]).expect("a frame header");
    file[at + 5..at + 7].copy_from_slice(&height.to_be_bytes());
    file[at + 7..at + 9].copy_from_slice(&width.to_be_bytes());
    file
}

/// Encodes a picture as baseline JPEG.
pub fn plain_jpeg(grey: &GrayImage) -> Vec<u8> {
    jpeg(grey, grey, jpeg_encoder::ColorType::Luma, false, None)
}

/// A white PNG without any ink.
pub fn blank(side: u32) -> Vec<u8> {
    png(&GrayImage::from_pixel(side, side, image::Luma([255])).into())
}
