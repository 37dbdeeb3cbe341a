//! Varied PNGs: every colour type and bit depth, plain and interlaced, from one pixel to some megabytes. The
//! same seed gives the same files.
//!
//! The PNG service's demo and tests are fed with them. Neighbours: `picture` paints, `raster` holds samples
//! as PNG packs them, `interlace` writes what the `png` crate's encoder cannot; `main` is the program.

#![forbid(unsafe_code)]

mod interlace;
mod picture;
mod raster;

use std::error::Error;

use picture::{Motif, Random};
use raster::{FORMATS, Format, Raster};

/// Which pictures are wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many.
    pub count: usize,
    /// Another seed, other pictures.
    pub seed: u64,
    /// Width of the largest, in pixels, 1 to 8192; 1600 makes some 4 MB.
    pub largest: u32,
}

/// A PNG file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name, which says what is in it.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Makes the pictures one after the other.
///
/// # Errors
/// The encoder's; none is known to come.
pub fn files(options: &Options) -> impl Iterator<Item = Result<File, Box<dyn Error + Send + Sync>>> {
    let options = options.clone();
    (0..options.count).map(move |index| {
        let plan = Plan::new(index, &options);
        let bytes = plan.encode()?;
        let name = plan.file_name(index);
        Ok(File { name, bytes })
    })
}

/// One picture to come.
struct Plan {
    format: Format,
    interlaced: bool,
    width: u32,
    height: u32,
    motif: Motif,
    seed: u64,
}

impl Plan {
    /// Walks through all formats, plain and interlaced, before any comes twice; the sizes grow and shrink
    /// at another pace, so that each format meets each size.
    fn new(index: usize, options: &Options) -> Plan {
        const DIVISORS: [u32; 7] = [1, 64, 5, 2, 16, 3, 1600];
        let mut random = Random::new(options.seed.wrapping_add(index as u64));
        let width = (options.largest / DIVISORS[index % DIVISORS.len()]).max(1);
        let height = (width * 3 / 4).max(1) + random.below(width / 8 + 1);
        Plan {
            format: FORMATS[index % FORMATS.len()],
            interlaced: index / FORMATS.len() % 2 == 1,
            width,
            height,
            motif: Motif::ALL[random.below(Motif::ALL.len() as u32) as usize],
            seed: random.next(),
        }
    }

    fn file_name(&self, index: usize) -> String {
        let layout = if self.interlaced { "adam7" } else { "plain" };
        let (Format { name, depth, .. }, Plan { width, height, .. }) = (self.format, self);
        format!("{index:03}-{name}{depth}-{layout}-{width}x{height}.png")
    }

    fn encode(&self) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let raster = self.motif.paint(self.format, self.width, self.height, self.seed);
        if self.interlaced {
            Ok(interlace::encode(&raster)?)
        } else {
            Ok(encode_plain(&raster)?)
        }
    }
}

fn encode_plain(raster: &Raster) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, raster.width, raster.height);
    encoder.set_color(raster.format.color);
    encoder.set_depth(raster.format.bit_depth());
    if raster.format.is_indexed() {
        encoder.set_palette(raster.palette.clone());
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&raster.packed())?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(count: usize) -> Options {
        Options {
            count,
            seed: 7,
            largest: 90,
        }
    }

    fn samples(bytes: &[u8]) -> (png::Info<'static>, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        (reader.info().clone(), pixels)
    }

    #[test]
    fn every_format_is_written_plain_and_interlaced_and_reads_back() {
        let options = options(2 * FORMATS.len());
        for index in 0..options.count {
            let plan = Plan::new(index, &options);
            let raster = plan.motif.paint(plan.format, plan.width, plan.height, plan.seed);
            let (info, pixels) = samples(&plan.encode().unwrap());
            assert_eq!((info.width, info.height), (plan.width, plan.height));
            assert_eq!(
                (info.color_type, info.bit_depth as u8),
                (plan.format.color, plan.format.depth)
            );
            assert_eq!(info.interlaced, plan.interlaced);
            assert_eq!(pixels, raster.packed(), "{}", plan.file_name(index));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let options = options(3);
        let encode = |index| Plan::new(index, &options).encode().unwrap();
        assert_eq!(encode(2), encode(2));
    }
}
