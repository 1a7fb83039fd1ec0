//! A tensor of a model in; a matrix of floats, and the int8 values and scales of its columns, out.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Component, Path},
};

use bytes::Bytes;

use super::{
    proto::{FLOAT, FLOAT16, Tensor},
    wire::Malformed,
};

/// The largest int8 value. It leaves a bit of the eight unused: processors without VNNI add two products of an int8 and an
/// unsigned 8-bit value in 16 bits, and two products of 255 and 63 are the most that fit. So the products are the same on
/// every processor.
const LARGEST: f32 = 63.0;

/// A matrix [in, out], row by row.
#[derive(Debug)]
pub(super) struct Matrix {
    n_out: usize,
    values: Vec<f32>,
}

/// Int8 values [in, out] and scales [out] whose product is nearest to a matrix.
#[derive(Debug, PartialEq)]
pub(super) struct Int8 {
    pub(super) values: Vec<i8>,
    pub(super) scales: Vec<f32>,
}

impl Matrix {
    /// The matrix of a tensor [in, out], or [out, in] if it is `transposed`. Dimensions of 1 may follow these. `None` for a
    /// tensor with other dimensions or numbers, and for one with a number that is not finite.
    pub(super) fn of(tensor: &Tensor, transposed: bool, folder: &Path) -> Result<Option<Self>, Malformed> {
        let dims = tensor.dims.iter().map(|&n| usize::try_from(n)).collect::<Result<Vec<_>, _>>();
        let Ok([rows, columns, ones @ ..]) = dims.as_deref() else { return Ok(None) };
        if !matches!(tensor.data_type, FLOAT | FLOAT16)
            || *rows == 0
            || *columns == 0
            || ones.iter().any(|&n| n != 1)
        {
            return Ok(None);
        }
        let values = values(tensor, folder)?;
        if rows.checked_mul(*columns) != Some(values.len()) {
            let what = format!("{} has {} numbers, expected {rows} x {columns}", tensor.name, values.len());
            return Err(Malformed(what));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Ok(None);
        }
        if !transposed {
            return Ok(Some(Self { n_out: *columns, values }));
        }
        let row = |n: usize| values.iter().skip(n).step_by(*columns).copied();
        Ok(Some(Self { n_out: *rows, values: (0..*columns).flat_map(row).collect() }))
    }

    /// The dimensions [in, out].
    pub(super) fn dims(&self) -> [usize; 2] {
        [self.values.len() / self.n_out, self.n_out]
    }

    /// Rounds each column with a scale of its own.
    pub(super) fn int8(&self) -> Int8 {
        let mut scales = vec![0.0_f32; self.n_out];
        for row in self.values.chunks_exact(self.n_out) {
            for (scale, value) in scales.iter_mut().zip(row) {
                *scale = scale.max(value.abs() / LARGEST);
            }
        }
        for scale in scales.iter_mut().filter(|scale| **scale == 0.0) {
            *scale = 1.0;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the quotients are from -63 to 63")]
        let round = |(value, scale): (&f32, &f32)| (value / scale).round().clamp(-LARGEST, LARGEST) as i8;
        let values =
            self.values.chunks_exact(self.n_out).flat_map(|row| row.iter().zip(&scales).map(round)).collect();
        Int8 { values, scales }
    }
}

/// The numbers of a tensor of floats.
fn values(tensor: &Tensor, folder: &Path) -> Result<Vec<f32>, Malformed> {
    let raw = if tensor.is_external() { external(tensor, folder)? } else { tensor.raw_data.clone() };
    Ok(match (tensor.data_type, raw.is_empty()) {
        (FLOAT, true) => tensor.float_data.clone(),
        (FLOAT, false) => raw.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 bits in each number")]
        (_, true) => tensor.int32_data.iter().map(|&bits| from_half(bits as u16)).collect(),
        (_, false) => raw.as_chunks().0.iter().map(|bytes| from_half(u16::from_le_bytes(*bytes))).collect(),
    })
}

/// The bytes of a tensor whose numbers are in a file in the folder of its graph.
pub(super) fn external(tensor: &Tensor, folder: &Path) -> Result<Bytes, Malformed> {
    let entry =
        |key: &str| tensor.external_data.iter().find(|entry| entry.key == key).map(|entry| &*entry.value);
    let failed = |what: String| Malformed(format!("the numbers of {} in another file: {what}", tensor.name));
    let location = Path::new(entry("location").unwrap_or_default());
    let is_inside = location.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || location.as_os_str().is_empty() {
        return Err(failed(format!("{}: expected a path below the graph's folder", location.display())));
    }
    let number =
        |key: &str| entry(key).map(|n| n.parse::<u64>().map_err(|_| failed(format!("{key} is {n}"))));
    let io = |error: std::io::Error| failed(format!("{}: {error}", location.display()));
    let mut file = File::open(folder.join(location)).map_err(io)?;
    let n_bytes = file.metadata().map_err(io)?.len();
    let offset = number("offset").transpose()?.unwrap_or(0);
    let length = number("length").transpose()?.unwrap_or(n_bytes.saturating_sub(offset));
    if offset.checked_add(length).is_none_or(|end| end > n_bytes) {
        return Err(failed(format!("{length} bytes after {offset}, of a file of {n_bytes}")));
    }
    file.seek(SeekFrom::Start(offset)).map_err(io)?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes.into())
}

/// A number of 16 bits (IEEE 754 binary16).
fn from_half(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff);
    let value = match magnitude >> 10 {
        // Whole multiples of 2^-24.
        0 => f32::from(bits & 0x3ff) / 16_777_216.0,
        31 => f32::from_bits(0x7f80_0000 | magnitude << 13),
        _ => f32::from_bits((magnitude << 13) + (112 << 23)),
    };
    if bits >> 15 == 1 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[usize], values: &[f32]) -> Tensor {
        let raw = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Tensor::new("w".to_owned(), FLOAT, dims, raw)
    }

    #[test]
    fn each_column_is_rounded_with_its_own_scale() {
        let matrix =
            Matrix::of(&tensor(&[2, 3], &[63.0, -0.6, 0.0, 1.4, 1.0, 0.0]), false, Path::new("")).unwrap();
        let matrix = matrix.unwrap();
        assert_eq!(matrix.dims(), [2, 3]);
        let rounded = matrix.int8();
        assert_eq!(rounded, Int8 { values: vec![63, -38, 0, 1, 63, 0], scales: vec![1.0, 1.0 / 63.0, 1.0] });
        let turned = tensor(&[3, 2, 1], &[63.0, 1.4, -0.6, 1.0, 0.0, 0.0]);
        let turned = Matrix::of(&turned, true, Path::new("")).unwrap().unwrap();
        assert_eq!((turned.dims(), turned.int8()), ([2, 3], rounded));
    }

    #[test]
    fn numbers_of_16_bits_are_read_as_numpy_reads_them() {
        let cases = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
        ];
        for (bits, value) in cases {
            assert_eq!(from_half(bits).to_bits(), f32::to_bits(value), "{bits:#x}");
        }
        assert!(from_half(0x7e00).is_nan() && from_half(0xfc00) == f32::NEG_INFINITY);
        let half = Tensor {
            int32_data: vec![0x3c00, 0xc000],
            ..Tensor::new("w".to_owned(), FLOAT16, &[1, 2], vec![])
        };
        assert_eq!(Matrix::of(&half, false, Path::new("")).unwrap().unwrap().values, [1.0, -2.0]);
    }

    #[test]
    fn only_whole_finite_matrices_are_taken() {
        let of = |tensor: &Tensor| Matrix::of(tensor, false, Path::new(""));
        assert!(of(&tensor(&[2], &[1.0, 2.0])).unwrap().is_none());
        assert!(of(&tensor(&[1, 1, 2], &[1.0, 2.0])).unwrap().is_none());
        assert!(of(&tensor(&[1, 2], &[1.0, f32::NAN])).unwrap().is_none());
        assert!(of(&Tensor { dims: vec![-1, 2], ..tensor(&[1, 2], &[1.0, 2.0]) }).unwrap().is_none());
        for dims in [&[3, 2][..], &[usize::MAX / 2, 4]] {
            assert!(of(&tensor(dims, &[1.0, 2.0])).unwrap_err().to_string().contains("expected"));
        }
    }

    #[test]
    fn numbers_in_another_file_are_read_from_its_folder_alone() {
        let folder = std::env::temp_dir().join(format!("akhar-int8-matrix-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("w.data"), [1.0_f32, 2.0, 3.0].map(f32::to_le_bytes).concat()).unwrap();
        let of = |location: &str, offset: &str, length: &str| {
            let entries = [("location", location), ("offset", offset), ("length", length)];
            let entry = |(key, value): (&str, &str)| super::super::proto::Entry {
                key: key.to_owned(),
                value: value.to_owned(),
            };
            let external_data = entries.map(entry).into();
            let tensor = Tensor { external_data, data_location: 1, ..tensor(&[1, 2], &[]) };
            Matrix::of(&tensor, false, &folder).map(|matrix| matrix.unwrap().values)
        };
        assert_eq!(of("w.data", "4", "8").unwrap(), [2.0, 3.0]);
        for (location, offset, length) in [
            ("../w.data", "0", "8"),
            ("/w.data", "0", "8"),
            ("", "0", "8"),
            ("w.data", "8", "8"),
            ("w.data", "x", "8"),
            ("v", "0", "8"),
        ] {
            assert!(of(location, offset, length).is_err(), "{location} {offset} {length}");
        }
        assert!(of("w.data", &u64::MAX.to_string(), "8").is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
