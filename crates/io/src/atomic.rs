//! Files that appear whole or not at all: written under a temporary name in the same folder, then renamed. A full disk or
//! a crash leaves the old file as it was.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Writes a file with what `write` puts into it: its name has the old content or the whole new one, never a part.
///
/// A link stays and its target is replaced; permissions stay. What is no regular file (a pipe, `/dev/stdout`) is written
/// directly.
pub fn write_file(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let (place, permissions) = match target(path.as_ref())? {
        Target::Special => {
            let mut out = BufWriter::new(OpenOptions::new().append(true).open(path)?);
            write(&mut out)?;
            return out.flush();
        }
        Target::File(place, permissions) => (place, permissions),
    };
    let mut new = Temporary::beside(&place)?;
    write(&mut new.out)?;
    new.out.flush()?;
    if let Some(permissions) = permissions {
        new.out.get_ref().set_permissions(permissions)?;
    }
    new.out.get_ref().sync_all()?;
    new.rename(&place)
}

/// Whether [`write_file`] can write there, before the work whose result goes there: makes and removes an empty file in
/// its folder.
pub fn check_writable(path: impl AsRef<Path>) -> io::Result<()> {
    match target(path.as_ref())? {
        Target::Special => Ok(()),
        Target::File(place, _) => Temporary::beside(&place).map(drop),
    }
}

/// What a name stands for.
enum Target {
    /// A pipe or a device: nothing can be renamed to it.
    Special,
    /// A file that exists and its permissions, or one that does not exist yet.
    File(PathBuf, Option<Permissions>),
}

fn target(path: &Path) -> io::Result<Target> {
    let refused = |text: &str| Err(io::Error::new(ErrorKind::InvalidInput, text));
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => refused("it is a folder"),
        // standard output may be a regular file, which must not be replaced while it is written
        Ok(found) if !found.is_file() || path.starts_with("/dev") || path.starts_with("/proc") => Ok(Target::Special),
        Ok(found) => {
            OpenOptions::new().write(true).open(path)?; // a file that is protected stays
            Ok(Target::File(path.canonicalize()?, Some(found.permissions())))
        }
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        Err(_) if path.file_name().is_none() => refused("expected the name of a file"),
        Err(_) => Ok(Target::File(path.into(), None)),
    }
}

/// A new file that is removed again unless it is renamed.
pub(crate) struct Temporary {
    path: PathBuf,
    pub out: BufWriter<File>,
}

impl Temporary {
    /// In the folder of a path: a rename cannot leave the file system.
    pub fn beside(path: &Path) -> io::Result<Temporary> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let name = format!(".slipstick-{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = path.with_file_name(name);
            match File::create_new(&path) {
                Ok(file) => return Ok(Temporary { path, out: BufWriter::new(file) }),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {} // left by a process of the same number
                Err(e) => return Err(e),
            }
        }
    }

    /// Moves what was written to its place.
    pub fn rename(mut self, place: &Path) -> io::Result<()> {
        self.out.flush()?;
        fs::rename(&self.path, place)?;
        self.path.clear();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("slipstick-atomic-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }

        fn count(&self) -> usize {
            fs::read_dir(&self.0).unwrap().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_failure_on_the_way_leaves_the_old_file() {
        let folder = Folder::new("failure");
        let path = folder.0.join("a.txt");
        write_file(&path, |out| out.write_all(b"old")).unwrap();
        let full = || io::Error::from(ErrorKind::StorageFull);
        let failed = write_file(&path, |out| out.write_all(&[0; 100_000]).and(Err(full())));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!((fs::read(&path).unwrap(), folder.count()), (b"old".to_vec(), 1));
        write_file(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!((fs::read(&path).unwrap(), folder.count()), (b"new".to_vec(), 1));
    }

    #[test]
    fn places_that_cannot_be_written_are_known_before() {
        let folder = Folder::new("places");
        assert!(check_writable(folder.0.join("a.txt")).is_ok());
        assert_eq!(folder.count(), 0, "a check leaves nothing");
        let refused = |path: &Path| check_writable(path).unwrap_err().kind();
        assert_eq!(refused(&folder.0.join("nowhere/a.txt")), ErrorKind::NotFound);
        assert_eq!(refused(&folder.0), ErrorKind::InvalidInput);
        assert_eq!(refused(Path::new("")), ErrorKind::InvalidInput);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("links");
        let (file, link) = (folder.0.join("a.txt"), folder.0.join("link.txt"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("a.txt", &link).unwrap();
        write_file(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_directly() {
        assert!(write_file("/dev/null", |out| out.write_all(b"x")).is_ok());
        let full = write_file("/dev/full", |out| out.write_all(b"x"));
        assert_eq!(full.unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(check_writable("/dev/full").is_ok(), "nobody knows before");
    }
}
