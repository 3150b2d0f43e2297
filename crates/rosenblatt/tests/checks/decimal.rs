//! The longest decimal at the start of the input, by each way to read one, as the standard library
//! reads it: the innermost part of the readers by itself.

use rosenblatt::data::Precision;
use rosenblatt::read::number_by_each_way;

pub fn check(data: &[u8]) {
    // Alone, and inside other text, where words can be taken past its end.
    let mut inside = [b' '; 96];
    let data = &data[..data.len().min(48)];
    inside[..data.len()].copy_from_slice(data);
    let decimal = longest(data);
    for precision in [Precision::F32, Precision::F64] {
        let bits = decimal.as_ref().and_then(|decimal| decimal.bits(precision));
        let expected = bits.zip(decimal.as_ref().map(|decimal| decimal.text.len()));
        for text in [data, &inside] {
            for found in number_by_each_way(text, precision) {
                let found = found.map(|(x, end)| (x.to_bits(), end));
                assert_eq!(found, expected, "{precision:?} {}", data.escape_ascii());
            }
        }
    }
}

/// The longest piece at the start that is a decimal.
fn longest(data: &[u8]) -> Option<Decimal<'_>> {
    let of_a_decimal = |b: &&u8| b"0123456789+-.eE".contains(*b);
    let most = data.iter().take_while(of_a_decimal).count();
    (1..=most).rev().find_map(|n| Decimal::of(&data[..n]))
}

/// A decimal by the grammar: its text, and the digits before and behind the point.
pub struct Decimal<'a> {
    text: &'a str,
    pub whole: &'a str,
    pub fraction: &'a str,
}

impl<'a> Decimal<'a> {
    pub fn of(piece: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(piece).ok()?;
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((m, e)) => (m, Some(e.strip_prefix(['+', '-']).unwrap_or(e))),
            None => (unsigned, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let fits = digits(whole)
            && digits(fraction)
            && !(whole.is_empty() && fraction.is_empty())
            && exponent.is_none_or(|e| !e.is_empty() && digits(e));
        fits.then_some(Decimal {
            text,
            whole,
            fraction,
        })
    }

    pub fn exact(&self) -> f64 {
        self.text.parse().expect("the grammar is a part of Rust's")
    }

    /// As it is stored, in the bits of an `f64`; `None` if it is too large.
    pub fn bits(&self, precision: Precision) -> Option<u64> {
        let stored = match precision {
            Precision::F32 => f64::from(self.text.parse::<f32>().expect("also for f32")),
            Precision::F64 => self.exact(),
        };
        stored.is_finite().then_some(stored.to_bits())
    }
}
