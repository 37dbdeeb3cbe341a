//! An encoder for interlaced PNGs (PNG specification, 8.2: Adam7), which the `png` crate reads but does not
//! write.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};

use crate::raster::{Raster, pack};

/// Where each pass starts, and its steps: x, y, step in x, step in y.
const PASSES: [(u32, u32, u32, u32); 7] = [
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
];

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n'];
const INTERLACED: u8 = 1;
const NO_FILTER: u8 = 0;

/// The whole file.
pub fn encode(raster: &Raster) -> std::io::Result<Vec<u8>> {
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, *b"IHDR", &header(raster));
    if raster.format.is_indexed() {
        chunk(&mut file, *b"PLTE", &raster.palette);
    }
    let mut data = ZlibEncoder::new(Vec::new(), Compression::fast());
    for pass in PASSES {
        write_pass(raster, pass, &mut data)?;
    }
    chunk(&mut file, *b"IDAT", &data.finish()?);
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

fn header(raster: &Raster) -> Vec<u8> {
    let mut header = Vec::with_capacity(13);
    header.extend(raster.width.to_be_bytes());
    header.extend(raster.height.to_be_bytes());
    header.extend([raster.format.depth, raster.format.color as u8, 0, 0, INTERLACED]);
    header
}

/// The rows of a reduced picture. A pass without pixels has no rows at all.
fn write_pass(raster: &Raster, pass: (u32, u32, u32, u32), to: &mut impl Write) -> std::io::Result<()> {
    let (start_x, start_y, step_x, step_y) = pass;
    if start_x >= raster.width {
        return Ok(());
    }
    for y in (start_y..raster.height).step_by(step_y as usize) {
        let columns = (start_x..raster.width).step_by(step_x as usize);
        let row: Vec<u16> = columns.flat_map(|x| raster.pixel(x, y)).copied().collect();
        to.write_all(&[NO_FILTER])?;
        to.write_all(&pack(&row, raster.format.depth))?;
    }
    Ok(())
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    // A picture of 8192 by 8192 pixels of 8 bytes stays far below the 2 GiB that a chunk may have.
    file.extend((data.len() as u32).to_be_bytes());
    let checked_from = file.len();
    file.extend(kind);
    file.extend(data);
    let sum = crc32fast::hash(&file[checked_from..]);
    file.extend(sum.to_be_bytes());
}
