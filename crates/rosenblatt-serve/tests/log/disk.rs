//! A disk in memory that loses power: what was not synced is dropped or torn.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use rosenblatt_serve::log::files::{Appended, Files};

/// A file: what is on the disk, and what was only written.
#[derive(Debug, Clone, Default, PartialEq)]
struct Contents {
    durable: Vec<u8>,
    written: Vec<u8>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Names as programs see them, and as the disk has them.
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    files: Vec<Contents>,
    /// Calls until the power goes; `None` if it stays.
    until: Option<u64>,
    /// Calls of `sync` until one fails.
    sync_fails: Option<u64>,
    full: bool,
    /// Counts every call.
    calls: u64,
}

/// The disk.
#[derive(Debug, Clone, Default)]
pub struct Disk(Arc<Mutex<Inner>>);

fn gone() -> io::Error {
    io::Error::other("the power is gone")
}

impl Inner {
    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        match &mut self.until {
            Some(0) => Err(gone()),
            Some(n) => {
                *n -= 1;
                if *n == 0 { Err(gone()) } else { Ok(()) }
            }
            None => Ok(()),
        }
    }

    fn file(&self, name: &str) -> io::Result<usize> {
        (self.names.get(name).copied()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Disk {
    /// The power goes at this call from now on.
    pub fn lose_power_at(&self, call: u64) {
        self.0.lock().unwrap().until = Some(call + 1);
    }

    /// The sync so many calls from now fails.
    pub fn fail_sync_after(&self, calls: u64) {
        self.0.lock().unwrap().sync_fails = Some(calls);
    }

    /// From now on nothing more can be written.
    pub fn fill(&self) {
        self.0.lock().unwrap().full = true;
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.0.lock().unwrap().calls
    }

    /// What is there when the power is back: all that was synced, and of every write since then
    /// what `keep` says (pages of a few bytes, each kept, zeroed or lost).
    pub fn after_power_cut(&self, mut keep: impl FnMut() -> u8) -> Disk {
        const PAGE: usize = 16;
        let inner = self.0.lock().unwrap();
        let mut files = Vec::new();
        for file in &inner.files {
            let mut bytes = file.durable.clone();
            if file.written.starts_with(&file.durable) {
                let tail = &file.written[file.durable.len()..];
                let mut length = 0;
                let mut torn = tail.to_vec();
                for (i, page) in torn.chunks_mut(PAGE).enumerate() {
                    match keep() % 3 {
                        0 => length = i * PAGE + page.len(),
                        1 => {
                            page.fill(0);
                            length = i * PAGE + page.len();
                        }
                        _ => page.fill(0),
                    }
                }
                bytes.extend(&torn[..length]);
            } else if keep().is_multiple_of(2) {
                bytes = file.written.clone();
            }
            files.push(Contents {
                durable: bytes.clone(),
                written: bytes,
            });
        }
        // A name that was not synced is the old one or the new one.
        let mut names = inner.durable_names.clone();
        for (name, &file) in &inner.names {
            if inner.durable_names.get(name) != Some(&file) && keep().is_multiple_of(2) {
                names.insert(name.clone(), file);
            }
        }
        names.retain(|name, _| inner.names.contains_key(name) || keep().is_multiple_of(2));
        Disk(Arc::new(Mutex::new(Inner {
            durable_names: names.clone(),
            names,
            files,
            ..Inner::default()
        })))
    }

    /// What is there when a process was killed: all that was written.
    pub fn after_kill(&self) -> Disk {
        let inner = self.0.lock().unwrap();
        Disk(Arc::new(Mutex::new(Inner {
            names: inner.names.clone(),
            durable_names: inner.durable_names.clone(),
            files: inner.files.clone(),
            ..Inner::default()
        })))
    }

    /// The bytes of a file.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        self.read(name).unwrap()
    }

    /// A disk that holds this instead.
    pub fn with(&self, name: &str, bytes: &[u8]) -> Disk {
        let other = self.after_kill();
        {
            let mut inner = other.0.lock().unwrap();
            let file = inner.file(name).unwrap();
            inner.files[file].written = bytes.to_vec();
            inner.files[file].durable = bytes.to_vec();
        }
        other
    }
}

impl Files for Disk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().unwrap().names.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let inner = self.0.lock().unwrap();
        Ok(inner.files[inner.file(name)?].written.clone())
    }

    fn open(&self, name: &str, length: u64) -> io::Result<Box<dyn Appended>> {
        let mut inner = self.0.lock().unwrap();
        inner.call()?;
        let file = match inner.file(name) {
            Ok(file) => file,
            Err(_) => {
                inner.files.push(Contents::default());
                let file = inner.files.len() - 1;
                inner.names.insert(name.to_owned(), file);
                file
            }
        };
        let contents = &mut inner.files[file];
        if contents.written.len() as u64 != length {
            contents.written.truncate(length as usize);
            contents.durable.clone_from(&contents.written);
        }
        Ok(Box::new(Opened(self.clone(), file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        inner.call()?;
        let file = inner.file(from)?;
        inner.names.remove(from);
        inner.names.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        inner.call()?;
        inner.names.remove(name);
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        inner.call()?;
        inner.durable_names = inner.names.clone();
        Ok(())
    }
}

struct Opened(Disk, usize);

impl Appended for Opened {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.0.0.lock().unwrap();
        let cut = inner.call().is_err();
        let room = if cut || inner.full {
            bytes.len() / 2
        } else {
            bytes.len()
        };
        inner.files[self.1].written.extend(&bytes[..room]);
        match (cut, inner.full) {
            (true, _) => Err(gone()),
            (_, true) => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut inner = self.0.0.lock().unwrap();
        inner.call()?;
        if let Some(calls) = &mut inner.sync_fails {
            if *calls == 0 {
                return Err(io::Error::from_raw_os_error(5));
            }
            *calls -= 1;
        }
        let file = &mut inner.files[self.1];
        file.durable.clone_from(&file.written);
        Ok(())
    }
}
