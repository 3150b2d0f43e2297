//! Coefficients over a kernel: the dual hypothesis.
//!
//! w = w0 + η Σ a_i c_i y_i φ(x_i), where a_i counts how often example i was corrected. The score
//! is Σ_j α_j K(x_j, x) with α_j = a_j c_j y_j, besides signed start coefficients; an update adds
//! to α_i. There is no bias unless asked for: `lifted` means K + 1. Scores come from a
//! [score cache](super::score_cache).

use super::score_cache::ScoreCache;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::{Decision, DualLog, KernelModel};
use crate::optimisations;
use crate::options::{Bias, Readout};
use crate::readout::{LogEntry, inverse_root};
use crate::scheme::Scheme;
use crate::training::{Hypothesis, Snapshot, Training};

/// Coefficients over a kernel at work on a data set.
pub(crate) struct Dual<'a> {
    data: &'a Dataset,
    scheme: Scheme,
    kernel: Kernel,
    readout: Readout,
    /// What the bias adds to every kernel value.
    constant: f64,
    normalise_weights: bool,
    log: DualLog,
    score_cache: ScoreCache<'a>,
    scores: Vec<f64>,
}

impl<'a> Dual<'a> {
    /// Coefficients at their start, in units of `unit`, or those of a run that is resumed.
    pub(crate) fn new(
        training: &Training<'a>,
        kernel: Kernel,
        start: &[f64],
        unit: f64,
    ) -> Result<Self> {
        let (data, scheme, options) = (training.data, training.scheme, training.options);
        let resume = training.resumed.and_then(|model| match &model.decision {
            Decision::Kernel(kernel) => Some(kernel.log.clone()),
            _ => None,
        });
        kernel.check(data)?;
        let constant = match options.bias() {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            Bias::Unlifted(rho) => match rho {
                Some(rho) => rho * rho,
                None => squared_radius(training, kernel, 0.0),
            },
        };
        let start = starting_coefficients(data, scheme, start)?;
        let fresh = resume.is_none();
        let log = resume.unwrap_or_else(|| {
            let mut log = DualLog::new(scheme, start, unit);
            if options.readout() == Readout::AveragedNormalised || options.normalise_weights {
                log.norms = Some(vec![0.0; scheme.groups()]);
            }
            if matches!(options.readout(), Readout::Random | Readout::Pocket) {
                log.kept = Some(0);
            }
            log
        });
        let score_cache = ScoreCache::new(
            data,
            kernel,
            constant,
            scheme,
            options.order,
            training.resources,
        );
        let mut dual = Dual {
            data,
            scheme,
            kernel,
            readout: options.readout(),
            constant,
            normalise_weights: options.normalise_weights,
            scores: vec![0.0; scheme.discriminators()],
            log,
            score_cache,
        };
        dual.replay();
        if fresh {
            dual.measure_start();
        }
        Ok(dual)
    }

    /// Hands the score cache what the log already holds.
    fn replay(&mut self) {
        for &(row, coefficient) in &self.log.start {
            let entry = LogEntry::new(row, 0, LogEntry::NONE, coefficient);
            self.score_cache
                .push(self.data.position(row as usize), &entry);
        }
        for entry in &self.log.entries {
            self.score_cache
                .push(self.data.position(entry.row as usize), entry);
        }
    }

    /// ‖w0‖² = Σ_j α0_j s(x_j).
    fn measure_start(&mut self) {
        let Some(mut norms) = self.log.norms.take() else {
            return;
        };
        let mut squared = 0.0;
        for k in 0..self.log.start.len() {
            let (row, coefficient) = self.log.start[k];
            self.score_cache
                .scores(self.data.position(row as usize), &mut self.scores);
            squared += coefficient * self.scores[0];
        }
        norms[0] = squared.max(0.0);
        if self.readout == Readout::AveragedNormalised {
            self.log.shares = Some(norms.iter().map(|&n| inverse_root(n)).collect());
        }
        self.log.norms = Some(norms);
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether no start coefficients were given.
    pub(crate) fn starts_at_zero(&self) -> bool {
        self.log.start.is_empty()
    }

    /// ‖φ(x)‖ of an example, what the bias adds included.
    pub(crate) fn length(&self, i: usize) -> f64 {
        self.squared_length(i).sqrt()
    }

    /// The corrections so far: the example, the discriminator that its signed coefficient raised
    /// and the one that it lowered, if any, and the coefficient.
    pub(crate) fn corrections(&self) -> Vec<(usize, (u32, Option<u32>), f64)> {
        let position = |entry: &LogEntry| self.data.position(entry.row as usize);
        let lowered = |e: &LogEntry| (e.lowered != LogEntry::NONE).then_some(e.lowered);
        let entries = self.log.entries.iter();
        entries
            .map(|e| (position(e), (e.raised, lowered(e)), e.coefficient))
            .collect()
    }

    /// Adds an update to the log and tells the score cache.
    fn push(&mut self, i: usize, mut entry: LogEntry) {
        let group = self.scheme.group(entry.raised as usize);
        entry.divisor = self.divisor(group);
        let norms = self.log.norms.as_ref();
        let share = norms.map_or(0.0, |n| inverse_root(n[group]));
        self.score_cache.push(i, &entry);
        self.log.push(self.scheme, entry, share);
    }

    /// What the weights of `group` are divided by after this update.
    fn divisor(&mut self, group: usize) -> f64 {
        match &mut self.log.norms {
            Some(norms) if self.normalise_weights && norms[group] > 0.0 => {
                let norm = norms[group].sqrt();
                norms[group] = 1.0;
                norm
            }
            _ => 1.0,
        }
    }
}

/// max c²(K(x, x) + constant).
pub(crate) fn squared_radius(training: &Training<'_>, kernel: Kernel, constant: f64) -> f64 {
    let data = training.data;
    (0..data.len()).fold(0.0, |r: f64, i| {
        let c = training.sample_weights.of(i, data.labels[i]);
        r.max(c * c * (kernel.of_example(data, i) + constant))
    })
}

/// The signed start coefficients that are not 0.
fn starting_coefficients(data: &Dataset, scheme: Scheme, start: &[f64]) -> Result<Vec<(u32, f64)>> {
    if start.is_empty() {
        return Ok(Vec::new());
    }
    if scheme != Scheme::Binary {
        return Err(Error::options(
            "⟨start-dual⟩ is for two classes learned by one plane",
        ));
    }
    if start.len() != data.len() {
        return Err(Error::options(format!(
            "⟨start-dual⟩: found {} coefficients for {} examples",
            start.len(),
            data.len()
        )));
    }
    Ok(start
        .iter()
        .enumerate()
        .filter(|(_, a)| **a != 0.0)
        .map(|(row, &a)| (row as u32, a))
        .collect())
}

impl Hypothesis for Dual<'_> {
    fn width(&self) -> usize {
        self.scores.len()
    }

    fn unit(&self) -> f64 {
        self.log.unit
    }

    fn look_ahead(&mut self, block: &[u32], _: &[u32]) {
        if let Some(&first) = block.first()
            && optimisations::enabled("lookahead")
        {
            self.score_cache.look_ahead(first as usize);
        }
    }

    #[inline]
    fn scores(&mut self, i: usize) -> &[f64] {
        self.score_cache.scores(i, &mut self.scores);
        &self.scores
    }

    fn squared_length(&self, i: usize) -> f64 {
        self.kernel.of_example(self.data, i) + self.constant
    }

    fn update(&mut self, i: usize, scores: &[f64], changes: &[(u32, f64)]) {
        let own = self.squared_length(i);
        if let Some(norms) = &mut self.log.norms {
            for &(d, a) in changes {
                norms[self.scheme.group(d as usize)] += 2.0 * a * scores[d as usize] + a * a * own;
            }
        }
        let entries = LogEntry::of(self.data.number(i) as u32, self.scheme, changes);
        entries.into_iter().for_each(|entry| self.push(i, entry));
    }

    #[inline]
    fn visited(&mut self, label: u32) {
        let groups = self.scheme.groups_of_class(label);
        groups.for_each(|group| self.log.updates.count(group, 1));
    }

    fn keep_snapshot(&mut self) {
        self.log.kept = Some(self.log.entries.len() as u64);
    }

    /// The signed coefficient of every example, in the order of the file.
    fn vector(&self) -> Vec<f64> {
        let all: Vec<u32> = (0..self.data.len() as u32).collect();
        let by_row = self.log.coefficients(self.scheme, Readout::Last, &all);
        let k = self.scheme.discriminators();
        (0..k)
            .flat_map(|d| by_row.iter().skip(d).step_by(k).copied())
            .collect()
    }
}

impl Snapshot for Dual<'_> {
    /// The log in the model is all the state there is.
    fn decision(&mut self, _: &Dataset, _: Readout) -> Decision {
        Decision::Kernel(Box::new(KernelModel::new(
            self.data,
            self.scheme,
            self.kernel,
            self.constant,
            self.log.clone(),
            self.readout,
        )))
    }
}
