//! As much of protocol buffers as an ONNX file needs: writing fields.
//!
//! A message is its fields one after the other, each a key (field number and wire type) and a
//! value: a variable-length integer, four bytes, or a length and so many bytes.

/// A message being written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

impl Message {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    /// An integer; negative ones take all 64 bits.
    pub(crate) fn int(mut self, field: u64, value: i64) -> Self {
        self.key(field, VARINT);
        self.varint(value as u64);
        self
    }

    /// A float.
    pub(crate) fn float(mut self, field: u64, value: f32) -> Self {
        self.key(field, FIXED32);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// A text or bytes.
    pub(crate) fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.key(field, BYTES);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    /// A message inside this one.
    pub(crate) fn message(self, field: u64, value: Message) -> Self {
        self.bytes(field, value.0)
    }

    /// A field for each item.
    pub(crate) fn each<T>(
        self,
        items: impl IntoIterator<Item = T>,
        add: impl Fn(Self, T) -> Self,
    ) -> Self {
        items.into_iter().fold(self, add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_encoding_says() {
        // The examples of the format's own description.
        assert_eq!(Message::new().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(
            Message::new().bytes(2, "testing").into_bytes(),
            [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]
        );
        let inner = Message::new().int(1, 150);
        assert_eq!(
            Message::new().message(3, inner).into_bytes(),
            [0x1a, 0x03, 0x08, 0x96, 0x01]
        );
        assert_eq!(Message::new().int(1, -1).into_bytes().len(), 11);
        assert_eq!(
            Message::new().float(2, 1.0).into_bytes(),
            [0x15, 0, 0, 0x80, 0x3f]
        );
    }
}
