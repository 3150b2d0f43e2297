//! The verdict and its witness.
//!
//! *Rule.* Round by round: if the rows are separable (modulo what has been found), done. If
//! not, Gordan's theorem (1873) gives λ ≥ 0 with Σ λ_i z_i = 0; every w with w·z ≥ 0
//! everywhere is then orthogonal to the rows with λ_i > 0. Their span is divided out, the
//! rows inside it are set aside, and the rest is asked again (facial reduction; Borwein &
//! Wolkowicz, 1981). In the end every row lies in the span — the data *overlap* — or the
//! rows outside are separated strictly — *quasi-separable*, with every row that can be
//! separated named.
//!
//! *Guarantee.* The verdict never rests on rounding; there is no "unknown". λ has at most
//! rank + 1 rows for each round and at most 2·rank in all (Steinitz, 1913).
//!
//! *Reference.* Albert & Anderson (1984) for what the three cases mean to a logistic
//! regression.

use std::collections::{BTreeMap, HashMap};

use dashu_int::IBig;

use super::echelon::Echelon;
use super::exact_walk::RoundOutcome;
use super::face::Face;
use super::limits::{Doing, Limits, OrStopped, Stopped, Undecided};
use super::modulo::Residues;
use super::number::{is_negative, reduce};
use super::passes::{ExactWeights, Scales};
use super::peel::{Core, Peeled, peel};
use super::round::{FEW, Search};
use super::rows::SignedRows;
use super::verdict::{MOST_NULL_VECTORS, Multipliers, ProvedVerdict, Witness};
use rosenblatt_core::internal::random::{Random, Stream};
use rosenblatt_core::internal::{NearestPoint, can_allocate};
use rosenblatt_core::{Error, Result};

/// Decides whether the rows are separable, quasi-separable or overlapping, with proof.
/// `threads` changes the time taken, never the verdict.
pub fn decide(rows: &dyn SignedRows, threads: usize) -> Result<ProvedVerdict> {
    let limits = Limits::default();
    match Decision::new(rows, threads, &limits)? {
        Ok(decision) => Ok(decision.proved),
        // There is no limit.
        Err(undecided) => Err(Error::data(undecided.stop.to_string())),
    }
}

/// A decision made within limits, from which more can be asked about the same rows.
pub struct Decision<'a> {
    pub(crate) state: State<'a>,
    /// Weights that separate the rows outside the face, if there are any.
    pub(crate) separated: Option<ExactWeights>,
    /// The verdict and its witness.
    pub proved: ProvedVerdict,
}

impl std::fmt::Debug for Decision<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Decision").field(&self.proved).finish()
    }
}

impl<'a> Decision<'a> {
    /// Decides, or says what is known when a limit ends the search.
    pub fn new(
        rows: &'a dyn SignedRows,
        threads: usize,
        limits: &'a Limits<'a>,
    ) -> Result<std::result::Result<Self, Undecided>> {
        let mut state = State::new(rows, threads, limits)?;
        let decided = state.run().and_then(|separated| {
            let proved = state.decision(separated.as_ref())?;
            Ok((separated, proved))
        });
        Ok(match decided {
            Ok((separated, proved)) => Ok(Decision {
                state,
                separated,
                proved: proved?,
            }),
            Err(Stopped(stop)) => Err(Undecided {
                stop,
                refutation: state.refutation,
                fewest_misclassified: state.doing.fewest_misclassified,
            }),
        })
    }
}

/// From here on, what signs and equal rows settle comes first: a round costs more.
const MANY: usize = 256;

/// From here on, vectors as long as there are features are kept to the few that must be.
pub(crate) const WIDE: usize = 1000;

/// What a decision leaves behind, for questions that go on from it.
pub(crate) struct State<'a> {
    pub(crate) rows: &'a dyn SignedRows,
    pub(crate) scales: Scales,
    pub(crate) residues: Residues,
    pub(crate) face: Face,
    lambda: BTreeMap<usize, IBig>,
    refutation: Multipliers,
    /// What is orthogonal to all rows, once the face is known to hold them all.
    pub(crate) null_vectors: Option<Vec<ExactWeights>>,
    pub(crate) hints: Vec<usize>,
    pub(crate) limits: &'a Limits<'a>,
    doing: Doing,
}

impl<'a> State<'a> {
    pub(crate) fn new(
        rows: &'a dyn SignedRows,
        threads: usize,
        limits: &'a Limits<'a>,
    ) -> Result<Self> {
        if rows.groups() == 0 {
            return Err(Error::data("there are no rows to decide about"));
        }
        if rows.dimension() == 0 {
            return Err(Error::data(
                "there are no features and no bias to decide with",
            ));
        }
        /// Numbers for each feature that are held at a time, about.
        const HELD: usize = 8;
        if !can_allocate(rows.dimension().saturating_mul(HELD * size_of::<f64>())) {
            return Err(Error::data(format!(
                "there is not enough memory to decide over {} features",
                rows.dimension()
            ))
            .remedy("renumber the features: the largest index says how many there are"));
        }
        let scales = Scales::new(rows, threads);
        let echelon = match rows.dimension() >= MANY && rows.terms() < rows.dimension() {
            true => Echelon::with_counts(scales.column_counts(rows)),
            false => Echelon::default(),
        };
        Ok(State {
            rows,
            scales,
            residues: Residues::new(rows.notation().radix()),
            face: Face {
                inside: vec![false; rows.limit()],
                echelon,
                ..Face::default()
            },
            lambda: BTreeMap::new(),
            refutation: Vec::new(),
            null_vectors: None,
            hints: Vec::new(),
            limits,
            doing: Doing::default(),
        })
    }

    /// Reduces until the rows outside the face are separated, strictly; `None` if no row is
    /// left outside.
    pub(crate) fn run(&mut self) -> OrStopped<Option<ExactWeights>> {
        let sparse = self.rows.terms() < self.rows.dimension();
        if self.rows.dimension() >= MANY && sparse && self.rows.has_single_rows() {
            self.tell("signs of the columns");
            let peeled = peel(self.rows, self.limits)?;
            if 2 * peeled.core.len() <= self.rows.groups() {
                let separated = self.run_core(&peeled)?;
                let proved = match &separated {
                    None => true,
                    Some(w) => (self.scales.refutes(self.rows, w, &self.face.inside)).is_none(),
                };
                if proved {
                    return Ok(separated);
                }
                // Numbers too far apart for the weights of the levels: without them, then.
                self.forget();
            }
        }
        if self.rows.dimension() >= WIDE {
            self.tell("equal rows of both classes");
            if self.all_opposite() {
                return Ok(None);
            }
        }
        self.rounds()
    }

    /// Decides about a core, and what that says of all rows.
    fn run_core(&mut self, peeled: &Peeled) -> OrStopped<Option<ExactWeights>> {
        let radix = self.rows.notation().radix();
        let core = Core::new(self.rows, peeled.core.clone());
        let mut weights = vec![IBig::ZERO; self.rows.dimension()];
        let mut separated = !peeled.is_empty();
        if core.columns.is_empty() {
            self.set_zero_rows_aside();
        } else {
            // A core has rows and columns, and the memory for all columns was there.
            let Ok(mut inner) = State::new(&core, self.scales.threads, self.limits) else {
                return self.rounds();
            };
            inner.doing = std::mem::take(&mut self.doing);
            let found = inner.rounds();
            let lambda = |(row, weight): (usize, IBig)| (core.members[row], weight);
            self.refutation = inner.refutation.into_iter().map(lambda).collect();
            self.doing = inner.doing;
            self.lambda = inner.lambda.into_iter().map(lambda).collect();
            for &row in &inner.face.basis {
                self.span(core.members[row]);
            }
            for (&row, &inside) in core.members.iter().zip(&inner.face.inside) {
                self.face.inside[row] = inside;
            }
            self.face.marked = self.face.basis.len();
            self.face.ill_conditioned |= inner.face.ill_conditioned;
            self.orthonormalise();
            self.hints = inner.hints.iter().map(|&row| core.members[row]).collect();
            if let Some(w) = found? {
                separated = true;
                let own = inner.scales.in_units(radix, &w.exact);
                for (&j, w) in core.columns.iter().zip(own) {
                    weights[j] = w;
                }
            }
        }
        let weights = self.scales.in_scale(radix, weights);
        Ok(separated.then(|| peeled.separating(self.rows, &self.scales, weights)))
    }

    /// Back to the beginning.
    fn forget(&mut self) {
        self.face = Face {
            inside: vec![false; self.rows.limit()],
            echelon: self.face.echelon.emptied(),
            ..Face::default()
        };
        self.lambda.clear();
        self.refutation.clear();
        self.null_vectors = None;
        self.hints.clear();
    }

    fn tell(&mut self, what: &str) {
        if self.limits.listener.is_some() {
            self.doing.what = what.to_owned();
            self.limits.tell(|| self.doing.clone());
        }
    }

    /// Brings the floating-point basis of the face up to date, where it is of use.
    fn orthonormalise(&mut self) {
        if self.rows.dimension() < WIDE {
            self.face.orthonormalise(self.rows, &self.scales);
        } else {
            self.face.ill_conditioned = true;
        }
    }

    /// Round after round.
    fn rounds(&mut self) -> OrStopped<Option<ExactWeights>> {
        self.set_zero_rows_aside();
        if self.rows.dimension() >= WIDE {
            self.tell("equal rows of both classes");
            self.absorb_opposites()?;
            if !self.face.basis.is_empty() {
                self.orthonormalise();
                self.mark_inside()?;
            }
        }
        // The working set of the round before, while rows outside the face are in it.
        let mut hull: Option<NearestPoint> = None;
        loop {
            self.limits.check()?;
            if hull.as_ref().is_none_or(|hull| hull.working_set_len() == 0) {
                hull = None;
                // Where few rows showed a relation they are tried again first.
                let few = self.rows.dimension() >= WIDE && (2..=FEW).contains(&self.hints.len());
                if !self.face.is_marked() && !few {
                    self.mark_inside()?;
                }
                if self.face.is_marked() && self.face.any_outside(self.rows).is_none() {
                    return Ok(None);
                }
            }
            self.face
                .grow_solver(self.rows, &self.scales, self.limits)?;
            self.doing.refuted = !self.refutation.is_empty();
            let mut search = Search {
                rows: self.rows,
                scales: &self.scales,
                residues: &self.residues,
                hints: std::mem::take(&mut self.hints),
                perceptron: self.face.basis.is_empty(),
                hull,
                limits: self.limits,
                doing: std::mem::take(&mut self.doing),
            };
            let settled = search.round(&self.face);
            self.hints = search.hints;
            self.doing = search.doing;
            hull = search.hull;
            match settled? {
                RoundOutcome::Separated(weights) => return Ok(Some(weights)),
                RoundOutcome::Balanced { outside, spanning } => {
                    let first = self.face.basis.is_empty();
                    if first {
                        // A zero row, if there is one, is no longer needed.
                        self.lambda.clear();
                    }
                    let before = self.face.basis.len();
                    let directions = self.face.near.len();
                    self.absorb(outside, spanning);
                    // A relation among rows already spanned means that one of them was taken
                    // for a row outside: no more short cuts then.
                    let grown = self.face.basis.len() > before;
                    self.face.ill_conditioned |= !grown;
                    self.orthonormalise();
                    if first && !self.holds_all_rows()? {
                        self.absorb_opposites()?;
                        self.orthonormalise();
                    }
                    if !grown {
                        hull = None;
                        self.mark_inside()?;
                    } else if self.rows.dimension() >= WIDE {
                        hull = None;
                        let mut hints = std::mem::take(&mut self.hints);
                        self.mark_inside_of(hints.iter().copied());
                        hints.retain(|&row| !self.face.inside[row]);
                        self.hints = hints;
                    } else if let Some(hull) = &mut hull {
                        // The working set alone often shows the next relation; to look at all rows
                        // takes longer.
                        self.mark_inside_of(hull.rows());
                        let inside = &self.face.inside;
                        hull.extend_face(&self.face.near[directions..], |row| !inside[row]);
                    }
                }
                RoundOutcome::Unmarked => self.mark_inside()?,
            }
        }
    }

    /// Rows that are zero balance by themselves.
    fn set_zero_rows_aside(&mut self) {
        for group in 0..self.rows.groups() {
            if self.scales.norm[group] > 0.0 {
                continue;
            }
            let mut zeros = Vec::new();
            self.rows.members(group, &mut |row| {
                let mut zero = true;
                self.rows.each_exact(row, &mut |_, _| zero = false);
                if zero {
                    zeros.push(row);
                }
            });
            for row in zeros {
                self.face.inside[row] = true;
                if self.lambda.is_empty() {
                    self.lambda.insert(row, IBig::ONE);
                    self.refutation = vec![(row, IBig::ONE)];
                }
            }
        }
    }

    /// Takes a new relation into λ, with enough of the old to stay positive, and its rows
    /// into the face.
    fn absorb(&mut self, outside: Vec<(usize, IBig)>, spanning: Vec<(usize, IBig)>) {
        let before = self.face.basis.len();
        for (row, _) in &outside {
            self.span(*row);
        }
        if self.face.basis.len() == before {
            return;
        }
        let mut times = IBig::ONE;
        for (row, weight) in &spanning {
            if is_negative(weight)
                && let Some(old) = self.lambda.get(row)
            {
                let needed = -weight / old + IBig::ONE;
                if needed > times {
                    times = needed;
                }
            }
        }
        if self.refutation.is_empty() {
            self.refutation = outside.clone();
            self.refutation.sort_by_key(|(row, _)| *row);
        }
        for value in self.lambda.values_mut() {
            *value *= &times;
        }
        for (row, weight) in outside.into_iter().chain(spanning) {
            *self.lambda.entry(row).or_insert(IBig::ZERO) += weight;
        }
        let mut values: Vec<IBig> = self.lambda.values().cloned().collect();
        reduce(&mut values);
        for (old, new) in self.lambda.values_mut().zip(values) {
            *old = new;
        }
    }

    /// Adds a row to the face's basis if it is independent.
    fn span(&mut self, row: usize) -> bool {
        let new = self.face.echelon.insert(self.residues.row(self.rows, row));
        if new {
            self.face.basis.push(row);
        }
        new
    }

    /// Pairs of opposite rows, the later row first, and whether they are the first of their like;
    /// `every` such pair, or of equal ones only that. A row is in at most one pair.
    fn opposite_pairs(&self, every: bool) -> Vec<(usize, usize, bool)> {
        // Opposite rows have opposite scores, bit for bit, and others hardly.
        let mut random = Random::new(0, Stream::Sample, 0);
        let aside: Vec<f64> = (0..self.rows.dimension())
            .map(|_| random.normal())
            .collect();
        let w = self.scales.unscale(&aside);
        let scores = self.scales.pieces(self.rows, 1, |range| {
            let mut scores = Vec::new();
            for group in range {
                let mut push = |row, score: f64| scores.push((row, score));
                self.rows.score(group, &w, &mut push);
            }
            scores
        });
        // Of equal rows, those that wait for an opposite one, and whether there was a pair.
        let mut equal: HashMap<u64, (Vec<(usize, bool)>, bool)> = HashMap::new();
        let mut pairs = Vec::new();
        for (row, score) in scores.into_iter().flatten() {
            let negative = score < 0.0;
            let (waiting, paired) = equal.entry(score.abs().to_bits()).or_default();
            if *paired && !every {
                continue;
            }
            match waiting.last() {
                Some(&(other, n)) if n != negative && self.opposite(row, other) => {
                    waiting.pop();
                    pairs.push((row, other, !*paired));
                    *paired = true;
                }
                _ => waiting.push((row, negative)),
            }
        }
        pairs
    }

    /// Opposite rows — the same example with both labels — balance in pairs; data with many
    /// of them would otherwise take a round for each.
    fn absorb_opposites(&mut self) -> OrStopped<()> {
        // Where rows are fewer than features, a weight on every row is shorter than vectors that
        // show what they span.
        let every = self.rows.dimension() >= WIDE;
        for (row, other, first_such) in self.opposite_pairs(every) {
            if self.face.echelon.rank() == self.rows.dimension() {
                return Ok(());
            }
            if self.lambda.contains_key(&row) || self.lambda.contains_key(&other) {
                continue;
            }
            self.limits.check()?;
            let first = self.face.basis.is_empty();
            let new = first_such && self.span(row);
            if first && new {
                // A zero row, if there is one, is no longer needed.
                self.lambda.clear();
                self.refutation.clear();
            }
            if new || every {
                self.balance_pair(row, other);
            }
        }
        Ok(())
    }

    fn balance_pair(&mut self, row: usize, other: usize) {
        self.lambda.insert(row, IBig::ONE);
        self.lambda.insert(other, IBig::ONE);
        if self.refutation.is_empty() {
            let both = [row.min(other), row.max(other)];
            self.refutation = both.map(|row| (row, IBig::ONE)).to_vec();
        }
    }

    /// Whether each row is opposite to another: then nothing can be separated, whatever the rows
    /// span.
    fn all_opposite(&mut self) -> bool {
        let mut rows = 0;
        self.rows.each_row(&mut |_| rows += 1);
        if rows % 2 == 1 {
            return false;
        }
        let pairs = self.opposite_pairs(true);
        let all = 2 * pairs.len() == rows;
        if all {
            for (row, other, _) in pairs {
                self.balance_pair(row, other);
            }
            self.face.inside.fill(true);
        }
        all
    }

    fn opposite(&self, a: usize, b: usize) -> bool {
        let mut left = Vec::new();
        self.rows
            .each_exact(a, &mut |j, value| left.push((j, value)));
        let mut at = 0;
        let mut same = true;
        self.rows.each_exact(b, &mut |j, value| {
            same &= left.get(at).is_some_and(|(i, other)| {
                *i == j && other.exponent == value.exponent && -&other.mantissa == value.mantissa
            });
            at += 1;
        });
        same && at == left.len()
    }

    fn weighs_every_row(&self) -> bool {
        let mut every = true;
        (self.rows).each_row(&mut |row| every &= self.lambda.contains_key(&row));
        every
    }

    /// The verdict and its witness.
    fn decision(&self, separated: Option<&ExactWeights>) -> OrStopped<Result<ProvedVerdict>> {
        let radix = self.rows.notation().radix();
        let balanced_rank = self.face.basis.len();
        // A zero row balances by itself; more rows without a rank are all opposite to another.
        let rank_known = balanced_rank > 0 || self.lambda.len() < 2;
        let lambda: Multipliers = self.lambda.iter().map(|(&r, v)| (r, v.clone())).collect();
        let witness = match separated {
            Some(v) => {
                let w = self.scales.in_units(radix, &v.exact);
                if lambda.is_empty() {
                    Witness::Separable { w }
                } else {
                    let mut rows = Vec::new();
                    self.rows.each_row(&mut |row| rows.push(row));
                    rows.retain(|&row| !self.face.inside[row]);
                    rows.sort_unstable();
                    let vectors = self.rows.dimension() - balanced_rank;
                    let null_space = match vectors <= MOST_NULL_VECTORS {
                        true => match self.null_space()? {
                            Ok(vectors) => Some(vectors),
                            Err(error) => return Ok(Err(error)),
                        },
                        false => None,
                    };
                    Witness::QuasiSeparable {
                        w,
                        lambda,
                        separated: rows,
                        null_space,
                    }
                }
            }
            None => {
                let vectors = self.rows.dimension() - balanced_rank;
                let null_space = match vectors > MOST_NULL_VECTORS && self.weighs_every_row() {
                    true => None,
                    false => match self.null_space()? {
                        Ok(vectors) => Some(vectors),
                        Err(error) => return Ok(Err(error)),
                    },
                };
                Witness::Overlapping { lambda, null_space }
            }
        };
        Ok(Ok(ProvedVerdict {
            witness,
            refutation: self.refutation.clone(),
            balanced_rank: rank_known.then_some(balanced_rank),
        }))
    }
}
