//! The arrays among the parts, of numbers of several kinds.

use std::borrow::Cow;

use safetensors::tensor::Dtype;

/// The numbers of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum Array<'a> {
    /// Bytes.
    U8(Cow<'a, [u8]>),
    /// 32-bit whole numbers.
    U32(Cow<'a, [u32]>),
    /// 64-bit whole numbers.
    U64(Cow<'a, [u64]>),
    /// binary32.
    F32(Cow<'a, [f32]>),
    /// binary64.
    F64(Cow<'a, [f64]>),
}

impl Array<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Array::U8(v) => v.len(),
            Array::U32(v) => v.len(),
            Array::U64(v) => v.len(),
            Array::F32(v) => v.len(),
            Array::F64(v) => v.len(),
        }
    }

    pub(super) fn dtype(&self) -> Dtype {
        match self {
            Array::U8(_) => Dtype::U8,
            Array::U32(_) => Dtype::U32,
            Array::U64(_) => Dtype::U64,
            Array::F32(_) => Dtype::F32,
            Array::F64(_) => Dtype::F64,
        }
    }

    /// Its numbers, the lowest byte of each first.
    #[cfg(target_endian = "little")]
    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(match self {
            Array::U8(v) => v,
            Array::U32(v) => bytemuck::cast_slice(v),
            Array::U64(v) => bytemuck::cast_slice(v),
            Array::F32(v) => bytemuck::cast_slice(v),
            Array::F64(v) => bytemuck::cast_slice(v),
        })
    }

    /// Its numbers, the lowest byte of each first.
    #[cfg(not(target_endian = "little"))]
    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Owned(match self {
            Array::U8(v) => v.to_vec(),
            Array::U32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Array::U64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Array::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Array::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        })
    }

    pub(super) fn from_bytes(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
        Some(match dtype {
            Dtype::U8 => u8::wrap(bytes.to_vec().into()),
            Dtype::U32 => u32::wrap(words(bytes).map(u32::from_le_bytes).collect()),
            Dtype::U64 => u64::wrap(words(bytes).map(u64::from_le_bytes).collect()),
            Dtype::F32 => f32::wrap(words(bytes).map(f32::from_le_bytes).collect()),
            Dtype::F64 => f64::wrap(words(bytes).map(f64::from_le_bytes).collect()),
            _ => return None,
        })
    }
}

fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// A kind of number that arrays hold.
pub trait Element: Clone {
    /// Wraps a list.
    fn wrap(values: Cow<'_, [Self]>) -> Array<'_>;
    /// The list, if the array holds this kind.
    fn unwrap(array: Array<'_>) -> Option<Vec<Self>>;
}

macro_rules! element {
    ($type:ty, $kind:ident) => {
        impl Element for $type {
            fn wrap(values: Cow<'_, [$type]>) -> Array<'_> {
                Array::$kind(values)
            }

            fn unwrap(array: Array<'_>) -> Option<Vec<$type>> {
                match array {
                    Array::$kind(values) => Some(values.into_owned()),
                    _ => None,
                }
            }
        }
    };
}

element!(u8, U8);
element!(u32, U32);
element!(u64, U64);
element!(f32, F32);
element!(f64, F64);
