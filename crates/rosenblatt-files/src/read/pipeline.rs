//! Parses chunks on all threads and hands the results over in the order of the file.
//!
//! A worker fetches the next chunk, parses it and sends the result. It needs a permit for each
//! chunk, and whoever takes a result gives one back: so nobody runs more than a few chunks ahead
//! of the one awaited, and memory stays bounded.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::chunk::{Chunk, Chunker};
use rosenblatt_core::{Error, Result};

/// A chunk's number and what came of it; nothing where there are no others.
type Parsed<T> = (usize, Result<Option<T>>);

/// The results of parsing each chunk, in order.
pub(crate) enum InOrder<T> {
    /// One thread: parse when asked.
    Here {
        chunker: Chunker,
        chunk: Chunk,
        parse: Box<dyn Fn(&Chunk) -> T + Send + Sync>,
        ended: bool,
    },
    /// Several threads.
    Threads {
        permits: Sender<()>,
        results: Receiver<Parsed<T>>,
        early: BTreeMap<usize, Result<Option<T>>>,
        next: usize,
        ended: bool,
    },
}

/// Chunks that each thread may be ahead.
const AHEAD: usize = 2;

impl<T: Send + 'static> InOrder<T> {
    pub(crate) fn new(
        chunker: Chunker,
        threads: usize,
        parse: impl Fn(&Chunk) -> T + Send + Sync + 'static,
    ) -> Self {
        if threads <= 1 {
            return InOrder::Here {
                chunker,
                chunk: Chunk::default(),
                parse: Box::new(parse),
                ended: false,
            };
        }
        let (permits, permitted) = channel();
        let (send, results) = channel();
        let shared = Arc::new((Mutex::new((chunker, permitted)), parse));
        let start = |_: &usize| {
            let (shared, send) = (shared.clone(), send.clone());
            let worker = move || work(&shared.0, &shared.1, &send);
            std::thread::Builder::new().spawn(worker).is_ok()
        };
        // Where the system has no more threads, those that there are do the work.
        let started = (0..threads).take_while(start).count();
        if started == 0
            && let Some((chunks, parse)) = Arc::into_inner(shared)
        {
            let chunks = chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
            return Self::new(chunks.0, 1, parse);
        }
        for _ in 0..started * AHEAD {
            // The receiver is still here.
            let _ = permits.send(());
        }
        InOrder::Threads {
            permits,
            results,
            early: BTreeMap::new(),
            next: 0,
            ended: false,
        }
    }
}

/// Parses chunks until there are none left or nobody wants them.
fn work<T>(
    chunks: &Mutex<(Chunker, Receiver<()>)>,
    parse: &impl Fn(&Chunk) -> T,
    send: &Sender<Parsed<T>>,
) {
    let mut chunk = Chunk::default();
    loop {
        let fetched = {
            let mut chunks = chunks.lock().unwrap_or_else(PoisonError::into_inner);
            if chunks.1.recv().is_err() {
                return;
            }
            chunks.0.next_into(&mut chunk)
        };
        let result = match fetched {
            Ok(true) => catch_unwind(AssertUnwindSafe(|| Some(parse(&chunk)))).map_err(|_| {
                Error::data("a reading thread failed")
                    .remedy("this is a fault of the program; please report it")
            }),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        let last = !matches!(result, Ok(Some(_)));
        if send.send((chunk.index, result)).is_err() || last {
            return;
        }
    }
}

impl<T> Iterator for InOrder<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        let (result, ended) = match self {
            InOrder::Here { ended: true, .. } | InOrder::Threads { ended: true, .. } => {
                return None;
            }
            InOrder::Here {
                chunker,
                chunk,
                parse,
                ended,
            } => {
                let fetched = chunker.next_into(chunk);
                (fetched.map(|more| more.then(|| parse(chunk))), ended)
            }
            InOrder::Threads {
                permits,
                results,
                early,
                next,
                ended,
            } => {
                let result = loop {
                    if let Some(result) = early.remove(next) {
                        break result;
                    }
                    early.extend([results.recv().ok()?]);
                };
                *next += 1;
                // Where nobody is left to be permitted, nothing more is needed.
                let _ = permits.send(());
                (result, ended)
            }
        };
        *ended = !matches!(result, Ok(Some(_)));
        result.transpose()
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
