//! Numbers in memory: our own, or lent by whoever holds them.
//!
//! A caller that already has an array (another language's, a mapped file's) should not pay
//! for a second one. A lent buffer keeps its owner alive, so it can be cloned and outlive the
//! call it was made for.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A list of numbers that is read as a slice wherever they lie.
#[derive(Clone)]
pub struct Buffer<T: 'static>(Place<T>);

#[derive(Clone)]
enum Place<T: 'static> {
    Own(Vec<T>),
    Lent { values: &'static [T], owner: Owner },
}

/// Who holds numbers that are lent.
#[derive(Clone)]
pub enum Owner {
    /// Somebody who only keeps them.
    Keeper {
        /// The array's holder.
        _held: Arc<dyn Any + Send + Sync>,
    },
    /// Somebody who wants to know what is read.
    Lender(Arc<dyn Lender>),
}

/// An owner who wants to know how much of what he lent was read.
pub trait Lender: Send + Sync {
    /// So many bytes were read.
    fn hear(&self, bytes: usize);
}

impl<T> Buffer<T> {
    /// Numbers that `owner` holds.
    ///
    /// # Safety
    /// As long as `owner` is not dropped, `values` must stay where they are and nobody may
    /// write to them.
    #[allow(unsafe_code)] // A copy of the data is what this type is there to avoid.
    pub unsafe fn lent(values: &[T], owner: Arc<dyn Any + Send + Sync>) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Self::lent_by(values, Owner::Keeper { _held: owner }) }
    }

    /// The same, of an owner of either kind.
    ///
    /// # Safety
    /// As for [`lent`](Self::lent).
    #[allow(unsafe_code)] // As above.
    #[doc(hidden)]
    pub unsafe fn lent_by(values: &[T], owner: Owner) -> Self {
        // SAFETY: the slice is only reachable through this buffer and its clones, each of
        // which holds the owner, and the caller promises that the owner keeps it valid.
        let values = unsafe { std::slice::from_raw_parts(values.as_ptr(), values.len()) };
        Buffer(Place::Lent { values, owner })
    }

    /// Tells a lender that so many of the numbers were read.
    pub(crate) fn were_read(&self, count: usize) {
        if let Place::Lent {
            owner: Owner::Lender(lender),
            ..
        } = &self.0
        {
            lender.hear(count * size_of::<T>());
        }
    }
}

#[cfg(test)]
impl<T> Buffer<T> {
    fn is_owned(&self) -> bool {
        matches!(self.0, Place::Own(_))
    }
}

impl<T: Clone> Buffer<T> {
    /// A list that can grow; numbers that were lent are copied first.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if !matches!(self.0, Place::Own(_)) {
            self.0 = Place::Own(self.to_vec());
        }
        match &mut self.0 {
            Place::Own(values) => values,
            _ => unreachable!("numbers of others were copied just now"),
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Own(values) => values,
            Place::Lent { values, .. } => values,
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Buffer(Place::Own(values))
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)] // The only way to make a lent buffer.
    fn lent_numbers_are_read_in_place_and_keep_their_owner() {
        let owner = Arc::new(vec![1.0, 2.0, 3.0]);
        let place = owner.as_ptr();
        // SAFETY: nobody changes the vector, and the buffer holds it.
        let mut buffer = unsafe { Buffer::lent(&owner[..], owner.clone()) };
        let copy = buffer.clone();
        assert_eq!((buffer.as_ptr(), copy.as_ptr()), (place, place));
        assert_eq!(Arc::strong_count(&owner), 3);
        assert!(!buffer.is_owned());
        buffer.to_mut().push(4.0);
        assert!(buffer.is_owned());
        assert_eq!(*buffer, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(*owner, [1.0, 2.0, 3.0]);
        assert_eq!(copy, Buffer::from(vec![1.0, 2.0, 3.0]));
        drop(copy);
        assert_eq!(Arc::strong_count(&owner), 1);
    }
}
