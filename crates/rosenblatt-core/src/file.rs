//! Writing files whole or not at all.
//!
//! A command that fails or is killed half-way must not leave a file that looks finished, nor
//! destroy the good one that was there. So the bytes go to a temporary file beside the
//! target, and a rename puts it in place once everything is written. Where the system can, that
//! file has no name before: then nothing is left of it however the program ends.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Writes the file at `path` by `fill`, under another name first, then renamed into place.
///
/// If `fill` fails, the target stays as it was and the temporary file is removed. A link is
/// followed, so what it points to is replaced, or made if it is not there; a device or pipe is
/// written directly, as there is nothing to rename over. An error without a position is given `path` as its file.
pub fn write_atomic<T>(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let path = path.as_ref();
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Error::new(ErrorKind::Io, "there is no such folder")
            .in_file(path)
            .remedy("make the folder first"),
        _ => Error::io(path, &e),
    };
    let place = |e: Error| match e.position() {
        Some(_) => e,
        None => e.in_file(path),
    };
    let existing = fs::metadata(path).ok();
    if let Some(found) = &existing {
        if found.is_dir() {
            return Err(Error::new(ErrorKind::Io, "this is a folder")
                .in_file(path)
                .remedy("name a file in it"));
        }
        if !found.is_file() {
            let device = OpenOptions::new().write(true).open(path).map_err(failed)?;
            let mut out = BufWriter::new(device);
            let result = fill(&mut out).map_err(place)?;
            out.flush().map_err(failed)?;
            return Ok(result);
        }
    }
    let target = target_of(path);
    let (temporary, file) = Temporary::create(&target).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let result = fill(&mut out).map_err(place)?;
    let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
    if let Some(found) = &existing {
        file.set_permissions(found.permissions()).map_err(failed)?;
    }
    // The name must not come to stand for bytes that a power cut may still lose.
    file.sync_all().map_err(failed)?;
    temporary.rename_to(file, &target).map_err(failed)?;
    Ok(result)
}

/// Fails where [`write_atomic`] would, as far as can be told without writing.
pub fn writable(path: &Path) -> Result<()> {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Error::new(ErrorKind::Io, "there is no such folder")
            .in_file(path)
            .remedy("make the folder first"),
        _ => Error::io(path, &e),
    };
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(Error::new(ErrorKind::Io, "this is a folder")
                .in_file(path)
                .remedy("name a file in it"));
        }
        // A pipe may have no reader yet, and a device may do something when it is opened.
        Ok(found) if !found.is_file() => return Ok(()),
        _ => {}
    }
    let target = target_of(path);
    Temporary::create(&target).map_err(failed)?;
    // The file may have had no name, and the name that it will have may be too long.
    at_free_path(&target, |path| match fs::symlink_metadata(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    })
    .map_err(failed)?;
    Ok(())
}

/// Where a path leads: through links, even to a file that is not there yet.
fn target_of(path: &Path) -> PathBuf {
    // As many links as a system follows.
    const LINKS: usize = 40;
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&target) else {
            break;
        };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    target
}

/// The temporary file; removed when dropped, unless renamed.
struct Temporary {
    /// `None` as long as it has no name.
    path: Option<PathBuf>,
}

impl Temporary {
    /// A new file beside `target`.
    fn create(target: &Path) -> io::Result<(Temporary, File)> {
        if let Some(file) = unnamed::create(target) {
            return Ok((Temporary { path: None }, file));
        }
        let (path, file) = at_free_path(target, create_new)?;
        Ok((Temporary { path: Some(path) }, file))
    }

    fn rename_to(mut self, mut file: File, target: &Path) -> io::Result<()> {
        if self.path.is_none() {
            match at_free_path(target, |path| unnamed::give_name(&file, path)) {
                Ok((path, ())) => self.path = Some(path),
                // Not every disk can do that, and what was written must not be lost for it.
                Err(_) => self.copy(&mut file, target)?,
            }
        }
        drop(file);
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
        }
        self.path = None;
        Ok(())
    }

    /// Copies what was written to a file with a name.
    fn copy(&mut self, file: &mut File, target: &Path) -> io::Result<()> {
        let (path, mut named) = at_free_path(target, create_new)?;
        self.path = Some(path);
        file.rewind()?;
        io::copy(file, &mut named)?;
        named.set_permissions(file.metadata()?.permissions())?;
        named.sync_all()
    }
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// What `make` gives for a path beside the target where there is nothing yet.
fn at_free_path<T>(
    target: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(target_name) = target.file_name() else {
        let message = "this names no file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    loop {
        let mut name = OsString::from(".");
        name.push(target_name);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{count}.part", std::process::id()));
        let path = target.with_file_name(name);
        match make(&path) {
            Ok(made) => return Ok((path, made)),
            // Left behind by a killed process that had our number: take the next name.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}

/// Files that have no name yet.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// One in the folder of `target`, where system and disk know such and can name them later.
    pub(super) fn create(target: &Path) -> Option<File> {
        target.file_name()?;
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
        fs::symlink_metadata(by_number(&file)).ok()?;
        Some(file)
    }

    /// Where the system keeps an open file under its number.
    fn by_number(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }

    pub(super) fn give_name(file: &File, path: &Path) -> io::Result<()> {
        Ok(linkat(
            CWD,
            by_number(file),
            CWD,
            path,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    }
}

/// There is no such thing.
#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn create(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn give_name(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("rosenblatt-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<String> = fs::read_dir(&self.0)
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn put(path: &Path, text: &str) -> Result<()> {
        write_atomic(path, |out| {
            out.write_all(text.as_bytes())
                .map_err(|e| Error::io(path, &e))
        })
    }

    #[test]
    fn a_file_appears_whole_and_replaces_the_old_one() {
        let folder = Folder::new("whole");
        let path = folder.0.join("a.txt");
        put(&path, "one").unwrap();
        let seven = write_atomic(&path, |out| {
            out.write_all(b"two").unwrap();
            out.flush().unwrap();
            // Until the end the old file stands, and alone where the system can do that.
            assert_eq!(fs::read(&path).unwrap(), b"one");
            let others = usize::from(unnamed::create(&path).is_none());
            assert_eq!(folder.names().len(), 1 + others);
            Ok(7)
        });
        assert_eq!(seven.unwrap(), 7);
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(folder.names(), ["a.txt"]);
    }

    /// As on a disk that cannot name a file later.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_named_is_copied() {
        let folder = Folder::new("copied");
        let path = folder.0.join("a.txt");
        let Some(mut file) = unnamed::create(&path) else {
            return;
        };
        file.write_all(b"three").unwrap();
        let mut temporary = Temporary { path: None };
        temporary.copy(&mut file, &path).unwrap();
        assert_eq!(folder.names().len(), 1);
        temporary.rename_to(file, &path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(folder.names(), ["a.txt"]);
    }

    #[test]
    fn a_failure_leaves_no_trace() {
        let folder = Folder::new("failure");
        let path = folder.0.join("a.txt");
        for before in [None, Some("good")] {
            if let Some(text) = before {
                put(&path, text).unwrap();
            }
            let error = write_atomic(&path, |out| -> Result<()> {
                out.write_all(&[b'x'; 200_000]).unwrap();
                Err(Error::data("no more"))
            })
            .unwrap_err();
            assert_eq!(error.message(), "no more");
            assert_eq!(error.position().unwrap().file, path);
            assert_eq!(folder.names().len(), usize::from(before.is_some()));
        }
        assert_eq!(fs::read(&path).unwrap(), b"good");
        let panic = std::panic::catch_unwind(|| {
            write_atomic(&path, |_| -> Result<()> { panic!("on purpose") })
        });
        assert!(panic.is_err());
        assert_eq!(folder.names(), ["a.txt"]);
    }

    #[test]
    fn places_that_cannot_be_written_are_named() {
        let folder = Folder::new("places");
        let missing = folder.0.join("no/such/a.txt");
        let error = put(&missing, "x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.position().unwrap().file, missing);
        let file = folder.0.join("file");
        put(&file, "x").unwrap();
        assert!(put(&file.join("a.txt"), "x").is_err());
        let error = put(&folder.0, "x").unwrap_err();
        assert!(error.to_string().contains("folder"), "{error}");
        assert!(put(Path::new("/"), "x").is_err());
        assert_eq!(folder.names(), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_unwritable_folder_stays_as_it_was() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("unwritable");
        let path = folder.0.join("a.txt");
        put(&path, "good").unwrap();
        let mode = |m| fs::set_permissions(&folder.0, fs::Permissions::from_mode(m)).unwrap();
        mode(0o555);
        // The superuser may write anywhere; then there is nothing to see here.
        let barred = File::create(folder.0.join("probe")).is_err();
        let outcome = put(&path, "bad");
        mode(0o755);
        if barred {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Io);
            assert_eq!(fs::read(&path).unwrap(), b"good");
            assert_eq!(folder.names(), ["a.txt"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_permissions_kept_and_devices_left_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("links");
        let (real, link) = (folder.0.join("real"), folder.0.join("link"));
        put(&real, "one").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        put(&link, "two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // One that leads nowhere makes what it names.
        fs::remove_file(&real).unwrap();
        let second = folder.0.join("second");
        std::os::unix::fs::symlink("link", &second).unwrap();
        put(&second, "two").unwrap();
        assert!(fs::symlink_metadata(&second).unwrap().is_symlink());
        fs::remove_file(&second).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"two");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
        put(Path::new("/dev/null"), "three").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert_eq!(folder.names(), ["link", "real"]);
    }
}
