//! Fills blocks and sends them on.
//!
//! The start of the pipeline: who receives them is the manifest's business.

#![forbid(unsafe_code)]

use satrap::{Block, Error};

satrap::contract!("blocks.wit");
satrap::main!(main);

const BLOCKS: u32 = 8;
const BLOCK_LEN: usize = 1 << 20;

fn main() -> Result<(), Error> {
    let mut next = stage::Client::bind("next")?;
    for number in 0..BLOCKS {
        let mut block = Block::alloc(BLOCK_LEN)?;
        block.write(0, &number.to_le_bytes())?;
        // The block moves: this process has it no more.
        next.take(number, block)?;
    }
    next.send_done()?.recv()
}
