//! The clock of a check: its limits, the line that says what is being done, and the end of a run
//! that does not hear of a limit in time.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rosenblatt::progress::Stop;
use rosenblatt::proof::{Doing, Limits};

use super::undecided::{Known, report};
use crate::args::CheckArgs;
use crate::commands::context::{Context, interrupt_flag};

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
        interrupt_flag();
        // Without the thread there is no line, and limits are noticed a little later.
        let _ =
            thread::Builder::new().spawn(move || look_after(&shared, deadline, visible, &known));
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

fn look_after(shared: &Shared, deadline: Option<Instant>, visible: bool, known: &Known) {
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
