//! Many byte strings, each kept once and known by its number.
//!
//! Numbers count up in the order of first appearance, so they never depend on the hash.

use std::hash::{BuildHasher, Hasher, RandomState};

use rosenblatt_core::data::StringTable;

/// Byte strings numbered by first appearance.
#[derive(Debug, Clone)]
pub(crate) struct Interner {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    hashes: Vec<u32>,
    /// Numbers plus one by hash; 0 is free. A power of two in length.
    slots: Vec<u32>,
    key: u64,
}

impl Default for Interner {
    fn default() -> Self {
        Interner {
            bytes: Vec::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            slots: vec![0; 16],
            // Drawn anew each time, so that no file can be made to collide.
            key: RandomState::new().build_hasher().finish(),
        }
    }
}

/// A hash of `bytes` that is the same everywhere and for ever when `key` is.
pub(crate) fn hash(bytes: &[u8], key: u64) -> u64 {
    let mut h = key ^ (bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut mix = |word: u64| {
        let wide = u128::from(h ^ word) * u128::from(0xA076_1D64_78BD_642F_u64);
        h = (wide as u64) ^ (wide >> 64) as u64 ^ word.rotate_left(29);
    };
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        mix(word.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
    }
    mix(words
        .remainder()
        .iter()
        .rev()
        .fold(0, |w, &b| w << 8 | u64::from(b)));
    h ^= h >> 32;
    h = h.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    h ^ h >> 32
}

impl Interner {
    /// The number of strings.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// String number `i`.
    pub(crate) fn get(&self, i: u32) -> &[u8] {
        let i = i as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    /// String number `i` as text, bytes that are no UTF-8 replaced.
    pub(crate) fn text(&self, i: u32) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.get(i))
    }

    /// All strings, in order.
    pub(crate) fn strings(&self) -> StringTable {
        (0..self.len() as u32).map(|i| self.text(i)).collect()
    }

    /// The number of `text`, and whether it is new.
    pub(crate) fn intern(&mut self, text: &[u8]) -> (u32, bool) {
        if (self.ends.len() + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let hash = hash(text, self.key) as u32;
        let slot = match self.look_up(text, hash) {
            Ok(number) => return (number, false),
            Err(free) => free,
        };
        let number = self.ends.len() as u32;
        self.slots[slot] = number + 1;
        self.hashes.push(hash);
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        (number, true)
    }

    /// The number of `text`, if it is known.
    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        self.look_up(text, hash(text, self.key) as u32).ok()
    }

    /// The number of `text`, which has this hash, or else the slot for it.
    #[inline]
    fn look_up(&self, text: &[u8], hash: u32) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let Some(number) = self.slots[slot].checked_sub(1) else {
                return Err(slot);
            };
            if self.hashes[number as usize] == hash && self.get(number) == text {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Takes over the strings of `other`; gives the new number of each.
    pub(crate) fn merge(&mut self, other: &Interner) -> Vec<u32> {
        (0..other.len() as u32)
            .map(|i| self.intern(other.get(i)).0)
            .collect()
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![0; mask + 1];
        for (number, &hash) in self.hashes.iter().enumerate() {
            let mut slot = hash as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = number as u32 + 1;
        }
    }
}

impl<'a> FromIterator<&'a str> for Interner {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut interner = Interner::default();
        texts.into_iter().for_each(|t| {
            interner.intern(t.as_bytes());
        });
        interner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_string_keeps_its_number() {
        let mut interner = Interner::default();
        for round in 0..2 {
            for i in 0..5000u32 {
                let (number, new) = interner.intern(format!("word{i}").as_bytes());
                assert_eq!((number, new), (i, round == 0));
            }
        }
        assert_eq!(interner.get(77), b"word77");
        assert_eq!(interner.find(b"word4999"), Some(4999));
        assert_eq!(interner.find(b"word5000"), None);
        let mut other = Interner::default();
        other.intern(b"new");
        other.intern(b"word3");
        assert_eq!(interner.merge(&other), [5000, 3]);
    }

    #[test]
    fn a_keyed_hash_is_part_of_the_promise() {
        // Hashed text features must fall into the same buckets in every version.
        assert_ne!(hash(b"a", 0), hash(b"b", 0));
        assert_ne!(hash(b"", 0), hash(b"\0", 0));
        assert_ne!(hash(b"abcdefgh", 0), hash(b"abcdefgi", 0));
    }
}
