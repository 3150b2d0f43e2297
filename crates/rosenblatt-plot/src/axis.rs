//! An axis as asked for, and the ruler it becomes once its range and length are known.

use crate::text::{shorten, width, wrap};
use crate::ticks::{self, Ticks, sane_log_range, sane_range};

/// How values become lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; values that are not positive cannot be shown and are left out.
    Log,
}

/// One axis of a panel: its label, scale and, where wanted, its range.
///
/// ```
/// use rosenblatt_plot::Axis;
/// let x = Axis::log("margin γ").range(1e-3, 1.0);
/// let y = Axis::linear("time").unit("ms").from_zero();
/// let names = Axis::categories("class", ["cat", "dog"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Axis {
    label: String,
    unit: Option<String>,
    pub(crate) scale: Scale,
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) include: Vec<f64>,
    pub(crate) reversed: Option<bool>,
    pub(crate) hidden: bool,
    whole: bool,
    percent: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis {
            label: label.into(),
            ..Axis::default()
        }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Axis {
            scale: Scale::Log,
            ..Axis::linear(label)
        }
    }

    /// Names at the positions 0, 1, 2, …
    pub fn categories<S: Into<String>>(
        label: impl Into<String>,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Axis {
            names: Some(names),
            ..Axis::linear(label)
        }
    }

    /// An axis without line, ticks and label.
    pub fn hidden() -> Self {
        Axis {
            hidden: true,
            ..Axis::default()
        }
    }

    /// The unit, shown in brackets after the label.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// Shows exactly this range, whatever the data.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Widens the range of the data to hold this value too.
    #[must_use]
    pub fn including(mut self, value: f64) -> Self {
        self.include.push(value);
        self
    }

    /// Widens the range of the data to hold zero.
    #[must_use]
    pub fn from_zero(self) -> Self {
        self.including(0.0)
    }

    /// Marks whole numbers only: passes, rows, counts.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Shows fractions as percentages.
    #[must_use]
    pub fn percent(mut self) -> Self {
        self.percent = true;
        self
    }

    /// Runs the other way: right to left, or top to bottom.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.reversed = Some(true);
        self
    }

    pub(crate) fn full_label(&self) -> String {
        match &self.unit {
            Some(unit) if !unit.is_empty() => format!("{} ({unit})", self.label),
            _ => self.label.clone(),
        }
    }

    /// Whether a value can be shown at all.
    pub(crate) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// The range shown, from the extent of the data. `pad` leaves a little air around the data,
    /// though not beyond zero when something `rests` there.
    pub(crate) fn resolve(&self, data: Option<(f64, f64)>, pad: bool, rests: bool) -> (f64, f64) {
        if let Some((low, high)) = self.range {
            return match self.scale {
                Scale::Linear => sane_range(low, high),
                Scale::Log => sane_log_range(low, high),
            };
        }
        let mut extent = data;
        if let Some(names) = &self.names {
            extent = widen(extent, -0.5);
            extent = widen(extent, names.len() as f64 - 0.5);
        }
        for &value in self.include.iter().filter(|&&v| self.shows(v)) {
            extent = widen(extent, value);
        }
        let (low, high) = extent.unwrap_or((f64::NAN, f64::NAN));
        match self.scale {
            Scale::Linear => {
                let (low, high) = sane_range(low, high);
                let air = if pad && self.names.is_none() {
                    (high - low) * 0.04
                } else {
                    0.0
                };
                (
                    if rests && low == 0.0 { 0.0 } else { low - air },
                    if rests && high == 0.0 {
                        0.0
                    } else {
                        high + air
                    },
                )
            }
            Scale::Log => {
                let (low, high) = sane_log_range(low, high);
                let air = if pad { (high / low).powf(0.04) } else { 1.0 };
                (low / air, high * air)
            }
        }
    }

    fn ticks(&self, low: f64, high: f64, most: usize) -> Ticks {
        if self.percent {
            let mut ticks = ticks::linear(low * 100.0, high * 100.0, most);
            for (value, label) in &mut ticks.major {
                *value /= 100.0;
                if let Some(short) = label.strip_suffix(".0") {
                    *label = short.to_string();
                }
                label.push('%');
            }
            ticks.minor.iter_mut().for_each(|v| *v /= 100.0);
            return ticks;
        }
        match self.scale {
            Scale::Log => ticks::log(low, high, most),
            Scale::Linear if self.whole => ticks::whole(low, high, most),
            Scale::Linear => ticks::linear(low, high, most),
        }
    }
}

/// An extent that also holds `value`.
pub(crate) fn widen(extent: Option<(f64, f64)>, value: f64) -> Option<(f64, f64)> {
    if value.is_nan() {
        return extent;
    }
    Some(extent.map_or((value, value), |(low, high)| {
        (low.min(value), high.max(value))
    }))
}

/// A range laid along pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ruler {
    scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
    start: f64,
    length: f64,
}

impl Ruler {
    /// `from` is the pixel of the low end, `to` that of the high end.
    pub(crate) fn new(scale: Scale, (low, high): (f64, f64), from: f64, to: f64) -> Self {
        Ruler {
            scale,
            low,
            high,
            start: from,
            length: to - from,
        }
    }

    /// The pixel of a value; NaN when it cannot be shown.
    pub(crate) fn px(&self, value: f64) -> f64 {
        let part = match self.scale {
            // Halves keep the difference of two huge ends finite.
            Scale::Linear => (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0),
            Scale::Log if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            Scale::Log => f64::NAN,
        };
        self.start + part * self.length
    }

    /// The same ruler, further along the page.
    pub(crate) fn moved(self, by: f64) -> Self {
        Ruler {
            start: self.start + by,
            ..self
        }
    }

    pub(crate) fn holds(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    pub(crate) fn ends(&self) -> (f64, f64) {
        let end = self.start + self.length;
        (self.start.min(end), self.start.max(end))
    }
}

/// Labels along an axis, chosen so that no two touch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Labels {
    /// Value and the lines of its label.
    pub(crate) at: Vec<(f64, Vec<String>)>,
    pub(crate) minor: Vec<f64>,
    pub(crate) size: f64,
    /// Degrees; negative when labels climb to the right.
    pub(crate) turn: f64,
    /// How far the labels reach from the axis.
    pub(crate) depth: f64,
}

/// The angle of slanted labels.
const SLANT: f64 = 40.0;
/// The longest category label under an axis, in pixels.
const LONGEST: f64 = 150.0;
/// The longest category label beside an axis.
const LONGEST_BESIDE: f64 = 240.0;
const GAP: f64 = 7.0;

/// Labels under a horizontal axis.
pub(crate) fn labels_below(axis: &Axis, ruler: &Ruler, size: f64) -> Labels {
    if let Some(names) = &axis.names {
        return names_below(names, ruler, size);
    }
    let most = ((ruler.length.abs() / 52.0) as usize + 1).clamp(3, 9);
    for most in (1..=most).rev() {
        let ticks = axis.ticks(ruler.low, ruler.high, most);
        let mut spans: Vec<(f64, f64)> = ticks
            .major
            .iter()
            .map(|(v, label)| (ruler.px(*v), width(label, size, false)))
            .collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let apart = spans
            .windows(2)
            .all(|w| w[1].0 - w[0].0 >= (w[0].1 + w[1].1) / 2.0 + GAP);
        if apart || most == 1 {
            return numbers(ticks, size, size);
        }
    }
    Labels::default()
}

fn numbers(ticks: Ticks, size: f64, depth: f64) -> Labels {
    let at = ticks
        .major
        .into_iter()
        .map(|(v, label)| (v, vec![label]))
        .collect();
    Labels {
        at,
        minor: ticks.minor,
        size,
        turn: 0.0,
        depth,
    }
}

fn names_below(names: &[String], ruler: &Ruler, size: f64) -> Labels {
    let visible: Vec<(f64, &String)> = (0..names.len())
        .map(|i| (i as f64, &names[i]))
        .filter(|(i, _)| ruler.holds(*i))
        .collect();
    let step = (ruler.px(1.0) - ruler.px(0.0)).abs();
    let room = step - GAP;
    let fits = |lines: &[String]| lines.iter().all(|l| width(l, size, false) <= room);
    let line = size * 1.2;

    // Side by side, if need be on two or three lines.
    for most in 1..=3 {
        let at: Vec<(f64, Vec<String>)> = visible
            .iter()
            .map(|(i, name)| {
                let lines = wrap_words(name, size, room);
                (
                    *i,
                    if most == 1 {
                        vec![name.to_string()]
                    } else {
                        lines
                    },
                )
            })
            .collect();
        let deepest = at.iter().map(|(_, l)| l.len()).max().unwrap_or(1);
        if deepest <= most && at.iter().all(|(_, lines)| fits(lines)) {
            let depth = size + (deepest as f64 - 1.0) * line;
            return Labels {
                at,
                minor: Vec::new(),
                size,
                turn: 0.0,
                depth,
            };
        }
    }
    // Slanted, and thinned out where even that is too dense.
    let slant = SLANT.to_radians();
    let needed = line / slant.sin();
    let stride = (needed / step.max(1e-6))
        .ceil()
        .clamp(1.0, names.len().max(1) as f64) as usize;
    let at: Vec<(f64, Vec<String>)> = visible
        .iter()
        .step_by(stride)
        .map(|(i, name)| (*i, vec![shorten(name, size, false, LONGEST)]))
        .collect();
    let widest = at
        .iter()
        .map(|(_, l)| width(&l[0], size, false))
        .fold(0.0, f64::max);
    // Short names that were only too many stay upright.
    if stride as f64 * step >= widest + GAP {
        return Labels {
            at,
            minor: Vec::new(),
            size,
            turn: 0.0,
            depth: size,
        };
    }
    let depth = widest * slant.sin() + size * slant.cos();
    Labels {
        at,
        minor: Vec::new(),
        size,
        turn: -SLANT,
        depth,
    }
}

/// Wraps without cutting words; a word too long comes back whole, so the caller sees it does not fit.
fn wrap_words(name: &str, size: f64, room: f64) -> Vec<String> {
    if name
        .split_whitespace()
        .any(|word| width(word, size, false) > room)
    {
        return vec![name.to_string()];
    }
    let lines = wrap(name, size, false, room);
    if lines.is_empty() {
        vec![String::new()]
    } else {
        lines
    }
}

/// Labels beside a vertical axis, about `spacing` pixels apart.
pub(crate) fn labels_beside(axis: &Axis, ruler: &Ruler, size: f64, spacing: f64) -> Labels {
    let line = size * 1.25;
    if let Some(names) = &axis.names {
        let step = (ruler.px(1.0) - ruler.px(0.0)).abs();
        let stride = (line / step.max(1e-6))
            .ceil()
            .clamp(1.0, names.len().max(1) as f64) as usize;
        let at: Vec<(f64, Vec<String>)> = (0..names.len())
            .filter(|&i| ruler.holds(i as f64))
            .step_by(stride)
            .map(|i| {
                (
                    i as f64,
                    vec![shorten(&names[i], size, false, LONGEST_BESIDE)],
                )
            })
            .collect();
        let depth = deepest(&at, size);
        return Labels {
            at,
            minor: Vec::new(),
            size,
            turn: 0.0,
            depth,
        };
    }
    let most = ((ruler.length.abs() / spacing) as usize + 1).clamp(3, 9);
    for most in (1..=most).rev() {
        let ticks = axis.ticks(ruler.low, ruler.high, most);
        let mut at: Vec<f64> = ticks.major.iter().map(|(v, _)| ruler.px(*v)).collect();
        at.sort_by(f64::total_cmp);
        if at.windows(2).all(|w| w[1] - w[0] >= line) || most == 1 {
            let mut labels = numbers(ticks, size, 0.0);
            labels.depth = deepest(&labels.at, size);
            return labels;
        }
    }
    Labels::default()
}

fn deepest(at: &[(f64, Vec<String>)], size: f64) -> f64 {
    at.iter()
        .flat_map(|(_, lines)| lines)
        .map(|line| width(line, size, false))
        .fold(0.0, f64::max)
}
