//! The log of a model's learning, its snapshots, and recovery from both.
//!
//! A folder holds segments `00000002.log`, and the snapshot `00000002-1234.rbm` of the model as it
//! was where segment 2 begins, after 1,234 examples. A segment is begun whenever a snapshot is to
//! be made; once the snapshot is durable, everything older is removed.

use std::io;
use std::sync::Arc;

use rosenblatt::model::Model;
use rosenblatt::{Error, OnlineLearner, Result};

use super::state::State;
use crate::log::codec::Entry;
use crate::log::files::{Appended, Files, remove_unfinished, write_whole};
use crate::log::segment::{self, HEADER, Header, Record};

/// The log that is being written.
pub struct Journal {
    files: Arc<dyn Files>,
    base: [u8; 32],
    number: u64,
    file: Box<dyn Appended>,
    /// Bytes of the segment, and those of them that are synced.
    written: u64,
    durable: u64,
    /// Bytes that the segment began with.
    begun_with: u64,
}

fn log_name(number: u64) -> String {
    format!("{number:08}.log")
}

fn snapshot_name(number: u64, sequence: u64) -> String {
    format!("{number:08}-{sequence}.rbm")
}

/// The number of a segment by its name.
fn log_number(name: &str) -> Option<u64> {
    name.strip_suffix(".log")?.parse().ok()
}

/// The number of the segment that a snapshot belongs to, and its sequence.
fn snapshot_number(name: &str) -> Option<(u64, u64)> {
    let (number, sequence) = name.strip_suffix(".rbm")?.split_once('-')?;
    Some((number.parse().ok()?, sequence.parse().ok()?))
}

fn failed(error: &io::Error) -> Error {
    Error::io("the log", error)
}

/// What recovery found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Examples learned again.
    pub replayed: u64,
    /// Bytes of a torn tail that were cut off.
    pub cut: u64,
}

impl Journal {
    /// Opens the log in a folder, and learns again what it holds. A new log begins with `model`.
    ///
    /// # Errors
    /// If the log is another model's, or damaged where it had been synced.
    pub fn open(
        files: Arc<dyn Files>,
        base: [u8; 32],
        model: impl FnOnce() -> Result<Model>,
    ) -> Result<(Self, State, Recovery)> {
        remove_unfinished(&*files).map_err(|e| failed(&e))?;
        let names = files.list().map_err(|e| failed(&e))?;
        let mut logs: Vec<u64> = names.iter().filter_map(|n| log_number(n)).collect();
        logs.sort_unstable();
        let newest = names.iter().filter_map(|n| snapshot_number(n)).max();
        let Some((number, sequence)) = newest else {
            return Self::begin(files, base, &logs, model()?);
        };
        let name = snapshot_name(number, sequence);
        let bytes = files.read(&name).map_err(|e| failed(&e))?;
        let model = Model::from_bytes(&bytes).map_err(|e| e.in_file(&name))?;
        let mut state = State::new(OnlineLearner::resume(model)?, sequence);
        let (mut recovery, mut open) = (Recovery::default(), None);
        let used: Vec<u64> = logs.iter().copied().filter(|&n| n >= number).collect();
        for (i, &found) in used.iter().enumerate() {
            if found != number + i as u64 {
                return Err(missing(number + i as u64));
            }
            let last = i + 1 == used.len();
            let bytes = files.read(&log_name(found)).map_err(|e| failed(&e))?;
            let end = replay(&bytes, (found, last), base, &mut state, &mut recovery)?;
            recovery.cut += bytes.len() as u64 - end;
            open = Some((found, end));
        }
        let (number, end) = open.ok_or_else(|| missing(number))?;
        let journal = Journal {
            file: files.open(&log_name(number), end).map_err(|e| failed(&e))?,
            base,
            number,
            written: end,
            durable: 0,
            begun_with: HEADER as u64,
            files,
        };
        let mut journal = journal;
        // What a process wrote and never synced is in no disk yet.
        journal.sync().map_err(|e| failed(&e))?;
        journal.remove_older(newest.map_or(0, |(number, _)| number));
        Ok((journal, state, recovery))
    }

    /// A new log. A segment without a snapshot is left of a beginning that was cut short.
    fn begin(
        files: Arc<dyn Files>,
        base: [u8; 32],
        logs: &[u64],
        model: Model,
    ) -> Result<(Self, State, Recovery)> {
        for &number in logs {
            let bytes = files.read(&log_name(number)).map_err(|e| failed(&e))?;
            if number != 1 || bytes.len() != HEADER {
                return Err(
                    Error::data("the log has segments and no snapshot to begin with")
                        .remedy("put the snapshot back, or name another ⟨log⟩ folder"),
                );
            }
        }
        let state = State::new(OnlineLearner::new(model)?, 0);
        let (file, written) = begin_segment(&*files, 1, base, &state).map_err(|e| failed(&e))?;
        let bytes = state.learner.model().to_bytes()?;
        write_whole(&*files, &snapshot_name(1, 0), &bytes).map_err(|e| failed(&e))?;
        let journal = Journal {
            file,
            files,
            base,
            number: 1,
            written,
            durable: written,
            begun_with: written,
        };
        Ok((journal, state, Recovery::default()))
    }

    /// Writes entries; they are durable after the next [`sync`](Self::sync).
    pub fn append(&mut self, mut sequence: u64, entries: &[Entry]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for entry in entries {
            record(entry, sequence, self.durable, &mut bytes);
            if let Entry::Learned(examples) = entry {
                sequence += examples.labels.len() as u64;
            }
        }
        self.file.append(&bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Makes durable what was written.
    pub fn sync(&mut self) -> io::Result<()> {
        if self.durable < self.written {
            self.file.sync()?;
            self.durable = self.written;
        }
        Ok(())
    }

    /// Bytes written since the segment was begun.
    pub fn grown(&self) -> u64 {
        self.written - self.begun_with
    }

    /// Whether there is anything that is not synced.
    pub fn is_durable(&self) -> bool {
        self.durable == self.written
    }

    /// Begins a new segment at the state as it is, and gives the work that is left: to save the
    /// snapshot there and remove what is older.
    pub fn rotate(&mut self, state: &State) -> io::Result<Snapshot> {
        self.sync()?;
        let next = self.number + 1;
        let (file, written) = begin_segment(&*self.files, next, self.base, state)?;
        self.file = file;
        self.number = next;
        self.written = written;
        self.durable = written;
        self.begun_with = written;
        Ok(Snapshot {
            files: self.files.clone(),
            number: next,
            sequence: state.sequence,
            model: state.learner.model().clone(),
        })
    }

    fn remove_older(&self, number: u64) {
        remove_older(&*self.files, number);
    }
}

/// A segment of the log is not there.
fn missing(number: u64) -> Error {
    Error::data(format!("the log lacks its segment {}", log_name(number)))
        .remedy("put it back, or name another ⟨log⟩ folder to begin a new log")
}

/// A snapshot to be saved.
pub struct Snapshot {
    files: Arc<dyn Files>,
    number: u64,
    /// How many examples the model has learned from the log.
    pub sequence: u64,
    model: Model,
}

impl Snapshot {
    /// Saves it, and removes what is older once it is durable.
    ///
    /// # Errors
    /// If it cannot be written; the log then keeps all that it needs.
    pub fn save(&self) -> Result<String> {
        let bytes = self.model.to_bytes()?;
        let name = snapshot_name(self.number, self.sequence);
        write_whole(&*self.files, &name, &bytes).map_err(|e| failed(&e))?;
        remove_older(&*self.files, self.number);
        Ok(name)
    }
}

/// Removes snapshots and segments that nothing needs any more. What cannot be removed now is
/// removed the next time.
fn remove_older(files: &dyn Files, number: u64) {
    for name in files.list().unwrap_or_default() {
        let own = log_number(&name).or(snapshot_number(&name).map(|(n, _)| n));
        if own.is_some_and(|own| own < number) {
            let _ = files.remove(&name);
        }
    }
}

/// Makes a segment that begins with all that is remembered; gives its file and its length.
fn begin_segment(
    files: &dyn Files,
    number: u64,
    base: [u8; 32],
    state: &State,
) -> io::Result<(Box<dyn Appended>, u64)> {
    let mut prelude = Vec::new();
    for entry in state.remembered() {
        record(&entry, state.sequence, 0, &mut prelude);
    }
    let header = Header {
        base,
        sequence: state.sequence,
        prelude: prelude.len() as u64,
    };
    let bytes = [header.to_bytes(), prelude].concat();
    let name = log_name(number);
    write_whole(files, &name, &bytes)?;
    Ok((files.open(&name, bytes.len() as u64)?, bytes.len() as u64))
}

fn record(entry: &Entry, sequence: u64, durable: u64, to: &mut Vec<u8>) {
    Record {
        sequence,
        durable,
        payload: &entry.to_bytes(),
    }
    .write(to);
}

/// Rows that are learned in one go.
const ROWS: u64 = 4096;

/// Takes in what a segment holds; gives where its sound records end.
fn replay(
    bytes: &[u8],
    (number, last): (u64, bool),
    base: [u8; 32],
    state: &mut State,
    recovery: &mut Recovery,
) -> Result<u64> {
    let name = log_name(number);
    let damaged = |at: u64, what: &str| {
        Error::data(format!("byte {at}: {what}"))
            .in_file(&name)
            .remedy("the log is damaged: restore it from a copy, or name another ⟨log⟩ folder")
    };
    let segment = segment::read(bytes, last).map_err(|d| damaged(d.at, d.what))?;
    if segment.header.base != base {
        return Err(Error::data("the log was begun with another model file")
            .in_file(&name)
            .remedy("serve the model that it was begun with, or name another ⟨log⟩ folder"));
    }
    let mut at = HEADER as u64;
    if segment.header.sequence != state.sequence {
        return Err(damaged(0, "it does not go on where the one before it ends"));
    }
    let (mut entries, mut rows) = (Vec::new(), 0);
    for record in &segment.records {
        let entry = Entry::of(record.payload).filter(|_| record.sequence == state.sequence + rows);
        let Some(entry) = entry else {
            return Err(damaged(
                at,
                "a record does not go on where the one before it ends",
            ));
        };
        at += (segment::RECORD + record.payload.len()) as u64;
        if let Entry::Learned(examples) = &entry {
            rows += examples.labels.len() as u64;
        }
        entries.push(entry);
        if rows >= ROWS {
            state.take(&entries, false).map_err(|e| e.in_file(&name))?;
            recovery.replayed += std::mem::take(&mut rows);
            entries.clear();
        }
    }
    state.take(&entries, false).map_err(|e| e.in_file(&name))?;
    recovery.replayed += rows;
    Ok(segment.end)
}
