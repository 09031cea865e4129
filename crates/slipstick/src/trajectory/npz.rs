//! Arrays as numpy reads them: a zip archive, nothing compressed, with one `.npy` file per array.

use super::{Trajectory, TrajectoryFormat};
use slipstick_core::Status;
use slipstick_core::constraint::Stage;
use std::io::{self, Write};

/// Arrays `time`, `q`, `v`, `ctrl`, `tau`, `contacts`, `penetration`, `residual`, `compliance_shift`, `iterations`,
/// `status`, `stage` (numbers of the words in `status_names` and `stage_names`), and `format`, `version`, `model`, `dt`.
pub(super) fn write(t: &Trajectory, out: &mut impl Write) -> io::Result<()> {
    let ([nq, nv, nu], states, steps) = (t.sizes, t.states(), t.steps());
    let mut zip = Zip { out, written: 0, entries: Vec::new() };
    zip.words("format", &[TrajectoryFormat::NAME], true)?;
    zip.add("version", "<i8", &[], &integers(&[TrajectoryFormat::VERSION as usize]))?;
    zip.words("model", &[&t.model], true)?;
    zip.add("dt", "<f8", &[], &t.dt.to_le_bytes())?;
    for (name, names) in ["q_names", "v_names", "ctrl_names"].into_iter().zip(&t.names) {
        let bare: Vec<&str> = names.iter().map(|n| n.split_once(':').map_or(n.as_str(), |(_, name)| name)).collect();
        zip.words(name, &bare, false)?;
    }
    zip.floats("time", &[states], &t.time)?;
    zip.floats("q", &[states, nq], &t.q)?;
    zip.floats("v", &[states, nv], &t.v)?;
    zip.floats("ctrl", &[steps, nu], &t.ctrl)?;
    zip.floats("tau", &[steps, nv], &t.tau)?;
    zip.floats("penetration", &[steps], &t.penetration)?;
    zip.floats("residual", &[steps], &t.residual)?;
    zip.floats("compliance_shift", &[steps], &t.compliance_shift)?;
    let place = |x: Option<usize>| x.unwrap_or(usize::MAX);
    let iterations: Vec<usize> = t.iterations.iter().map(|n| *n as usize).collect();
    let status: Vec<usize> = t.status.iter().map(|s| place(Status::ALL.iter().position(|x| x == s))).collect();
    let stage: Vec<usize> = t.stage.iter().map(|s| place(Stage::ALL.iter().position(|x| x == s))).collect();
    for (name, x) in [("contacts", &t.contacts), ("iterations", &iterations), ("status", &status), ("stage", &stage)] {
        zip.add(name, "<i8", &[steps], &integers(x))?;
    }
    zip.words("status_names", &Status::ALL.map(Status::name), false)?;
    zip.words("stage_names", &Stage::ALL.map(Stage::name), false)?;
    zip.finish()
}

fn integers(x: &[usize]) -> Vec<u8> {
    x.iter().flat_map(|x| (*x as i64).to_le_bytes()).collect()
}

/// An archive that is being written.
struct Zip<'w, W: Write> {
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

impl<W: Write> Zip<'_, W> {
    fn floats(&mut self, name: &str, shape: &[usize], x: &[f64]) -> io::Result<()> {
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.add(name, "<f8", shape, &bytes)
    }

    /// Words, padded to the longest; or a single one without a list around it.
    fn words(&mut self, name: &str, words: &[&str], single: bool) -> io::Result<()> {
        let width = words.iter().map(|w| w.chars().count()).max().unwrap_or(0).max(1);
        let padded = |w: &&str| w.chars().map(u32::from).chain(std::iter::repeat(0)).take(width).collect::<Vec<u32>>();
        let bytes: Vec<u8> = words.iter().flat_map(padded).flat_map(u32::to_le_bytes).collect();
        let shape: &[usize] = if single { &[] } else { &[words.len()] };
        self.add(name, &format!("<U{width}"), shape, &bytes)
    }

    /// An array: a head that tells type and shape, then the numbers.
    fn add(&mut self, name: &str, kind: &str, shape: &[usize], numbers: &[u8]) -> io::Result<()> {
        let sizes: String = shape.iter().map(|n| format!("{n},")).collect();
        let mut head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
        // numbers begin at a multiple of 64 bytes; 10 bytes stand before the head, a line break behind it
        head.push_str(&" ".repeat((64 - (head.len() + 11) % 64) % 64));
        head.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((head.len() as u16).to_le_bytes());
        file.extend(head.as_bytes());
        file.extend(numbers);
        self.store(format!("{name}.npy"), &file)
    }

    fn store(&mut self, name: String, file: &[u8]) -> io::Result<()> {
        let entry = Entry { name, crc: crc32(file), size: small(file.len() as u64)?, offset: small(self.written)? };
        let mut head = 0x0403_4b50u32.to_le_bytes().to_vec();
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
    fn finish(mut self) -> io::Result<()> {
        let (start, count) = (small(self.written)?, self.entries.len() as u16);
        for entry in std::mem::take(&mut self.entries) {
            let mut head = 0x0201_4b50u32.to_le_bytes().to_vec();
            head.extend(VERSION.to_le_bytes());
            head.extend(entry.common());
            head.extend([0; 10]); // no remark, first disk, no attributes
            head.extend(entry.offset.to_le_bytes());
            head.extend(entry.name.as_bytes());
            self.put(&head)?;
        }
        let length = small(self.written - u64::from(start))?;
        let mut end = 0x0605_4b50u32.to_le_bytes().to_vec();
        end.extend([0; 4]); // one disk
        end.extend([count, count].map(u16::to_le_bytes).concat());
        end.extend([length, start].map(u32::to_le_bytes).concat());
        end.extend([0; 2]); // no remark
        self.put(&end)
    }
}

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
    fn arrays_begin_at_multiples_of_64_bytes() {
        let model = crate::builtin("cartpole").unwrap();
        let trajectory = crate::Simulator::new(&model).rollout(3, &mut crate::control::Controller::Zero).unwrap();
        let mut bytes = Vec::new();
        write(&trajectory, &mut bytes).unwrap();
        let starts = bytes.windows(6).enumerate().filter(|(_, w)| *w == b"\x93NUMPY").map(|(k, _)| k);
        let mut count = 0;
        for start in starts {
            let head = u16::from_le_bytes([bytes[start + 8], bytes[start + 9]]) as usize;
            assert_eq!((10 + head) % 64, 0);
            assert_eq!(bytes[start + 10 + head - 1], b'\n');
            count += 1;
        }
        assert_eq!(count, 21);
        assert_eq!(&bytes[bytes.len() - 22..bytes.len() - 18], b"PK\x05\x06");
    }
}
