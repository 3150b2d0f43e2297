//! Where an axis is marked, and with which words.

/// The marks of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ticks {
    /// Labelled marks, ascending.
    pub major: Vec<(f64, String)>,
    /// Unlabelled marks between them, ascending.
    pub minor: Vec<f64>,
}

/// A range an axis can show: finite, ascending, wide enough for doubles to tell its ticks apart.
///
/// ```
/// use rosenblatt_plot::ticks::sane_range;
/// assert_eq!(sane_range(0.0, 2.0), (0.0, 2.0));
/// assert_eq!(sane_range(5.0, 5.0), (4.0, 6.0));
/// assert_eq!(sane_range(f64::NAN, 3.0), (0.0, 1.0));
/// ```
pub fn sane_range(low: f64, high: f64) -> (f64, f64) {
    if low.is_nan() || high.is_nan() {
        return (0.0, 1.0);
    }
    let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
    let (low, high) = if low <= high {
        (low, high)
    } else {
        (high, low)
    };
    let size = low.abs().max(high.abs());
    if high - low > size * 1e-9 && high - low > 1e-290 {
        return (low, high);
    }
    let middle = low / 2.0 + high / 2.0;
    let half = if size < 1e-280 {
        1.0
    } else {
        // A tidy half width: one for small whole numbers, a tenth part for the rest.
        let tenth = 10f64.powf((size / 10.0).log10().ceil());
        if size <= 10.0 && middle.fract() == 0.0 {
            1.0
        } else {
            tenth
        }
    };
    (middle - half, middle + half)
}

/// Ticks at round steps (1, 2, 2.5 or 5 times a power of ten), at most `most` of them.
///
/// With `most` of 6 or more there are always at least three.
///
/// ```
/// use rosenblatt_plot::ticks::linear;
/// let labels: Vec<String> = linear(0.0, 1.0, 6).major.into_iter().map(|t| t.1).collect();
/// assert_eq!(labels, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
/// ```
pub fn linear(low: f64, high: f64, most: usize) -> Ticks {
    linear_with(low, high, most, false)
}

/// Ticks at whole numbers, for counts of passes, rows or features.
///
/// ```
/// use rosenblatt_plot::ticks::whole;
/// let labels: Vec<String> = whole(0.5, 3.5, 9).major.into_iter().map(|t| t.1).collect();
/// assert_eq!(labels, ["1", "2", "3"]);
/// ```
pub fn whole(low: f64, high: f64, most: usize) -> Ticks {
    linear_with(low, high, most, true)
}

fn linear_with(low: f64, high: f64, most: usize, whole: bool) -> Ticks {
    let (low, high) = sane_range(low, high);
    let most = most.max(1);
    let finest = ((high - low) / (most as f64 + 1.0)).log10().floor() as i32 - 1;
    for exponent in finest.. {
        for (mantissa, minor) in [(10, 5), (20, 4), (25, 5), (50, 5)] {
            if whole && (exponent < 0 || (exponent == 0 && mantissa == 25)) {
                continue;
            }
            let step = Step {
                mantissa,
                exponent: exponent - 1,
            };
            let (first, last) = step.multiples(low, high);
            if last - first + 1.0 > most as f64 {
                continue;
            }
            let count = (last - first + 1.0).max(0.0) as usize;
            let major = (0..count).map(|i| first + i as f64).collect();
            return step.ticks(major, minor, low, high);
        }
    }
    Ticks::default()
}

/// A tick step, mantissa · 10^exponent, kept apart so that multiples round once.
#[derive(Clone, Copy)]
struct Step {
    mantissa: i32,
    exponent: i32,
}

impl Step {
    fn times(self, k: f64) -> f64 {
        scaled(k * f64::from(self.mantissa), self.exponent)
    }

    /// The first and last multiple inside a range, a hair of rounding allowed.
    fn multiples(self, low: f64, high: f64) -> (f64, f64) {
        let step = self.times(1.0);
        ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor())
    }

    fn ticks(self, multiples: Vec<f64>, minor: i32, low: f64, high: f64) -> Ticks {
        let size = low.abs().max(high.abs());
        let places = -(self.exponent + i32::from(self.mantissa % 10 == 0));
        let scientific = !(1e-3..1e6).contains(&size);
        let power = size.log10().floor() as i32;
        let label = |k: f64| {
            let value = self.times(k);
            if !scientific {
                return decimal(value, places.max(0) as usize);
            }
            if k == 0.0 {
                return "0".to_string();
            }
            let digits = (places + power).max(0) as usize;
            format!(
                "{}×10{}",
                decimal(scaled(value, -power), digits),
                superscript(power)
            )
        };
        let part = self.times(1.0) / f64::from(minor);
        let between = ((low / part).ceil() as i64..=(high / part).floor() as i64)
            .filter(|k| k % i64::from(minor) != 0)
            .map(|k| k as f64 * part)
            .take(100)
            .collect();
        Ticks {
            major: multiples
                .iter()
                .map(|&k| (self.times(k), label(k)))
                .collect(),
            minor: between,
        }
    }
}

/// value · 10^exponent without an infinite or vanishing intermediate; exact for small powers.
fn scaled(value: f64, exponent: i32) -> f64 {
    if exponent < -300 {
        value / 1e300 / 10f64.powi(-exponent - 300)
    } else if exponent < 0 {
        value / 10f64.powi(-exponent)
    } else {
        value * 10f64.powi(exponent)
    }
}

/// Ticks of a logarithmic axis: powers of ten, thinned when many; 1-2-5 or round steps when few.
///
/// Of a range that begins at zero or below, the upper three decades are shown.
///
/// ```
/// use rosenblatt_plot::ticks::log;
/// let labels: Vec<String> = log(1.0, 1e4, 9).major.into_iter().map(|t| t.1).collect();
/// assert_eq!(labels, ["1", "10", "100", "1,000", "10,000"]);
/// ```
pub fn log(low: f64, high: f64, most: usize) -> Ticks {
    let (low, high) = sane_log_range(low, high);
    let most = most.max(1);
    let first = (low.log10() - 1e-9).ceil() as i32;
    let last = (high.log10() + 1e-9).floor() as i32;
    let decades = (last - first + 1).max(0) as usize;
    if decades < 3 {
        let mut round: Vec<(i32, i32)> = Vec::new();
        for exponent in first - 1..=last {
            for mantissa in [1, 2, 5] {
                let value = scaled(f64::from(mantissa), exponent);
                if value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9) {
                    round.push((mantissa, exponent));
                }
            }
        }
        if round.len() < 3 {
            return linear_above_zero(low, high, most);
        }
        if round.len() <= most {
            return log_ticks(&round, first - 1..=last, low, high);
        }
    }
    let stride = decades.div_ceil(most).max(1);
    let powers: Vec<(i32, i32)> = (first..=last)
        // Multiples of the stride, so that 1 = 10^0 keeps its mark.
        .filter(|e| e.rem_euclid(stride as i32) == 0)
        .map(|e| (1, e))
        .collect();
    if powers.is_empty() || (powers.len() == 1 && decades < 3) {
        return linear_above_zero(low, high, most);
    }
    if stride == 1 {
        return log_ticks(&powers, first - 1..=last, low, high);
    }
    let mut ticks = log_ticks(&powers, first..=first, low, high);
    ticks.minor = (first..=last)
        .filter(|e| e.rem_euclid(stride as i32) != 0)
        .map(|e| scaled(1.0, e))
        .collect();
    ticks
}

/// Round steps on a logarithmic axis, which has no place for zero.
fn linear_above_zero(low: f64, high: f64, most: usize) -> Ticks {
    let mut ticks = linear(low, high, most);
    ticks.major.retain(|t| t.0 > 0.0);
    ticks.minor.retain(|&v| v > 0.0);
    ticks
}

fn log_ticks(
    major: &[(i32, i32)],
    decades: std::ops::RangeInclusive<i32>,
    low: f64,
    high: f64,
) -> Ticks {
    let plain = major.iter().all(|&(_, e)| (-3..=5).contains(&e));
    let label = |(mantissa, exponent): (i32, i32)| {
        let value = scaled(f64::from(mantissa), exponent);
        if plain {
            decimal(value, (-exponent).max(0) as usize)
        } else if mantissa == 1 {
            format!("10{}", superscript(exponent))
        } else {
            format!("{mantissa}×10{}", superscript(exponent))
        }
    };
    let minor = decades
        .flat_map(|e| (1..10).map(move |m| (m, e)))
        .filter(|tick| !major.contains(tick))
        .map(|(m, e)| scaled(f64::from(m), e))
        .filter(|v| (low..=high).contains(v))
        .collect();
    Ticks {
        major: major
            .iter()
            .map(|&(m, e)| (scaled(f64::from(m), e), label((m, e))))
            .collect(),
        minor,
    }
}

/// A positive range at least a tenth of a decade wide.
pub(crate) fn sane_log_range(low: f64, high: f64) -> (f64, f64) {
    if low.is_nan() || high.is_nan() {
        return (1.0, 10.0);
    }
    let (low, high) = if low <= high {
        (low, high)
    } else {
        (high, low)
    };
    if high <= 0.0 {
        return (1.0, 10.0);
    }
    let high = high.clamp(1e-280, 1e280);
    let low = if low > 0.0 {
        low.clamp(1e-280, 1e280)
    } else {
        high / 1e3
    };
    if high / low >= 1.25 {
        (low, high)
    } else {
        (low / 2.0, high * 2.0)
    }
}

/// A number with a true minus sign and with commas between thousands.
pub(crate) fn decimal(value: f64, places: usize) -> String {
    let digits = format!("{:.*}", places, value.abs());
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::new();
    for (i, c) in whole.chars().enumerate() {
        let left = whole.len() - i;
        if i > 0 && left % 3 == 0 && whole.len() > 3 {
            grouped.push(',');
        }
        grouped.push(c);
    }
    let zero = digits.bytes().all(|b| matches!(b, b'0' | b'.'));
    let sign = if value < 0.0 && !zero { "−" } else { "" };
    format!("{sign}{grouped}{rest}")
}

/// A short label for one number on its own: four significant digits.
///
/// ```
/// use rosenblatt_plot::ticks::short;
/// assert_eq!(short(0.25), "0.25");
/// assert_eq!(short(-1234.6), "−1,235");
/// assert_eq!(short(2.5e9), "2.5×10⁹");
/// assert_eq!(short(f64::NAN), "–");
/// ```
pub fn short(value: f64) -> String {
    if value.is_nan() {
        return "–".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_string();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_string();
    }
    if (1e-3..1e6).contains(&size) {
        let places = (3 - size.log10().floor() as i32).max(0) as usize;
        return trimmed(decimal(value, places));
    }
    let power = size.log10().floor() as i32;
    format!(
        "{}×10{}",
        trimmed(decimal(scaled(value, -power), 3)),
        superscript(power)
    )
}

fn trimmed(digits: String) -> String {
    if !digits.contains('.') {
        return digits;
    }
    digits
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_string()
}

/// An integer in superscript digits.
pub(crate) fn superscript(value: i32) -> String {
    value
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
        })
        .collect()
}
