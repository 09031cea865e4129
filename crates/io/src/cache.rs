//! Results that take long to make and depend on nothing but bytes, kept in the user's cache folder.
//!
//! The folder is `$SLIPSTICK_CACHE` if that is set (empty: nothing is kept), else the system's usual place for caches.
//! Files in it may be deleted at any time. Nothing about it is an error: where it cannot be read or written, results are
//! made again.

use crate::atomic::Temporary;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// First bytes of every file.
const MAGIC: &[u8; 16] = b"slipstick cache\n";
/// Length of a hash [bytes].
const HASH: usize = 32;
/// Larger files are none of ours.
const LARGEST_FILE: u64 = 1 << 28;

/// What all files take together; beyond it those that were written first are deleted [bytes].
const LARGEST_FOLDER: u64 = 1 << 30;

/// A hash of everything that a result depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key([u8; HASH]);

impl Key {
    /// The key of some parts; their lengths count, so that they cannot run into each other.
    pub fn of(parts: &[&[u8]]) -> Key {
        let mut hasher = blake3::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key(*hasher.finalize().as_bytes())
    }
}

/// A folder of results, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Store {
    folder: Option<PathBuf>,
}

impl Store {
    /// The user's folder.
    pub fn of_user() -> Store {
        Store { folder: user_folder(|name| std::env::var_os(name)) }
    }

    pub fn off() -> Store {
        Store { folder: None }
    }

    #[cfg(test)]
    pub fn at(folder: PathBuf) -> Store {
        Store { folder: Some(folder) }
    }

    pub fn is_on(&self) -> bool {
        self.folder.is_some()
    }

    fn file(&self, key: &Key) -> Option<PathBuf> {
        let name: String = key.0.iter().map(|b| format!("{b:02x}")).collect();
        Some(self.folder.as_ref()?.join(name))
    }

    /// What was put under a key; `None` as well if the file is damaged.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.file(key)?;
        let metadata = std::fs::metadata(&path).ok()?;
        if !metadata.is_file() || metadata.len() > LARGEST_FILE {
            return None;
        }
        let mut bytes = std::fs::read(path).ok()?;
        let start = MAGIC.len() + HASH;
        let (head, body) = bytes.split_at_checked(start)?;
        let sound = head.starts_with(MAGIC) && head.ends_with(blake3::hash(body).as_bytes());
        sound.then(|| bytes.split_off(start))
    }

    /// Keeps bytes under a key. Others see the whole file or none: it is written elsewhere and moved.
    pub fn put(&self, key: &Key, body: &[u8]) {
        let Some(path) = self.file(key) else { return };
        // without a cache everything works, only later
        let _ = write(&path, body).and_then(|()| evict(path.parent().unwrap_or(&path), LARGEST_FOLDER));
    }
}

/// Not synced: what a crash leaves is known by its hash.
fn write(path: &Path, body: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = Temporary::beside(path)?;
    file.out.write_all(MAGIC)?;
    file.out.write_all(blake3::hash(body).as_bytes())?;
    file.out.write_all(body)?;
    file.rename(path)
}

/// Deletes the files that were written first until all take no more than `most`. Files of other names are none of ours.
fn evict(folder: &Path, most: u64) -> std::io::Result<()> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let ours = |name: &str| name.len() == 2 * HASH && name.bytes().all(|b| b.is_ascii_hexdigit());
        if entry.file_name().to_str().is_some_and(ours) {
            let metadata = entry.metadata()?;
            entries.push((metadata.modified()?, metadata.len(), entry.path()));
        }
    }
    entries.sort();
    let mut sum: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in entries {
        if sum <= most {
            break;
        }
        std::fs::remove_file(path)?;
        sum -= bytes;
    }
    Ok(())
}

/// Where the user's caches are, by the variables of the environment.
fn user_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(folder) = variable("SLIPSTICK_CACHE") {
        return (!folder.is_empty()).then(|| folder.into());
    }
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let caches = if cfg!(target_os = "windows") {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|h| h.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))
    };
    caches.map(|c| c.join("slipstick"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("slipstick-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn what_is_put_is_found_until_the_file_is_damaged() {
        let folder = folder("cache");
        let store = Store::at(folder.clone());
        let (key, other) = (Key::of(&[b"a", b"bc"]), Key::of(&[b"ab", b"c"]));
        assert_eq!(store.get(&key), None);
        store.put(&key, b"result");
        assert_eq!(store.get(&key).as_deref(), Some(&b"result"[..]));
        assert_eq!(store.get(&other), None);
        let path = store.file(&key).unwrap();
        let good = std::fs::read(&path).unwrap();
        for n in 0..good.len() {
            std::fs::write(&path, &good[..n]).unwrap();
            assert_eq!(store.get(&key), None, "cut after {n}");
            let mut flipped = good.clone();
            flipped[n] ^= 1;
            std::fs::write(&path, &flipped).unwrap();
            assert_eq!(store.get(&key), None, "byte {n} changed");
        }
        store.put(&key, b"again");
        assert_eq!(store.get(&key).as_deref(), Some(&b"again"[..]));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file stays");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_was_written_first_goes_when_the_folder_is_full() {
        let folder = folder("cache-full");
        let store = Store::at(folder.clone());
        let keys = [Key::of(&[b"a"]), Key::of(&[b"b"]), Key::of(&[b"c"])];
        for key in &keys {
            store.put(key, &[0; 100]);
            std::thread::sleep(std::time::Duration::from_millis(20)); // clocks of file systems tick slowly
        }
        std::fs::write(folder.join("not ours"), [0; 1000]).unwrap();
        let one = 100 + (MAGIC.len() + HASH) as u64;
        evict(&folder, 2 * one).unwrap();
        assert_eq!(keys.each_ref().map(|k| store.get(k).is_some()), [false, true, true]);
        evict(&folder, 0).unwrap();
        assert!(keys.iter().all(|k| store.get(k).is_none()) && folder.join("not ours").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_error() {
        let folder = folder("cache-file");
        std::fs::write(&folder, "a file where the folder should be").unwrap();
        let store = Store::at(folder.clone());
        store.put(&Key::of(&[b"a"]), b"result");
        assert_eq!(store.get(&Key::of(&[b"a"])), None);
        std::fs::remove_file(folder).unwrap();
        let off = Store::off();
        off.put(&Key::of(&[b"a"]), b"result");
        assert!(!off.is_on() && off.get(&Key::of(&[b"a"])).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_environment_says_where_the_folder_is() {
        let with = |list: &'static [(&str, &str)]| {
            user_folder(|name| list.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)))
        };
        assert_eq!(with(&[("SLIPSTICK_CACHE", "here"), ("HOME", "/h")]), Some("here".into()));
        assert_eq!(with(&[("SLIPSTICK_CACHE", ""), ("HOME", "/h")]), None);
        assert_eq!(with(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")]), Some("/x/slipstick".into()));
        assert_eq!(with(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]), Some("/h/.cache/slipstick".into()));
        assert_eq!(with(&[]), None);
    }
}
