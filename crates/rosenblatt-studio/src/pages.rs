//! What the server knows of each page: its data, its runs, what was asked of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rosenblatt::Result;

use crate::check::Checked;
use crate::data::Data;
use crate::guard::new_token;
use crate::run::{Run, held};

/// Pages at a time; the one that asked least recently goes first.
const MOST_PAGES: usize = 8;
/// Bytes of all pages together, above which others than the latest go.
const MOST_BYTES: usize = 2 << 30;
/// How long a page that asks nothing is remembered.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The pages.
#[derive(Default)]
pub struct Pages(Mutex<HashMap<String, Page>>);

/// A page.
struct Page {
    data: Arc<Data>,
    /// Two settings on the same data.
    runs: [Option<Arc<Run>>; 2],
    checked: Option<Arc<Checked>>,
    asked: Instant,
}

impl Page {
    fn stop(&self) {
        self.runs.iter().flatten().for_each(|run| run.stop());
    }

    fn bytes(&self) -> usize {
        let runs = self.runs.iter().flatten();
        self.data.bytes() + runs.map(|run| run.bytes()).sum::<usize>()
    }
}

impl Pages {
    /// Gives a page these data, in place of any it had; a new page if it is not known.
    pub fn put(&self, page: Option<&str>, data: Arc<Data>) -> Result<String> {
        let mut pages = held(&self.0);
        let name = match page.filter(|name| pages.contains_key(*name)) {
            Some(name) => name.to_owned(),
            None => new_token()?[..16].to_owned(),
        };
        let new = Page {
            data,
            runs: [None, None],
            checked: None,
            asked: Instant::now(),
        };
        if let Some(old) = pages.insert(name.clone(), new) {
            old.stop();
        }
        forget_others(&mut pages, &name);
        Ok(name)
    }

    /// The data of a page.
    pub fn data(&self, page: &str) -> Option<Arc<Data>> {
        self.with(page, |page| page.data.clone())
    }

    /// A run of a page.
    pub fn run(&self, page: &str, slot: usize) -> Option<Arc<Run>> {
        self.with(page, |page| page.runs[slot].clone()).flatten()
    }

    /// Puts a run in place of another, or none.
    pub fn set_run(&self, page: &str, slot: usize, run: Option<Arc<Run>>) {
        self.with(page, |page| {
            if let Some(old) = std::mem::replace(&mut page.runs[slot], run) {
                old.stop();
            }
        });
    }

    /// What was found out of the data of a page.
    pub fn checked(&self, page: &str) -> Option<Arc<Checked>> {
        self.with(page, |page| page.checked.clone()).flatten()
    }

    /// Keeps what was found out of these data, if the page still has them.
    pub fn set_checked(&self, page: &str, data: &Arc<Data>, checked: Arc<Checked>) {
        self.with(page, |page| {
            if Arc::ptr_eq(&page.data, data) {
                page.checked = Some(checked);
            }
        });
    }

    /// Ends every run.
    pub fn stop(&self) {
        held(&self.0).values().for_each(Page::stop);
    }

    fn with<T>(&self, page: &str, f: impl FnOnce(&mut Page) -> T) -> Option<T> {
        let mut pages = held(&self.0);
        let page = pages.get_mut(page)?;
        page.asked = Instant::now();
        Some(f(page))
    }
}

/// Makes room: pages that ask nothing any more go, and the least recent of too many.
fn forget_others(pages: &mut HashMap<String, Page>, latest: &str) {
    pages.retain(|name, page| {
        let kept = name == latest || page.asked.elapsed() < IDLE;
        if !kept {
            page.stop();
        }
        kept
    });
    loop {
        let bytes: usize = pages.values().map(Page::bytes).sum();
        if pages.len() <= MOST_PAGES && bytes <= MOST_BYTES {
            return;
        }
        let others = pages.iter().filter(|(name, _)| *name != latest);
        let oldest = others.min_by_key(|(_, page)| page.asked);
        let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
            return;
        };
        if let Some(page) = pages.remove(&oldest) {
            page.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Reading, points};

    fn data() -> Arc<Data> {
        let file = points(&[(0.0, 0.0, 0), (1.0, 1.0, 1)]).unwrap();
        Arc::new(Data::read(file, Reading::default(), 1).unwrap())
    }

    #[test]
    fn the_page_that_asked_least_recently_is_forgotten() {
        let pages = Pages::default();
        let first = pages.put(None, data()).unwrap();
        let second = pages.put(None, data()).unwrap();
        for _ in 2..MOST_PAGES {
            pages.put(None, data()).unwrap();
        }
        assert!(pages.data(&first).is_some());
        pages.put(None, data()).unwrap();
        assert!(pages.data(&second).is_none());
        assert!(pages.data(&first).is_some());
        assert_eq!(pages.put(Some(&first), data()).unwrap(), first);
    }
}
