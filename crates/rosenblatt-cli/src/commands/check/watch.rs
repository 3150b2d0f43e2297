//! The clock of a check: its limits, the line that says what is being done, and the end of a run
//! that does not hear of a limit in time.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rosenblatt::Error;
use rosenblatt::internal::parallel::memory_to_use;
use rosenblatt::progress::Stop;
use rosenblatt::proof::{Doing, Limits};

use super::undecided::{Known, report};
use crate::args::CheckArgs;
use crate::commands::context::{Context, interrupt_flag};
use crate::output;

/// How often the line is drawn and the clock looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What a search has to notice a limit, before the program ends without it.
const GRACE: Duration = Duration::from_millis(600);

/// What the search and the watching thread share.
#[derive(Default)]
struct Shared {
    doing: Mutex<Doing>,
    /// Whether there is a verdict; from then on nothing is undecided.
    settled: AtomicBool,
    done: AtomicBool,
}

impl Shared {
    fn doing(&self) -> Doing {
        let doing = self.doing.lock();
        doing.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Watches a check until it is dropped.
pub(super) struct Watch {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    listener: Box<dyn Fn(&Doing) + Sync>,
}

impl Watch {
    /// Starts the clock.
    pub(super) fn start(context: Context, args: &CheckArgs) -> Watch {
        let shared = Arc::new(Shared::default());
        let seconds = args.time_limit.map(Duration::try_from_secs_f64);
        // So long that it cannot be said is no limit.
        let deadline = seconds.and_then(|seconds| Instant::now().checked_add(seconds.ok()?));
        let told = Arc::clone(&shared);
        let watch = Watch {
            shared: Arc::clone(&shared),
            deadline,
            listener: Box::new(move |doing| {
                *told.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing.clone();
            }),
        };
        let visible = !context.quiet && std::io::stderr().is_terminal();
        let known = Known::of(args);
        // Most of what is free, of which this gives half.
        let memory = args.memory.unwrap_or_else(|| memory_to_use() / 5 * 9);
        interrupt_flag();
        // Without the thread there is no line, and limits are noticed a little later.
        let _ = thread::Builder::new()
            .spawn(move || look_after(&shared, deadline, memory, visible, &known));
        watch
    }

    /// The limits of the search.
    pub(super) fn limits(&self) -> Limits<'_> {
        Limits {
            deadline: self.deadline,
            interrupt: Some(interrupt_flag()),
            listener: Some(&*self.listener),
        }
    }

    /// Says what is being done outside the search.
    pub(super) fn doing(&self, what: &str) {
        let mut doing = self.shared.doing();
        doing.what = what.to_owned();
        (self.listener)(&doing);
    }

    /// The verdict is there.
    pub(super) fn settled(&self) {
        self.shared.settled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::Relaxed);
    }
}

/// Bytes of memory that this process has written to, where the system says so; files that are
/// read where they lie do not count.
fn memory_in_use() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

/// Ends a check that takes more memory than it may: what it asks for next may not be there.
fn out_of_memory(shared: &Shared, limit: u64) -> ! {
    let decided = match shared.settled.load(Ordering::Relaxed) {
        true => "; the verdict was found, and --verdict-only asks for no more",
        false => "",
    };
    let error = Error::data(format!(
        "the check takes more than {} MiB of memory ({}){decided}",
        limit >> 20,
        shared.doing().what,
    ))
    .remedy("check fewer rows or columns, or raise the limit (--memory)");
    std::process::exit(i32::from(output::exit(Err(error.into()))))
}

fn look_after(
    shared: &Shared,
    deadline: Option<Instant>,
    memory: u64,
    visible: bool,
    known: &Known,
) {
    let started = Instant::now();
    let bar = ProgressBar::hidden();
    let mut shown = false;
    let mut interrupted: Option<Instant> = None;
    loop {
        thread::sleep(LOOK);
        if shared.done.load(Ordering::Relaxed) {
            break;
        }
        if visible && !shown && started.elapsed() > Duration::from_secs(1) {
            shown = true;
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
        }
        if shown {
            bar.set_message(line(&shared.doing(), started.elapsed()));
            bar.tick();
        }
        if memory_in_use().is_some_and(|bytes| bytes > memory) {
            bar.finish_and_clear();
            out_of_memory(shared, memory);
        }
        let now = Instant::now();
        if interrupt_flag().load(Ordering::Relaxed) {
            interrupted.get_or_insert(now);
        }
        let overdue = |since: Option<Instant>| since.is_some_and(|since| now > since + GRACE);
        let stop = match (overdue(interrupted), overdue(deadline)) {
            (true, _) => Stop::Interrupted,
            (_, true) => Stop::TimeLimit,
            _ => continue,
        };
        if shared.settled.load(Ordering::Relaxed) {
            // The rest is cut short where it is.
            continue;
        }
        bar.finish_and_clear();
        let doing = shared.doing();
        let ended = report(
            known,
            stop,
            doing.refuted,
            doing.fewest_misclassified,
            &[],
            None,
        );
        std::process::exit(if ended.is_ok() && stop == Stop::TimeLimit {
            4
        } else {
            130
        });
    }
    bar.finish_and_clear();
}

/// What is being done and how far it came.
fn line(doing: &Doing, spent: Duration) -> String {
    let mut line = format!("{} s  {}", spent.as_secs(), doing.what);
    if doing.refuted {
        line.push_str("; not separable");
    }
    if let Some(rows) = doing.fewest_misclassified {
        line.push_str(&format!("; at best {rows} rows misclassified"));
    }
    line
}
