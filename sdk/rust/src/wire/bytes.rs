//! `list<u8>`: in the body while it is short, in a block of its own from a page on.
//!
//! Principle: bytes are copied at most once between the sender's memory and the receiver's, and not at all
//! by those who keep them in blocks. Neighbours: `wire.rs` (writer and reader), `values.rs` (other types).

use super::super::{Block, Error};
use super::{Decode, Encode, IN_BLOCK, INLINE, Malformed, PAGE, Reader, Writer, read_block};

/// A received `list<u8>`, or one to be sent from within a record. It holds its bytes, or the block in which
/// they came and which nobody has copied yet.
#[derive(Debug)]
pub struct Bytes(Storage);

#[derive(Debug)]
enum Storage {
    /// As short as a whole inline message: no allocation.
    Short(u8, [u8; INLINE]),
    Heap(Vec<u8>),
    Block(Block),
}

impl Bytes {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::Short(len, _) => *len as usize,
            Storage::Heap(bytes) => bytes.len(),
            Storage::Block(block) => block.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, unless they are still in a block.
    pub fn get(&self) -> Option<&[u8]> {
        match &self.0 {
            Storage::Short(len, bytes) => Some(&bytes[..*len as usize]),
            Storage::Heap(bytes) => Some(bytes),
            Storage::Block(_) => None,
        }
    }

    /// The bytes, which the first use copies out of their block. [`Bytes::into_block`] avoids the copy.
    ///
    /// # Errors
    ///
    /// The block cannot be read, or does not fit into this process.
    pub fn as_slice(&mut self) -> Result<&[u8], Error> {
        if let Storage::Block(block) = &self.0 {
            self.0 = Storage::Heap(read_block(block)?);
        }
        Ok(self.get().unwrap_or_default())
    }

    /// The bytes as a vector; copied unless they are in one already.
    ///
    /// # Errors
    ///
    /// The block cannot be read, or does not fit into this process.
    pub fn into_vec(self) -> Result<Vec<u8>, Error> {
        match self.0 {
            Storage::Short(len, bytes) => Ok(bytes[..len as usize].to_vec()),
            Storage::Heap(bytes) => Ok(bytes),
            Storage::Block(block) => read_block(&block),
        }
    }

    /// The block that the bytes came in, without a copy, or the bytes again if they are in none.
    ///
    /// # Errors
    ///
    /// The same bytes.
    pub fn into_block(self) -> Result<Block, Bytes> {
        match self.0 {
            Storage::Block(block) => Ok(block),
            other => Err(Bytes(other)),
        }
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        if bytes.len() > INLINE {
            return Bytes(Storage::Heap(bytes.to_vec()));
        }
        let mut short = [0; INLINE];
        short[..bytes.len()].copy_from_slice(bytes);
        Bytes(Storage::Short(bytes.len() as u8, short))
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes(Storage::Heap(bytes))
    }
}

impl From<Block> for Bytes {
    fn from(block: Block) -> Bytes {
        Bytes(Storage::Block(block))
    }
}

/// A copy is sent, because the bytes may be used again. A block moves only from a parameter: see [`Body`].
impl Encode for &Bytes {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        match &self.0 {
            Storage::Block(block) => writer.put_bytes(at, &read_block(block)?),
            _ => writer.put_bytes(at, self.get().unwrap_or_default()),
        }
    }
}

impl Encode for Bytes {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        match self.0 {
            Storage::Block(block) if writer.wants_block(block.len()) => {
                writer.put_block(at, block);
                Ok(())
            }
            other => (&Bytes(other)).encode(writer, at),
        }
    }
}

impl Decode for Bytes {
    fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error> {
        let offset: u32 = reader.get(at)?;
        if offset & IN_BLOCK == 0 {
            return Ok(Bytes::from(reader.text(at)?));
        }
        let len = reader.get::<u32>(at + 4)? as usize;
        let block = Block::from_raw(reader.handle(offset & !IN_BLOCK)?);
        if block.len() != len || len < PAGE {
            return Err(Malformed::BlockLength.into());
        }
        Ok(Bytes::from(block))
    }
}

/// What may be given for a `list<u8>` parameter: borrowed bytes, which are copied once, or owned ones, of
/// which a block moves without a copy.
#[derive(Debug)]
pub enum Body<'a> {
    /// Bytes in memory.
    Borrowed(&'a [u8]),
    /// Bytes that came by a message, or a block.
    Owned(Bytes),
}

impl Encode for Body<'_> {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        match self {
            Body::Borrowed(bytes) => writer.put_bytes(at, bytes),
            Body::Owned(bytes) => bytes.encode(writer, at),
        }
    }
}

impl<'a> From<&'a [u8]> for Body<'a> {
    fn from(bytes: &'a [u8]) -> Body<'a> {
        Body::Borrowed(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Body<'a> {
    fn from(bytes: &'a [u8; N]) -> Body<'a> {
        Body::Borrowed(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Body<'a> {
    fn from(bytes: &'a Vec<u8>) -> Body<'a> {
        Body::Borrowed(bytes)
    }
}

impl From<Bytes> for Body<'_> {
    fn from(bytes: Bytes) -> Self {
        Body::Owned(bytes)
    }
}

impl From<Block> for Body<'_> {
    fn from(block: Block) -> Self {
        Body::Owned(block.into())
    }
}
