//! The files of a log: a thin layer, so that tests can take the disk's place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder of files that are written in order and synced.
pub trait Files: Send + Sync {
    /// The names of the files.
    fn list(&self) -> io::Result<Vec<String>>;
    /// All bytes of a file.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;
    /// A file to append to, cut to this length first; made if there is none.
    fn open(&self, name: &str, length: u64) -> io::Result<Box<dyn Appended>>;
    /// Gives a file another name, which another file may have had.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes names durable.
    fn sync_names(&self) -> io::Result<()>;
}

/// A file that grows at its end.
pub trait Appended: Send {
    /// Writes at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes durable what was written.
    fn sync(&mut self) -> io::Result<()>;
}

/// The suffix of files that are being written.
const ASIDE: &str = ".aside";

/// Writes a file aside, makes it durable, and gives it its name.
///
/// # Errors
/// If the system refuses; nothing is left behind then, as far as it lets that be.
pub fn write_whole(files: &dyn Files, name: &str, bytes: &[u8]) -> io::Result<()> {
    let aside = format!("{name}{ASIDE}");
    let write = || {
        let mut file = files.open(&aside, 0)?;
        file.append(bytes)?;
        file.sync()
    };
    if let Err(error) = write() {
        // A full disk needs the room. What stays is removed at the next start.
        let _ = files.remove(&aside);
        return Err(error);
    }
    files.rename(&aside, name)?;
    files.sync_names()
}

/// Removes what was being written when a process ended.
pub fn remove_unfinished(files: &dyn Files) -> io::Result<()> {
    let names = files.list()?;
    let unfinished = names.iter().filter(|name| name.ends_with(ASIDE));
    unfinished
        .into_iter()
        .try_for_each(|name| files.remove(name))
}

/// A folder on a disk, locked against other processes.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The lock goes with the file.
    _lock: File,
}

impl Folder {
    /// Opens a folder, which is made where there is none.
    ///
    /// # Errors
    /// If another process holds it, or the system refuses.
    pub fn open(path: &Path) -> rosenblatt::Result<Self> {
        let at = |e: &io::Error| rosenblatt::Error::io(path, e);
        fs::create_dir_all(path).map_err(|e| at(&e))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("lock"))
            .map_err(|e| at(&e))?;
        match lock.try_lock() {
            Ok(()) => Ok(Folder {
                path: path.to_path_buf(),
                _lock: lock,
            }),
            Err(fs::TryLockError::WouldBlock) => Err(rosenblatt::Error::new(
                rosenblatt::ErrorKind::Io,
                "another process learns into this log",
            )
            .in_file(path)
            .remedy("end it first, or name another ⟨log⟩ folder")),
            Err(fs::TryLockError::Error(e)) => Err(at(&e)),
        }
    }
}

impl Files for Folder {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.path.join(name))
    }

    fn open(&self, name: &str, length: u64) -> io::Result<Box<dyn Appended>> {
        let path = self.path.join(name);
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() != length {
            file.set_len(length)?;
            file.sync_all()?;
        }
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        // Elsewhere a folder cannot be opened to be synced.
        if cfg!(unix) {
            File::open(&self.path)?.sync_all()?;
        }
        Ok(())
    }
}

impl Appended for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
