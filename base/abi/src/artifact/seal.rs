//! Sealing an artifact: laying out the payload, encoding the header, authenticating the whole.
//!
//! What `open` would refuse is refused here already, so that the fault shows where it was made.

use super::open::{MAC, PREFIX, check};
use super::{ARTIFACT_MAX, CpuFeatures, Entry, Header, ImageRange, Key, MAGIC, NATIVE_ALIGN, Span, Target};
use super::{ArtifactError, engine};
use crate::Digest;
use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::fmt;

/// What goes into an artifact. Fields mean what they mean in [`Header`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(
    missing_docs,
    reason = "each is described at the header's field of the same name"
)]
pub struct Parts<'a> {
    pub target: Target,
    pub features: CpuFeatures,
    pub source: Digest,
    pub pages_initial: u32,
    pub pages_max: u32,
    pub image: &'a [(u32, Vec<u8>)],
    pub segments: &'a [Vec<u8>],
    pub stack_pointer: bool,
    pub table: bool,
    pub start: bool,
    pub thread: bool,
    pub entry: Entry,
    pub trap_offset: u32,
    pub imports: Vec<String>,
    pub contracts: &'a [u8],
    pub native: &'a [u8],
}

/// Why an artifact could not be sealed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SealError {
    /// It would be longer than [`ARTIFACT_MAX`].
    TooLarge,
    /// A part contradicts another: nobody could open the artifact.
    Invalid(ArtifactError),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SealError::TooLarge => write!(f, "the artifact would be larger than {} MiB", ARTIFACT_MAX >> 20),
            SealError::Invalid(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SealError {}

/// Makes the artifact's file.
pub fn seal(parts: Parts<'_>, key: &Key) -> Result<Vec<u8>, SealError> {
    let mut payload = Payload::default();
    let header = lay_out(parts, &mut payload)?;
    check(&header, payload.bytes.len()).map_err(SealError::Invalid)?;
    let encoded = postcard::to_allocvec(&header).map_err(|_| SealError::Invalid(ArtifactError::Header))?;
    let length = u32::try_from(encoded.len()).map_err(|_| SealError::TooLarge)?;
    let start = (PREFIX + encoded.len()).next_multiple_of(NATIVE_ALIGN);
    let size = start + payload.bytes.len() + MAC;
    if size > ARTIFACT_MAX {
        return Err(SealError::TooLarge);
    }
    let mut file = Vec::with_capacity(size);
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(&encoded);
    file.resize(start, 0);
    file.append(&mut payload.bytes);
    let mac = blake3::keyed_hash(key, &file);
    file.extend_from_slice(mac.as_bytes());
    Ok(file)
}

/// Native code comes first, so that it is aligned; everything else follows.
fn lay_out(parts: Parts<'_>, payload: &mut Payload) -> Result<Header, SealError> {
    Ok(Header {
        native: payload.push(parts.native)?,
        target: parts.target,
        features: parts.features,
        engine: engine::VERSION.to_owned(),
        source: parts.source,
        pages_initial: parts.pages_initial,
        pages_max: parts.pages_max,
        image: parts
            .image
            .iter()
            .map(|(address, bytes)| {
                Ok(ImageRange {
                    address: *address,
                    bytes: payload.push(bytes)?,
                })
            })
            .collect::<Result<_, SealError>>()?,
        segments: parts
            .segments
            .iter()
            .map(|bytes| payload.push(bytes))
            .collect::<Result<_, _>>()?,
        stack_pointer: parts.stack_pointer,
        table: parts.table,
        start: parts.start,
        thread: parts.thread,
        entry: parts.entry,
        trap_offset: parts.trap_offset,
        imports: parts.imports,
        contracts: payload.push(parts.contracts)?,
    })
}

#[derive(Default)]
struct Payload {
    bytes: Vec<u8>,
}

impl Payload {
    fn push(&mut self, bytes: &[u8]) -> Result<Span, SealError> {
        if self.bytes.len() + bytes.len() > ARTIFACT_MAX {
            return Err(SealError::TooLarge);
        }
        // Both fit: ARTIFACT_MAX is below 4 GiB.
        let span = Span {
            offset: self.bytes.len() as u32,
            length: bytes.len() as u32,
        };
        self.bytes.extend_from_slice(bytes);
        Ok(span)
    }
}
