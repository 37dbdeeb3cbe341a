//! Opening an artifact. The order is the point: authenticate, then decode, then check every range, so that
//! code behind it indexes without fear. No input makes it panic.

use super::{ARTIFACT_MAX, CpuFeatures, Header, Key, MAGIC, NATIVE_ALIGN, Span, Target, engine};
use crate::limits::{HEAP_PAGES_MAX, WASM_PAGE};
use alloc::string::String;
use core::fmt;

pub(super) const MAC: usize = 32;
/// Magic and the header's length.
pub(super) const PREFIX: usize = MAGIC.len() + 4;

/// Why an artifact was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArtifactError {
    /// Shorter than an artifact can be, or longer than [`ARTIFACT_MAX`].
    Length(usize),
    /// It does not begin with [`MAGIC`].
    Magic,
    /// It was not made by the holder of the key, or was changed since.
    NotAuthentic,
    /// The header cannot be decoded.
    Header,
    /// This field of the header is out of its range.
    Field(&'static str),
    /// Made for another engine.
    Engine(String),
    /// Made for another target.
    Target(Target),
    /// It needs CPU features that are not there.
    Features(CpuFeatures),
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArtifactError::Length(length) => write!(f, "{length} bytes cannot be an artifact"),
            ArtifactError::Magic => f.write_str("not an artifact"),
            ArtifactError::NotAuthentic => {
                f.write_str("the artifact was not made by this machine's coordinator, or was changed since")
            }
            ArtifactError::Header => f.write_str("the artifact's header is malformed"),
            ArtifactError::Field(field) => write!(f, "the artifact's {field} is out of range"),
            ArtifactError::Engine(found) => {
                write!(f, "the artifact is for {found}, this is {}", engine::VERSION)
            }
            ArtifactError::Target(target) => write!(f, "the artifact is for {target}"),
            ArtifactError::Features(missing) => write!(f, "the CPU lacks {missing}"),
        }
    }
}

impl core::error::Error for ArtifactError {}

/// An authentic artifact whose every range is valid.
#[derive(Clone, Debug)]
pub struct Artifact<'a> {
    header: Header,
    payload: &'a [u8],
}

impl<'a> Artifact<'a> {
    /// Authenticates `file` in constant time, then decodes it and checks every range.
    pub fn parse(file: &'a [u8], key: &Key) -> Result<Artifact<'a>, ArtifactError> {
        let signed = authenticate(file, key)?;
        let (length, rest) = signed[MAGIC.len()..].split_at(4);
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let encoded = rest.get(..length).ok_or(ArtifactError::Header)?;
        let (header, trailing) =
            postcard::take_from_bytes::<Header>(encoded).map_err(|_| ArtifactError::Header)?;
        if !trailing.is_empty() {
            return Err(ArtifactError::Header);
        }
        let start = (PREFIX + length).next_multiple_of(NATIVE_ALIGN);
        let payload = signed.get(start..).ok_or(ArtifactError::Header)?;
        check(&header, payload.len())?;
        Ok(Artifact { header, payload })
    }

    /// Whether it can run here: same engine, same target, no CPU feature missing.
    pub fn fits(&self, target: Target, features: CpuFeatures) -> Result<(), ArtifactError> {
        let missing = self.header.features.minus(features);
        if self.header.engine != engine::VERSION {
            Err(ArtifactError::Engine(self.header.engine.clone()))
        } else if self.header.target != target {
            Err(ArtifactError::Target(self.header.target))
        } else if !missing.is_empty() {
            Err(ArtifactError::Features(missing))
        } else {
            Ok(())
        }
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The engine's ELF image. It stands at a multiple of [`NATIVE_ALIGN`] in the file.
    pub fn native(&self) -> &'a [u8] {
        self.bytes(self.header.native)
    }

    /// What stands in linear memory at first, by address: each range lies within the initial pages.
    pub fn image(&self) -> impl Iterator<Item = (u32, &'a [u8])> {
        self.header
            .image
            .iter()
            .map(|range| (range.address, self.bytes(range.bytes)))
    }

    /// A data segment for `memory_init`; `None` if the program has no such segment.
    pub fn segment(&self, index: u32) -> Option<&'a [u8]> {
        self.header
            .segments
            .get(index as usize)
            .map(|span| self.bytes(*span))
    }

    /// Contents of its [`CONTRACT_SECTION`](crate::call::CONTRACT_SECTION)s.
    pub fn contracts(&self) -> &'a [u8] {
        self.bytes(self.header.contracts)
    }

    /// Each span was checked against the payload by [`check`].
    fn bytes(&self, span: Span) -> &'a [u8] {
        &self.payload[span.range()]
    }
}

/// Everything before the MAC, if the MAC is right. It is at least [`PREFIX`] bytes long.
fn authenticate<'a>(file: &'a [u8], key: &Key) -> Result<&'a [u8], ArtifactError> {
    if file.len() < PREFIX + MAC || file.len() > ARTIFACT_MAX {
        return Err(ArtifactError::Length(file.len()));
    }
    let (signed, mac) = file.split_at(file.len() - MAC);
    if !signed.starts_with(&MAGIC) {
        return Err(ArtifactError::Magic);
    }
    let expected = blake3::keyed_hash(key, signed);
    // `Hash` compares in constant time, with a byte slice too.
    if expected == *mac {
        Ok(signed)
    } else {
        Err(ArtifactError::NotAuthentic)
    }
}

/// Checks every field that others index by. An authentic artifact fails here only by our own error.
pub(super) fn check(header: &Header, payload: usize) -> Result<(), ArtifactError> {
    let inside = |span: &Span| u64::from(span.offset) + u64::from(span.length) <= payload as u64;
    let field = |valid: bool, name| {
        if valid {
            Ok(())
        } else {
            Err(ArtifactError::Field(name))
        }
    };
    field(header.native.offset == 0 && inside(&header.native), "native code")?;
    field(header.trap_offset < header.native.length, "trap offset")?;
    field(inside(&header.contracts), "contract section")?;
    field(header.segments.iter().all(inside), "data segment")?;
    field(header.pages_max <= HEAP_PAGES_MAX, "maximum memory")?;
    field(header.pages_initial <= header.pages_max, "initial memory")?;
    let memory = u64::from(header.pages_initial) * u64::from(WASM_PAGE);
    let mut end = 0;
    for range in &header.image {
        field(
            inside(&range.bytes) && u64::from(range.address) >= end,
            "memory image",
        )?;
        end = u64::from(range.address) + u64::from(range.bytes.length);
    }
    field(end <= memory, "memory image")
}
