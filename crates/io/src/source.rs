//! Files as bytes: nothing but plain files of bounded size. A pipe would wait for ever, a device would never end.

use crate::error::{LoadError, Place};
use crate::limits::{self, Limits};
use std::io::Read;
use std::path::Path;

/// The bytes of a plain file: a folder, a pipe, a socket, a device and more than `limits.file_bytes` are errors.
pub fn read(path: &Path, limits: &Limits) -> Result<Vec<u8>, LoadError> {
    let place = || Place { file: path.display().to_string(), ..Place::default() };
    let wrong = |got: String| LoadError::Read { place: Box::new(place()), got, hint: String::new() };
    let io = |e: std::io::Error| wrong(e.to_string());
    let metadata = std::fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return Err(wrong("it is a folder".into()));
    }
    if !metadata.is_file() {
        return Err(wrong("it is a pipe, a socket or a device, not a file".into()));
    }
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    limits::check(place, "file_bytes", "bytes of a file", limits.file_bytes, size)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|e| wrong(e.to_string()))?;
    // a file may grow while it is read, and those of /proc say that they are empty
    let most = limits.file_bytes.saturating_add(1);
    std::fs::File::open(path).and_then(|file| file.take(most as u64).read_to_end(&mut bytes)).map_err(io)?;
    limits::check(place, "file_bytes", "bytes of a file", limits.file_bytes, bytes.len())?;
    Ok(bytes)
}

/// The text of a file. Bytes that are not UTF-8 occur in comments of old files and are replaced.
pub(crate) fn read_text(path: &Path, limits: &Limits) -> Result<String, LoadError> {
    let text = String::from_utf8(read(path, limits)?);
    Ok(text.unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}
