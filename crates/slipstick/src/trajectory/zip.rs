//! Zip archives of files that are stored as they are: what numpy needs of the format, written and read.

use super::error::Fault;
use std::io::{self, Write};

/// An archive that is being written.
pub(super) struct Writer<'w, W: Write> {
    out: &'w mut W,
    written: u64,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    crc: u32,
    size: u32,
    offset: u32,
}

impl<'w, W: Write> Writer<'w, W> {
    pub fn new(out: &'w mut W) -> Writer<'w, W> {
        Writer { out, written: 0, entries: Vec::new() }
    }

    pub fn store(&mut self, name: String, file: &[u8]) -> io::Result<()> {
        let entry = Entry { name, crc: crc32(file), size: small(file.len() as u64)?, offset: small(self.written)? };
        let mut head = FILE.to_vec();
        head.extend(entry.common());
        head.extend(entry.name.as_bytes());
        self.put(&head)?;
        self.put(file)?;
        self.entries.push(entry);
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// The list of all files, and where it is.
    pub fn finish(mut self) -> io::Result<()> {
        let (start, count) = (small(self.written)?, self.entries.len() as u16);
        for entry in std::mem::take(&mut self.entries) {
            let mut head = LISTED.to_vec();
            head.extend(VERSION.to_le_bytes());
            head.extend(entry.common());
            head.extend([0; 10]); // no remark, first disk, no attributes
            head.extend(entry.offset.to_le_bytes());
            head.extend(entry.name.as_bytes());
            self.put(&head)?;
        }
        let length = small(self.written - u64::from(start))?;
        let mut end = END.to_vec();
        end.extend([0; 4]); // one disk
        end.extend([count, count].map(u16::to_le_bytes).concat());
        end.extend([length, start].map(u32::to_le_bytes).concat());
        end.extend([0; 2]); // no remark
        self.put(&end)
    }
}

/// What stands before a file, before its line in the list, and at the end.
const FILE: &[u8; 4] = b"PK\x03\x04";
const LISTED: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";
/// Length of the end, which has no remark, and of the other two without names (bytes).
const END_LENGTH: usize = 22;
const FILE_LENGTH: usize = 30;
const LISTED_LENGTH: usize = 46;
/// Version of the zip format that a reader must know: 2.0.
const VERSION: u16 = 20;
/// The first of January 1980, the date of files without one: the same trajectory gives the same bytes.
const DATE: u16 = 0x0021;

impl Entry {
    /// What the heads of a file, before it and in the list, have in common.
    fn common(&self) -> Vec<u8> {
        let words = [VERSION, 0, 0, 0, DATE]; // no flags, stored as it is, midnight
        let mut out = words.map(u16::to_le_bytes).concat();
        out.extend([self.crc, self.size, self.size].map(u32::to_le_bytes).concat());
        out.extend([self.name.len() as u16, 0].map(u16::to_le_bytes).concat());
        out
    }
}

/// A file of an archive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    pub name: &'a str,
    pub bytes: &'a [u8],
}

/// All files of an archive, whose check sums are right. Nothing is copied.
pub(super) fn read(archive: &[u8]) -> Result<Vec<Stored<'_>>, Fault> {
    let end = archive.len().checked_sub(END_LENGTH).map(|at| &archive[at..]).filter(|end| end.starts_with(END));
    let whole = || Fault::new("", "a zip archive", "something else, or a part of one");
    let end = end.ok_or_else(whole)?;
    let (count, start) = (u16_at(end, 10).ok_or_else(whole)?, u32_at(end, 16).ok_or_else(whole)?);
    let mut list = archive.get(start..).ok_or_else(whole)?;
    let mut files: Vec<Stored> = Vec::new();
    for _ in 0..count {
        let (file, length) = listed(archive, list)?;
        if files.iter().any(|f| f.name == file.name) {
            return Err(Fault::new(file.name, "one entry of this name", "two"));
        }
        files.push(file);
        list = &list[length..];
    }
    // entries that lie on top of each other would take more memory than the file
    match files.iter().map(|f| f.bytes.len()).sum::<usize>() <= archive.len() {
        true => Ok(files),
        false => Err(whole()),
    }
}

/// The first file of a list, and the length of its line.
fn listed<'a>(archive: &'a [u8], list: &'a [u8]) -> Result<(Stored<'a>, usize), Fault> {
    let broken = || Fault::new("", "a list of entries", "something else in its place");
    let number = |at| u16_at(list, at).ok_or_else(broken);
    let length = LISTED_LENGTH + number(28)? + number(30)? + number(32)?;
    if !list.starts_with(LISTED) || list.len() < length {
        return Err(broken());
    }
    let name = list.get(LISTED_LENGTH..LISTED_LENGTH + number(28)?).and_then(|name| std::str::from_utf8(name).ok());
    let name = name.ok_or_else(broken)?;
    if number(10)? != 0 {
        return Err(Fault::new(name, "an entry stored as it is", "a compressed one (numpy.savez stores)"));
    }
    let [crc, size, offset] = [16, 20, 42].map(|at| u32_at(list, at).unwrap_or(usize::MAX));
    let bytes = stored(archive, name, offset, size);
    let bytes = bytes.ok_or_else(|| Fault::new(name, format!("{size} bytes at {offset}"), "something else there"))?;
    match crc32(bytes) as usize == crc {
        true => Ok((Stored { name, bytes }, length)),
        false => Err(Fault::new(name, format!("bytes with the check sum {crc:08x}"), "others: the file is damaged")),
    }
}

/// A file at its offset, if it has the same name there.
fn stored<'a>(archive: &'a [u8], name: &str, offset: usize, size: usize) -> Option<&'a [u8]> {
    let file = archive.get(offset..).filter(|file| file.starts_with(FILE))?;
    let (name_length, extra) = (u16_at(file, 26)?, u16_at(file, 28)?);
    let (there, rest) = file.get(FILE_LENGTH..)?.split_at_checked(name_length)?;
    rest.get(extra..)?.get(..size).filter(|_| there == name.as_bytes())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|b| usize::from(u16::from_le_bytes(*b)))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b) as usize)
}

/// Sizes in a zip archive without extensions have four bytes.
fn small(n: u64) -> io::Result<u32> {
    let too_large = || io::Error::other("an npz file holds at most 4 GiB: record fewer steps, or write csv");
    u32::try_from(n).map_err(|_| too_large())
}

/// The check sum of zip, a table of four bits at a time.
fn crc32(bytes: &[u8]) -> u32 {
    let table: [u32; 16] =
        std::array::from_fn(|k| (0..4).fold(k as u32, |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 }));
    let nibble = |c: u32| c >> 4 ^ table[(c & 15) as usize];
    !bytes.iter().fold(!0, |c, b| nibble(nibble(c ^ u32::from(*b))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_sums_are_those_of_zip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn what_is_stored_is_read() {
        let mut archive = Vec::new();
        let mut zip = Writer::new(&mut archive);
        zip.store("a".into(), b"first").unwrap();
        zip.store("b".into(), b"").unwrap();
        zip.finish().unwrap();
        let files: Vec<_> = read(&archive).unwrap().iter().map(|f| (f.name, f.bytes)).collect();
        assert_eq!(files, [("a", &b"first"[..]), ("b", b"")]);
        let place = archive.windows(5).position(|w| w == b"first").unwrap();
        archive[place] = b'F';
        assert!(read(&archive).unwrap_err().got.contains("damaged"));
    }
}
