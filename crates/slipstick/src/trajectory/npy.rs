//! Arrays of numpy as files of a zip archive: a head that tells type and shape, then the numbers.

use super::error::Fault;
use super::zip::{self, Stored};
use std::io::{self, Write};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Writes arrays.
pub(super) struct ArrayWriter<'w, W: Write> {
    zip: zip::Writer<'w, W>,
}

impl<'w, W: Write> ArrayWriter<'w, W> {
    pub fn new(out: &'w mut W) -> ArrayWriter<'w, W> {
        ArrayWriter { zip: zip::Writer::new(out) }
    }

    pub fn floats(&mut self, name: &str, shape: &[usize], x: &[f64]) -> io::Result<()> {
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.add(name, "<f8", shape, &bytes)
    }

    pub fn integers(&mut self, name: &str, shape: &[usize], x: &[usize]) -> io::Result<()> {
        let bytes: Vec<u8> = x.iter().flat_map(|x| (*x as i64).to_le_bytes()).collect();
        self.add(name, "<i8", shape, &bytes)
    }

    /// Words, padded to the longest; or a single one without a list around it.
    pub fn words(&mut self, name: &str, words: &[&str], single: bool) -> io::Result<()> {
        let width = words.iter().map(|w| w.chars().count()).max().unwrap_or(0).max(1);
        let padded = |w: &&str| w.chars().map(u32::from).chain(std::iter::repeat(0)).take(width).collect::<Vec<u32>>();
        let bytes: Vec<u8> = words.iter().flat_map(padded).flat_map(u32::to_le_bytes).collect();
        let shape: &[usize] = if single { &[] } else { &[words.len()] };
        self.add(name, &format!("<U{width}"), shape, &bytes)
    }

    fn add(&mut self, name: &str, kind: &str, shape: &[usize], numbers: &[u8]) -> io::Result<()> {
        let sizes: String = shape.iter().map(|n| format!("{n},")).collect();
        let mut head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
        // numbers begin at a multiple of 64 bytes; 10 bytes stand before the head, a line break behind it
        head.push_str(&" ".repeat((64 - (head.len() + 11) % 64) % 64));
        head.push('\n');
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((head.len() as u16).to_le_bytes());
        file.extend(head.as_bytes());
        file.extend(numbers);
        self.zip.store(format!("{name}.npy"), &file)
    }

    pub fn finish(self) -> io::Result<()> {
        self.zip.finish()
    }
}

/// Reads arrays.
pub(super) struct ArrayReader<'a> {
    files: Vec<Stored<'a>>,
}

/// An array as it is stored.
struct Array<'a> {
    kind: &'a str,
    shape: Vec<usize>,
    numbers: &'a [u8],
}

impl<'a> ArrayReader<'a> {
    pub fn new(archive: &'a [u8]) -> Result<ArrayReader<'a>, Fault> {
        Ok(ArrayReader { files: zip::read(archive)? })
    }

    pub fn has(&self, name: &str) -> bool {
        self.file(name).is_some()
    }

    fn file(&self, name: &str) -> Option<&'a [u8]> {
        self.files.iter().find(|f| f.name.strip_suffix(".npy") == Some(name)).map(|f| f.bytes)
    }

    fn array(&self, name: &str) -> Result<Array<'a>, Fault> {
        let file = self.file(name).ok_or_else(|| Fault::new(name, "an array", "none of this name"))?;
        parse(file).ok_or_else(|| Fault::new(name, "an array of numpy, row by row", "something else"))
    }

    /// The length of a list.
    pub fn length(&self, name: &str) -> Result<usize, Fault> {
        match self.array(name)?.shape[..] {
            [n] => Ok(n),
            ref shape => Err(Fault::new(name, "a list", format!("the shape {shape:?}"))),
        }
    }

    /// Entries of eight bytes, of a type and a shape.
    fn eights(
        &self,
        name: &str,
        kind: &str,
        shape: &[usize],
    ) -> Result<impl Iterator<Item = [u8; 8]> + use<'a>, Fault> {
        let Array { kind: got, shape: found, numbers } = self.array(name)?;
        let size = shape.iter().try_fold(8usize, |size, n| size.checked_mul(*n));
        if got != kind || found != shape || size != Some(numbers.len()) {
            let got = format!("{got} of shape {found:?} in {} bytes", numbers.len());
            return Err(Fault::new(name, format!("{kind} of shape {shape:?}"), got));
        }
        Ok(numbers.as_chunks().0.iter().copied())
    }

    pub fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, Fault> {
        Ok(self.eights(name, "<f8", shape)?.map(f64::from_le_bytes).collect())
    }

    /// Zero or positive integers, at most `most`.
    pub fn integers(&self, name: &str, shape: &[usize], most: usize) -> Result<Vec<usize>, Fault> {
        let number = |bytes| {
            let x = i64::from_le_bytes(bytes);
            let wrong = || Fault::new(name, format!("numbers from 0 to {most}"), x.to_string());
            usize::try_from(x).ok().filter(|x| *x <= most).ok_or_else(wrong)
        };
        self.eights(name, "<i8", shape)?.map(number).collect()
    }

    /// A list of words, or a single one.
    pub fn words(&self, name: &str) -> Result<Vec<String>, Fault> {
        let Array { kind, shape, numbers } = self.array(name)?;
        let count = shape.iter().try_fold(1usize, |size, n| size.checked_mul(*n));
        let width = kind.strip_prefix("<U").and_then(|n| n.parse::<usize>().ok()).filter(|n| *n > 0);
        let bytes = width.and_then(|n| n.checked_mul(4));
        let (Some(count), Some(bytes)) = (count, bytes) else { return Err(Fault::new(name, "words", kind)) };
        if count.checked_mul(bytes) != Some(numbers.len()) {
            return Err(Fault::new(name, format!("{count} words in {kind}"), format!("{} bytes", numbers.len())));
        }
        let word = |bytes: &[u8]| {
            let letters = bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).map(char::from_u32);
            let word =
                letters.collect::<Option<String>>().ok_or_else(|| Fault::new(name, "letters", "other numbers"))?;
            Ok(word.trim_end_matches('\0').to_string())
        };
        numbers.chunks_exact(bytes).map(word).collect()
    }
}

/// Type and shape from the head of a file, which is a dictionary of Python.
fn parse(file: &[u8]) -> Option<Array<'_>> {
    let (version, rest) = file.strip_prefix(MAGIC)?.split_at_checked(2)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(n, rest)| (usize::from(u16::from_le_bytes(*n)), rest))?,
        2 | 3 => rest.split_first_chunk().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest))?,
        _ => return None,
    };
    let (head, numbers) = rest.split_at_checked(length)?;
    let head = std::str::from_utf8(head).ok()?;
    let value = |key: &str, end: char| Some(head.split_once(key)?.1.split_once(end)?.0.trim());
    if value("'fortran_order':", ',')? != "False" {
        return None;
    }
    let sizes = value("'shape': (", ')')?.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape = sizes.map(|n| n.parse().ok()).collect::<Option<Vec<usize>>>()?;
    Some(Array { kind: value("'descr': '", '\'')?, shape, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_at_multiples_of_64_bytes() {
        let mut archive = Vec::new();
        let mut arrays = ArrayWriter::new(&mut archive);
        arrays.floats("x", &[2, 1], &[1.0, 2.0]).unwrap();
        arrays.words("names", &["one", "two", "three"], false).unwrap();
        arrays.finish().unwrap();
        let mut count = 0;
        for start in archive.windows(6).enumerate().filter(|(_, w)| w == MAGIC).map(|(k, _)| k) {
            let head = u16::from_le_bytes([archive[start + 8], archive[start + 9]]) as usize;
            assert_eq!((10 + head) % 64, 0);
            assert_eq!(archive[start + 10 + head - 1], b'\n');
            count += 1;
        }
        assert_eq!(count, 2);
    }

    #[test]
    fn arrays_are_read_as_they_were_written_and_refused_as_others() {
        let mut archive = Vec::new();
        let mut arrays = ArrayWriter::new(&mut archive);
        arrays.floats("x", &[2, 1], &[1.0, f64::NEG_INFINITY]).unwrap();
        arrays.integers("n", &[3], &[0, 7, usize::MAX]).unwrap();
        arrays.words("names", &["ö", "", "three"], false).unwrap();
        arrays.finish().unwrap();
        let arrays = ArrayReader::new(&archive).unwrap();
        assert_eq!(arrays.floats("x", &[2, 1]).unwrap(), [1.0, f64::NEG_INFINITY]);
        assert_eq!(arrays.words("names").unwrap(), ["ö", "", "three"]);
        assert_eq!(arrays.length("n").unwrap(), 3);
        assert_eq!(arrays.integers("n", &[3], 9).unwrap_err().got, "-1");
        assert_eq!(arrays.floats("x", &[1, 2]).unwrap_err().got, "<f8 of shape [2, 1] in 16 bytes");
        assert!(arrays.floats("n", &[3]).is_err() && arrays.words("x").is_err() && arrays.floats("y", &[]).is_err());
    }
}
