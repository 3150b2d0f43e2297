//! Running a study: the missing cases on all cores, each noted as it ends.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use rosenblatt::{Error, ErrorKind, Result};

use super::run_log::RunLog;
use super::study::{Case, Conclusion, Effort, Row, Study};

/// A study that has been run to its end.
pub struct Finished {
    pub study: &'static Study,
    pub conclusion: Conclusion,
    pub runs: usize,
    /// Runs that the log held already.
    pub found: usize,
}

/// Runs what is missing of a study and concludes. `progress` hears how many of how many runs are
/// done. When `interrupt` becomes true the runs that ended stay in the log and the error says
/// how many they are.
pub fn run(
    study: &'static Study,
    effort: &Effort,
    folder: &Path,
    fresh: bool,
    threads: usize,
    interrupt: &AtomicBool,
    mut progress: impl FnMut(usize, usize),
) -> Result<Finished> {
    let plan = (study.plan)(effort);
    let mut log = RunLog::open(study, folder, fresh)?;
    let missing: Vec<&Case> = plan.iter().filter(|c| log.get(c).is_none()).collect();
    let found = plan.len() - missing.len();
    let mut done = found;
    progress(done, plan.len());
    for_each(&missing, threads, interrupt, study, |case, measures| {
        log.append(case.clone(), measures)?;
        done += 1;
        progress(done, plan.len());
        Ok(())
    })?;
    if done < plan.len() {
        return Err(Error::new(
            ErrorKind::Interrupted,
            format!(
                "interrupted in the study {}: {done} of {} runs are kept in {}",
                study.name,
                plan.len(),
                log.path().display()
            ),
        )
        .remedy("give the same command again to go on"));
    }
    log.rewrite(&plan)?;
    let rows: Vec<Row<'_>> = plan
        .iter()
        .filter_map(|case| {
            Some(Row {
                study,
                settings: case,
                measures: log.get(case)?,
            })
        })
        .collect();
    Ok(Finished {
        study,
        conclusion: (study.conclude)(&rows)?,
        runs: plan.len(),
        found,
    })
}

/// Runs cases on several threads and hands each result to `take` on this one. The first error
/// ends it; an interruption is no error here.
fn for_each(
    cases: &[&Case],
    threads: usize,
    interrupt: &AtomicBool,
    study: &'static Study,
    mut take: impl FnMut(&Case, Vec<f64>) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    let work = |sender: mpsc::Sender<(_, Result<Vec<f64>>)>| {
        while !failed.load(Ordering::Relaxed) && !interrupt.load(Ordering::Relaxed) {
            let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let row = Row {
                study,
                settings: case,
                measures: &[],
            };
            if sender.send((case, (study.run)(&row, interrupt))).is_err() {
                break;
            }
        }
    };
    let work = &work;
    std::thread::scope(|scope| {
        let start = |_: &usize| {
            let sender = sender.clone();
            let worker = std::thread::Builder::new();
            worker.spawn_scoped(scope, move || work(sender)).is_ok()
        };
        // Where the system has no more threads, this one does the work.
        let wanted = threads.clamp(1, cases.len().max(1));
        if (0..wanted).take_while(start).count() == 0 {
            work(sender.clone());
        }
        drop(sender);
        let mut outcome = Ok(());
        for (case, result) in receiver {
            let noted = match result {
                Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
                Err(error) => Err(error),
                Ok(measures) => take(case, measures),
            };
            if outcome.is_ok() && noted.is_err() {
                failed.store(true, Ordering::Relaxed);
                outcome = noted;
            }
        }
        outcome
    })
}
