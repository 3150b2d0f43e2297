//! Parses chunks on all threads and hands the results over in the order of the file.
//!
//! Each worker fetches the next chunk itself, parses it and sends the result. The one who asks
//! for results is a worker as well while the result it needs is not there: nobody has to be woken
//! for every chunk. Nobody runs more than a few chunks ahead of the one awaited, so memory stays
//! bounded.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::chunk::{Chunk, Chunker};
use rosenblatt_core::{Error, Result};

type Parse<T> = dyn Fn(&Chunk) -> T + Send + Sync;

/// The results of parsing each chunk, in order.
pub(crate) enum InOrder<T> {
    /// One thread: parse when asked.
    Here {
        chunker: Chunker,
        chunk: Chunk,
        parse: Box<Parse<T>>,
        ended: bool,
    },
    /// Several threads.
    Threads(Gathering<T>),
}

/// Results as they come in.
pub(crate) struct Gathering<T> {
    shared: Arc<Shared<T>>,
    results: Receiver<(usize, Result<T>)>,
    early: BTreeMap<usize, Result<T>>,
    next: usize,
    /// What the asking thread parses.
    chunk: Chunk,
    workers: Vec<JoinHandle<()>>,
    ended: bool,
}

struct Shared<T> {
    chunker: Mutex<Chunker>,
    progress: Mutex<Progress>,
    moved: Condvar,
    parse: Box<Parse<T>>,
    window: usize,
}

#[derive(Default)]
struct Progress {
    fetched: usize,
    taken: usize,
    /// Workers that wait until a result is taken.
    waiting: usize,
    stop: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Send + 'static> InOrder<T> {
    pub(crate) fn new(
        chunker: Chunker,
        threads: usize,
        parse: impl Fn(&Chunk) -> T + Send + Sync + 'static,
    ) -> Self {
        let parse = Box::new(parse);
        if threads <= 1 {
            return InOrder::Here {
                chunker,
                chunk: Chunk::default(),
                parse,
                ended: false,
            };
        }
        let shared = Arc::new(Shared {
            chunker: Mutex::new(chunker),
            progress: Mutex::default(),
            moved: Condvar::new(),
            parse,
            window: 2 * threads,
        });
        let (send, results) = channel();
        let workers = (1..threads)
            .map(|_| {
                let (shared, send) = (shared.clone(), send.clone());
                std::thread::spawn(move || work(&shared, &send))
            })
            .collect();
        InOrder::Threads(Gathering {
            shared,
            results,
            early: BTreeMap::new(),
            next: 0,
            chunk: Chunk::default(),
            workers,
            ended: false,
        })
    }
}

impl<T> Shared<T> {
    /// Fetches the next chunk and parses it; `None` when there are no others.
    fn parse_next(&self, chunk: &mut Chunk) -> Option<(usize, Result<T>)> {
        let fetched = lock(&self.chunker).next_into(chunk);
        let result = match fetched {
            Ok(false) => return None,
            Ok(true) => Ok((self.parse)(chunk)),
            Err(error) => Err(error),
        };
        Some((chunk.index, result))
    }
}

/// Stops the others should a worker panic, so that nobody waits for its chunk.
struct StopOnPanic<'a, T>(&'a Shared<T>);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.progress).stop = true;
            self.0.moved.notify_all();
        }
    }
}

fn work<T>(shared: &Shared<T>, send: &Sender<(usize, Result<T>)>) {
    let _guard = StopOnPanic(shared);
    let mut chunk = Chunk::default();
    loop {
        {
            let mut progress = lock(&shared.progress);
            while progress.fetched >= progress.taken + shared.window && !progress.stop {
                progress.waiting += 1;
                progress = shared
                    .moved
                    .wait(progress)
                    .unwrap_or_else(PoisonError::into_inner);
                progress.waiting -= 1;
            }
            if progress.stop {
                return;
            }
            progress.fetched += 1;
        }
        let Some((index, result)) = shared.parse_next(&mut chunk) else {
            return;
        };
        let failed = result.is_err();
        if send.send((index, result)).is_err() || failed {
            return;
        }
    }
}

impl<T> Iterator for InOrder<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        match self {
            InOrder::Here {
                chunker,
                chunk,
                parse,
                ended,
            } => {
                if *ended {
                    return None;
                }
                match chunker.next_into(chunk) {
                    Ok(true) => Some(Ok(parse(chunk))),
                    Ok(false) => {
                        *ended = true;
                        None
                    }
                    Err(error) => {
                        *ended = true;
                        Some(Err(error))
                    }
                }
            }
            InOrder::Threads(gathering) => gathering.next(),
        }
    }
}

impl<T> Gathering<T> {
    fn next(&mut self) -> Option<Result<T>> {
        if self.ended {
            return None;
        }
        loop {
            self.early.extend(self.results.try_iter());
            if let Some(result) = self.early.remove(&self.next) {
                self.next += 1;
                self.took();
                self.ended = result.is_err();
                return Some(result);
            }
            if self.may_fetch()
                && let Some((index, result)) = self.shared.parse_next(&mut self.chunk)
            {
                self.early.insert(index, result);
                continue;
            }
            // Everything is fetched, or as much as may be: the one awaited is being parsed.
            match self.results.recv() {
                Ok((index, result)) => {
                    self.early.insert(index, result);
                }
                Err(_) if self.early.contains_key(&self.next) => {}
                Err(_) => {
                    // All workers are gone: the end, unless one of them died.
                    self.ended = true;
                    let died = lock(&self.shared.progress).stop || !self.early.is_empty();
                    return died.then(|| {
                        Err(Error::data("a reading thread failed")
                            .remedy("this is a fault of the program; please report it"))
                    });
                }
            }
        }
    }

    /// Lets the workers go on to chunks farther ahead.
    fn took(&self) {
        let mut progress = lock(&self.shared.progress);
        progress.taken = self.next;
        if progress.waiting > 0 {
            self.shared.moved.notify_all();
        }
    }

    /// Whether the asking thread may fetch a chunk.
    fn may_fetch(&self) -> bool {
        let mut progress = lock(&self.shared.progress);
        let may = progress.fetched < progress.taken + self.shared.window && !progress.stop;
        progress.fetched += usize::from(may);
        may
    }
}

impl<T> Drop for Gathering<T> {
    fn drop(&mut self) {
        lock(&self.shared.progress).stop = true;
        self.shared.moved.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunk::Cut;
    use super::super::source::Reader;
    use super::*;
    use std::path::Path;

    fn chunker(lines: usize) -> Chunker {
        let text: String = (0..lines).map(|i| format!("{i}\n")).collect();
        let reader: Reader = Box::new(std::io::Cursor::new(text.into_bytes()));
        Chunker::new(reader, Path::new("t"), 16, Cut::Lines)
    }

    #[test]
    fn results_come_in_file_order_with_any_number_of_threads() {
        let expected: String = (0..2000).map(|i| format!("{i}\n")).collect();
        for threads in [1, 2, 7] {
            let parts: Vec<String> = InOrder::new(chunker(2000), threads, |c| {
                String::from_utf8(c.data().to_vec()).unwrap()
            })
            .map(|p| p.unwrap())
            .collect();
            assert!(parts.len() > 100);
            assert_eq!(parts.concat(), expected);
        }
    }

    #[test]
    fn stopping_early_and_dying_workers_do_not_hang() {
        let mut some = InOrder::new(chunker(5000), 3, |c| c.len());
        assert!(some.next().is_some());
        drop(some);
        let dying = InOrder::new(chunker(50), 2, |c| {
            assert!(c.index < 3, "this panic is part of the test");
            c.len()
        });
        // It is the asking thread's own panic if that one met the chunk.
        let last = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dying.last()));
        assert!(last.is_err() || last.is_ok_and(|last| last.is_some_and(|last| last.is_err())));
    }
}
