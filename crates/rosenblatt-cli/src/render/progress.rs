//! A progress bar on a terminal, for anything over a second; never in a pipe.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that shows itself only once the work has taken a second.
pub struct Progress {
    bar: ProgressBar,
    total: u64,
    started: Instant,
    shown: bool,
}

impl Progress {
    /// A hidden bar over `total` steps.
    pub fn new(quiet: bool, total: u64, message: &'static str) -> Self {
        let bar = ProgressBar::hidden();
        bar.set_message(message);
        let shown = quiet || !std::io::stderr().is_terminal(); // never to be shown
        Progress {
            bar,
            total,
            started: Instant::now(),
            shown,
        }
    }

    /// `done` of the steps are done.
    pub fn at(&mut self, done: u64, detail: impl FnOnce() -> String) {
        if !self.shown && self.started.elapsed() > Duration::from_secs(1) {
            self.shown = true;
            self.bar.set_length(self.total);
            self.bar
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
            if let Ok(style) =
                ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta} left")
            {
                self.bar.set_style(style);
            }
        }
        if !self.bar.is_hidden() {
            self.bar.set_position(done);
            self.bar.set_message(detail());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
