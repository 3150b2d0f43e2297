//! Structured logs: a JSON object on each line of stderr.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// Says what happens.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    /// Whether nothing is said.
    pub quiet: bool,
}

impl Report {
    /// Says that something happened, with these facts.
    pub fn say(self, event: &str, facts: &[(&str, &str)]) {
        if self.quiet {
            return;
        }
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut line = format!(
            "{{\"time\":{:.3},\"event\":{}",
            since.as_secs_f64(),
            quoted(event)
        );
        for (name, value) in facts {
            let _ = write!(line, ",{}:{}", quoted(name), quoted(value));
        }
        line.push_str("}\n");
        // A message that cannot be said is no reason to fail.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
