//! The arrays among the parts, of numbers of several kinds.

use std::borrow::Cow;

use bytemuck::allocation::pod_collect_to_vec;
use safetensors::tensor::Dtype;

#[cfg(not(target_endian = "little"))]
compile_error!("model files hold the lowest byte of each number first, as memory must");

/// The numbers of an array, the lowest byte of each first.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<'a> {
    dtype: Dtype,
    len: usize,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Array<'a> {
    /// These numbers, without a copy where they are borrowed.
    pub(super) fn new<T: Element>(values: Cow<'a, [T]>) -> Self {
        Array {
            dtype: T::DTYPE,
            len: values.len(),
            bytes: match values {
                Cow::Borrowed(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
                Cow::Owned(values) => Cow::Owned(bytemuck::cast_slice(&values).to_vec()),
            },
        }
    }

    /// The numbers of a file; `None` if they are of a kind that no model uses.
    pub(super) fn from_bytes(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
        let known = [Dtype::U8, Dtype::U32, Dtype::U64, Dtype::F32, Dtype::F64];
        known.contains(&dtype).then(|| Array {
            dtype,
            len: bytes.len() * 8 / dtype.bitsize(),
            bytes: Cow::Owned(bytes.to_vec()),
        })
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn dtype(&self) -> Dtype {
        self.dtype
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The numbers, if they are of this kind.
    pub(super) fn values<T: Element>(&self) -> Option<Vec<T>> {
        (self.dtype == T::DTYPE).then(|| pod_collect_to_vec(&self.bytes))
    }
}

/// A kind of number that arrays hold.
pub trait Element: bytemuck::Pod {
    /// What a file calls it.
    const DTYPE: Dtype;
}

impl Element for u8 {
    const DTYPE: Dtype = Dtype::U8;
}

impl Element for u32 {
    const DTYPE: Dtype = Dtype::U32;
}

impl Element for u64 {
    const DTYPE: Dtype = Dtype::U64;
}

impl Element for f32 {
    const DTYPE: Dtype = Dtype::F32;
}

impl Element for f64 {
    const DTYPE: Dtype = Dtype::F64;
}
