//! The types that features are stored in, and decimals rounded to them.

use std::ops::Range;
use std::str::FromStr;

use rosenblatt_core::data::{Buffer, Precision, Values};

/// Powers of ten, which `f64` holds exactly.
static POWERS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// The negative powers of ten, rounded.
static TENTHS: [f64; 16] = [
    1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14,
    1e-15,
];

/// Numbers, then the same with a minus: a sign costs nothing that way, and a branch on it would
/// go wrong half the time.
const fn signed(numbers: [f64; 16]) -> [f64; 32] {
    let mut all = [0.0; 32];
    let mut k = 0;
    while k < 16 {
        (all[k], all[k + 16]) = (numbers[k], -numbers[k]);
        k += 1;
    }
    all
}

static SIGNED_POWERS: [f64; 32] = signed(POWERS);
static SIGNED_TENTHS: [f64; 32] = signed(TENTHS);

/// Bytes of a value.
pub(crate) fn value_width(precision: Precision) -> u64 {
    match precision {
        Precision::F32 => 4,
        Precision::F64 => 8,
    }
}

/// Bytes of an index.
pub(crate) const INDEX_WIDTH: u64 = 4;

/// A number type that features are stored in.
pub(crate) trait Stored:
    Copy + Default + PartialEq + Send + Sync + FromStr + 'static
{
    const ZERO: Self;
    const MISSING: Self;
    const PRECISION: Precision;

    /// For [`scaled`](Self::scaled): up to 15 decimal places, then the same with a minus.
    const SCALES: &[f64; 32];

    /// A mantissa (below 10¹⁵) with a scale, and whether that is sure to be rounded correctly.
    fn scaled(mantissa: f64, scale: f64) -> (Self, bool);

    /// `mantissa` (below 10¹⁵) divided by 10^`places` (up to 15), if that is soon told.
    #[inline(always)]
    fn from_small(mantissa: u64, places: u32, negative: bool) -> Option<Self> {
        let place = (places as usize & 15) | usize::from(negative) << 4;
        let (value, sure) = Self::scaled(mantissa as i64 as f64, Self::SCALES[place]);
        sure.then_some(value)
    }

    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
    #[inline(always)]
    fn finite(self) -> bool {
        self.to_f64().is_finite()
    }
    fn wrap(values: impl Into<Buffer<Self>>) -> Values;
    /// Some of a list that is known to be of this type.
    fn slice(values: &Values, range: Range<usize>) -> &[Self];
}

impl Stored for f64 {
    const ZERO: f64 = 0.0;
    const MISSING: f64 = f64::NAN;
    const PRECISION: Precision = Precision::F64;

    const SCALES: &[f64; 32] = &SIGNED_POWERS;

    #[inline(always)]
    fn scaled(mantissa: f64, scale: f64) -> (f64, bool) {
        (mantissa / scale, true)
    }

    #[inline(always)]
    fn from_f64(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    fn wrap(values: impl Into<Buffer<f64>>) -> Values {
        Values::F64(values.into())
    }

    #[inline(always)]
    fn slice(values: &Values, range: Range<usize>) -> &[f64] {
        match values {
            Values::F64(values) => &values[range],
            _ => &[],
        }
    }
}

impl Stored for f32 {
    const ZERO: f32 = 0.0;
    const MISSING: f32 = f32::NAN;
    const PRECISION: Precision = Precision::F32;

    const SCALES: &[f64; 32] = &SIGNED_TENTHS;

    #[inline(always)]
    fn scaled(mantissa: f64, scale: f64) -> (f32, bool) {
        // A product is found much sooner than a quotient. Both its factor and it are rounded, so
        // it may be two units of f64 off: it rounds on to the right f32 unless it lies about
        // halfway between two of them.
        let value = mantissa * scale;
        let beyond_halfway = (value.to_bits() as u32).wrapping_sub(0x1000_0000 - 4) & 0x1FFF_FFFF;
        (value as f32, beyond_halfway > 8)
    }

    #[inline(always)]
    fn from_f64(x: f64) -> f32 {
        x as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn wrap(values: impl Into<Buffer<f32>>) -> Values {
        Values::F32(values.into())
    }

    #[inline(always)]
    fn slice(values: &Values, range: Range<usize>) -> &[f32] {
        match values {
            Values::F32(values) => &values[range],
            _ => &[],
        }
    }
}
