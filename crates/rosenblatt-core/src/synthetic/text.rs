//! Rows like documents: a few words out of very many, labelled by a sparse hidden separator.
//!
//! Words are ranked by frequency, the word of rank r drawn with density ∝ 1/(r + 2.7) (Zipf's
//! law as Mandelbrot wrote it). Some words belong to a class: of every 4k consecutive ranks
//! the first k belong to classes 1 to k, up to 256 words a class. A document has a topic, and
//! a quarter of its words are drawn among the topic's own. Values are tf-idf, (1 + ln count) ·
//! ln(1/p) for a word in a share p of documents, scaled to unit length and rounded to six
//! decimals. The label is what the hidden separator says of the finished row, whatever
//! the topic was; a row nearer to a border than the margin asked for is drawn again.
//!
//! Rows are made one at a time; memory is a few bytes a word, never rows × words.

use super::separator::Separator;
use super::{Options, Settings, Synthetic, numbered};
use crate::data::{Classes, Dataset, Matrix, Precision, Row, RowPermutation};
use crate::error::{Error, Result};
use crate::random::Random;
use crate::scheme::leader;

/// Mandelbrot's shift of Zipf's law.
const SHIFT: f64 = 2.7;
/// Of this many ranks per class, one belongs to the class.
const STRIDE: usize = 4;
/// At most this many words belong to each class.
const OWN_WORDS: usize = 256;
/// The share of words drawn among the topic's own.
const TOPICAL: f64 = 0.25;
/// The spread of the logarithm of a row's length.
const LENGTH_SPREAD: f64 = 0.5;
/// Draws of a row before the margin counts as out of reach.
const TRIES: usize = 1000;

/// A source of text-like rows, one at a time.
#[derive(Debug)]
pub struct TextRows {
    settings: Settings,
    classes: Classes,
    flips: super::Flips,
    zipf: Zipf,
    permutation: RowPermutation,
    /// ln(1/p) of each rank.
    rarity: Vec<f32>,
    /// Weight of each class word, by rank: its class is in the rank itself.
    own: Vec<f64>,
    /// 1/√(Σ weights²), which makes the separator's length 1.
    scale: f64,
    next: usize,
    margin: f64,
    /// Whether the last row's label was flipped.
    flipped_last: bool,
    /// The row in which a rank was last drawn, and its place among that row's words.
    seen: Vec<(u32, u32)>,
    draw: u32,
    words: Vec<(u32, f64)>,
    indices: Vec<u32>,
    values32: Vec<f32>,
    values64: Vec<f64>,
}

/// Ranks 0 to d − 1 with P(rank ≤ r) = ln((r + 1 + q)/q)/ln((d + q)/q).
#[derive(Debug, Clone, Copy)]
struct Zipf {
    d: usize,
    log_range: f64,
}

impl Zipf {
    fn new(d: usize) -> Self {
        Zipf {
            d,
            log_range: libm::log((d as f64 + SHIFT) / SHIFT),
        }
    }

    fn draw(self, random: &mut Random) -> usize {
        let r = SHIFT * (libm::exp(random.unit() * self.log_range) - 1.0);
        (r as usize).min(self.d - 1)
    }

    fn probability(self, rank: usize) -> f64 {
        let r = rank as f64 + SHIFT;
        libm::log1p(1.0 / r) / self.log_range
    }
}

impl TextRows {
    /// Rows of kind [`Kind::Sparse`](super::Kind::Sparse).
    pub fn new(options: &Options) -> Result<Self> {
        if options.kind != super::Kind::Sparse {
            return Err(Error::options(format!(
                "{} data are not made row by row",
                options.kind.name()
            )));
        }
        Self::with(Settings::new(options)?)
    }

    pub(super) fn with(settings: Settings) -> Result<Self> {
        let (d, k) = (settings.d, settings.k);
        if !(1.0..=d as f64 / 4.0).contains(&settings.non_zeros) {
            return Err(Error::options(format!(
                "{} words in a row of {d} features",
                settings.non_zeros
            ))
            .remedy(format!("ask for 1 to {}", d / 4)));
        }
        if d < 4 * STRIDE * k {
            return Err(Error::options(format!(
                "{d} features are too few for {k} classes of text"
            ))
            .remedy(format!("ask for at least {}", 4 * STRIDE * k)));
        }
        let zipf = Zipf::new(d);
        let rarity = (0..d)
            .map(|r| {
                // P(a row of L words has the word) = 1 − (1 − p)^L.
                let absent = settings.non_zeros * libm::log1p(-zipf.probability(r));
                -libm::log(-libm::expm1(absent)) as f32
            })
            .collect();
        let per_class = OWN_WORDS.min(d / (STRIDE * k));
        let mut random = settings.global();
        let own: Vec<f64> = (0..per_class * k).map(|_| 0.5 + random.unit()).collect();
        let scale = 1.0 / own.iter().map(|w| w * w).sum::<f64>().sqrt();
        Ok(TextRows {
            classes: numbered(k),
            flips: settings.flips(),
            zipf,
            permutation: RowPermutation::new(d),
            rarity,
            own,
            scale,
            next: 0,
            margin: f64::INFINITY,
            flipped_last: false,
            seen: vec![(0, 0); d],
            draw: 0,
            words: Vec::new(),
            indices: Vec::new(),
            values32: Vec::new(),
            values64: Vec::new(),
            settings,
        })
    }

    /// The classes.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.settings.d
    }

    /// The margin of the separator on the rows made so far, before label noise.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// The class a word belongs to, and its weight there before scaling.
    fn owner(&self, rank: usize) -> Option<(usize, f64)> {
        let k = self.settings.k;
        let (block, class) = (rank / (STRIDE * k), rank % (STRIDE * k));
        if class >= k {
            return None;
        }
        self.own.get(block * k + class).map(|&w| (class, w))
    }

    /// The hidden separator, of length 1 and bias 0.
    pub fn separator(&self) -> Separator {
        let (d, k) = (self.settings.d, self.settings.k);
        let rows = if k == 2 { 1 } else { k };
        let mut weights = vec![vec![0.0; d]; rows];
        for rank in 0..d {
            if let Some((class, w)) = self.owner(rank) {
                let j = self.permutation.row_at(rank);
                let w = self.scale * w;
                if k > 2 {
                    weights[class][j] = w;
                } else {
                    weights[0][j] = if class == 1 { w } else { -w };
                }
            }
        }
        if k == 2 {
            Separator::binary(weights.remove(0), 0.0)
        } else {
            Separator::multiclass(weights)
        }
    }

    /// The next row with its label, or `None` after the last.
    pub fn next_row(&mut self) -> Result<Option<(u32, Row<'_>)>> {
        if self.next == self.settings.n {
            return Ok(None);
        }
        let mut random = self.settings.for_row(self.next);
        let mut found = None;
        for _ in 0..TRIES {
            self.compose(&mut random);
            let (class, gap) = self.judge();
            if gap > 0.0 && gap >= self.settings.margin {
                found = Some((class, gap));
                break;
            }
        }
        let Some((class, gap)) = found else {
            return Err(Error::options(format!(
                "no row with the margin {} came up in {TRIES} draws",
                self.settings.margin
            ))
            .remedy("ask for a smaller margin or longer rows"));
        };
        self.margin = self.margin.min(gap);
        self.next += 1;
        let label = self.flips.next(class);
        self.flipped_last = label != class;
        let row = match self.settings.precision {
            Precision::F32 => Row::Sparse32(&self.indices, &self.values32),
            Precision::F64 => Row::Sparse64(&self.indices, &self.values64),
        };
        Ok(Some((label, row)))
    }

    /// Draws a document into `words` as (rank, stored value) and into the arrays of the row.
    fn compose(&mut self, random: &mut Random) {
        let k = self.settings.k;
        self.draw = self.draw.wrapping_add(1);
        if self.draw == 0 {
            self.seen.fill((0, 0));
            self.draw = 1;
        }
        // Log-normal with the mean asked for.
        let z = LENGTH_SPREAD * random.normal() - 0.5 * LENGTH_SPREAD * LENGTH_SPREAD;
        let length = (self.settings.non_zeros * libm::exp(z)).round();
        let length = (length as usize).clamp(1, self.settings.d / 2);
        let topic = random.below(k as u64) as usize;
        let per_class = (self.own.len() / k) as u64;
        self.words.clear();
        let mut patience = 50 * length;
        while self.words.len() < length && patience > 0 {
            patience -= 1;
            let rank = if random.unit() < TOPICAL {
                random.below(per_class) as usize * STRIDE * k + topic
            } else {
                self.zipf.draw(random)
            };
            let (draw, place) = self.seen[rank];
            if draw == self.draw {
                self.words[place as usize].1 += 1.0;
            } else {
                self.seen[rank] = (self.draw, self.words.len() as u32);
                self.words.push((rank as u32, 1.0));
            }
        }
        let mut square = 0.0;
        for (rank, value) in &mut self.words {
            *value = (1.0 + libm::log(*value)) * f64::from(self.rarity[*rank as usize]);
            square += *value * *value;
        }
        let to_millionths = 1e6 / f64::max(square, f64::MIN_POSITIVE).sqrt();
        for (_, value) in &mut self.words {
            let rounded = (*value * to_millionths).round().max(1.0) / 1e6;
            *value = match self.settings.precision {
                Precision::F32 => f64::from(rounded as f32),
                Precision::F64 => rounded,
            };
        }
    }

    /// The class the separator gives the drawn document, by how much, and the row in order of
    /// its features.
    fn judge(&mut self) -> (u32, f64) {
        let permutation = self.permutation;
        let mut scores = vec![0.0; self.settings.k];
        for &(rank, value) in &self.words {
            if let Some((class, w)) = self.owner(rank as usize) {
                scores[class] += self.scale * w * value;
            }
        }
        for (rank, _) in &mut self.words {
            *rank = permutation.row_at(*rank as usize) as u32;
        }
        self.words.sort_unstable_by_key(|&(j, _)| j);
        self.indices.clear();
        self.values32.clear();
        self.values64.clear();
        for &(j, value) in &self.words {
            self.indices.push(j);
            match self.settings.precision {
                Precision::F32 => self.values32.push(value as f32),
                Precision::F64 => self.values64.push(value),
            }
        }
        let best = leader(&scores, None);
        (best, super::separator::gap(&scores, best as usize))
    }
}

/// The whole set in memory, in sparse rows.
pub(super) fn generate(settings: Settings) -> Result<Synthetic> {
    let n = settings.n;
    let mut rows = TextRows::with(settings)?;
    let mut matrix = Matrix::empty_sparse(rows.features(), rows.settings.precision);
    let (mut labels, mut flipped) = (Vec::with_capacity(n.min(1 << 24)), Vec::new());
    let separator = rows.separator();
    let mut pairs = Vec::new();
    while let Some((label, row)) = rows.next_row()? {
        pairs.clear();
        row.for_each(|j, x| pairs.push((j as u32, x)));
        matrix.push_sparse(pairs.iter().copied());
        if rows.flipped_last {
            flipped.push(labels.len());
        }
        labels.push(label);
    }
    let dataset = Dataset::new(matrix, labels, rows.classes.clone(), None)?;
    Ok(Synthetic {
        dataset,
        separator: Some(separator),
        margin: Some(rows.margin),
        flipped,
        coefficients: None,
    })
}
