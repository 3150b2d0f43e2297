//! A segment of the log: a header, and then records.
//!
//! ```text
//! header   "RBLOG001" · SHA-256 of the model it began with · sequence · length of the prelude · CRC-32
//! record   mark · length · sequence · durable · CRC-32 · payload
//! ```
//!
//! Numbers are little-endian. The sequence of a record is how many examples were learned before it.
//! `durable` says how much of the segment was synced when the record was written: so damage behind
//! which such a record stands is no torn tail.

/// The first bytes of every segment.
const MAGIC: &[u8; 8] = b"RBLOG001";

/// The first bytes of every record; no UTF-8 text holds them.
const MARK: [u8; 4] = [0xfe, 0xb1, 0xff, 0x0a];

/// The length of a header.
pub const HEADER: usize = 60;

/// The length of what stands before a payload.
pub const RECORD: usize = 28;

/// What a segment begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The SHA-256 of the model that the log began with.
    pub base: [u8; 32],
    /// How many examples were learned before it.
    pub sequence: u64,
    /// How many bytes of records it was made with.
    pub prelude: u64,
}

impl Header {
    /// Its bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.base);
        bytes.extend(self.sequence.to_le_bytes());
        bytes.extend(self.prelude.to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The header of a segment; `None` if it is damaged.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (fields, sum) = bytes.get(..HEADER)?.split_at(HEADER - 4);
        let sound = fields.starts_with(MAGIC) && crc32fast::hash(fields).to_le_bytes() == sum;
        sound.then_some(Header {
            base: fields[8..40].try_into().ok()?,
            sequence: number(&fields[40..]),
            prelude: number(&fields[48..]),
        })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&b| u64::from_le_bytes(b))
}

fn small(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&b| u32::from_le_bytes(b))
}

/// A record in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// How many examples were learned before it.
    pub sequence: u64,
    /// How much of the segment was synced when it was written.
    pub durable: u64,
    /// What it holds.
    pub payload: &'a [u8],
}

impl Record<'_> {
    /// Adds its bytes.
    pub fn write(&self, to: &mut Vec<u8>) {
        let start = to.len();
        to.extend(MARK);
        to.extend((self.payload.len() as u32).to_le_bytes());
        to.extend(self.sequence.to_le_bytes());
        to.extend(self.durable.to_le_bytes());
        let sum = checksum(&to[start + 4..], self.payload);
        to.extend(sum.to_le_bytes());
        to.extend(self.payload);
    }
}

fn checksum(fields: &[u8], payload: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(fields);
    sum.update(payload);
    sum.finalize()
}

/// The record at the beginning of `bytes`, if a sound one stands there.
fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let head = bytes.get(..RECORD)?;
    let length = small(&head[4..]) as usize;
    let payload = bytes.get(RECORD..)?.get(..length)?;
    let sound = head.starts_with(&MARK) && checksum(&head[4..24], payload) == small(&head[24..]);
    sound.then(|| Record {
        sequence: number(&head[8..]),
        durable: number(&head[16..]),
        payload,
    })
}

/// Why a segment cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where, in bytes from its beginning.
    pub at: u64,
    /// What was found there.
    pub what: &'static str,
}

/// What was read of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Its header.
    pub header: Header,
    /// Its sound records.
    pub records: Vec<Record<'a>>,
    /// Where they end: what comes behind is the torn tail of a write that was never synced.
    pub end: u64,
}

/// Reads a segment. Only the last one may have a torn tail.
///
/// # Errors
/// If something is damaged that had been synced, as far as that can be known.
pub fn read(bytes: &[u8], last: bool) -> Result<Segment<'_>, Damage> {
    let header = Header::of(bytes).ok_or(Damage {
        at: 0,
        what: "its header is damaged",
    })?;
    let mut segment = Segment {
        header,
        records: Vec::new(),
        end: HEADER as u64,
    };
    loop {
        let at = segment.end;
        let rest = &bytes[at as usize..];
        if rest.is_empty() && at >= HEADER as u64 + header.prelude {
            return Ok(segment);
        }
        if let Some(record) = record(rest) {
            segment.end += (RECORD + record.payload.len()) as u64;
            segment.records.push(record);
            continue;
        }
        let what = if at < HEADER as u64 + header.prelude || !last {
            "a record is damaged or missing"
        } else if proves_synced(rest, at) {
            "a record is damaged, and sound ones that were written later stand behind it"
        } else {
            return Ok(segment);
        };
        return Err(Damage { at, what });
    }
}

/// Whether a record stands somewhere in `rest` that was written when what is at `at` was synced.
fn proves_synced(rest: &[u8], at: u64) -> bool {
    (1..rest.len().saturating_sub(RECORD))
        .filter(|&i| rest[i..].starts_with(&MARK))
        .filter_map(|i| record(&rest[i..]))
        .any(|record| record.durable > at)
}
