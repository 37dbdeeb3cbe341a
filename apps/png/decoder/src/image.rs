//! What the service tells about a PNG: its header, a histogram of its luminance, a thumbnail. Plain functions
//! of bytes, tested on the host.

use std::fmt;
use std::io::Cursor;

use png::{ColorType, Decoder, Limits, Transformations};

/// Longest side of a thumbnail, in pixels.
pub const THUMBNAIL_SIDE: u32 = 128;

/// Most pixels that are decoded. A small file can claim to be enormous; at four bytes each these fill
/// 128 MiB, half of the process's memory.
pub const PIXELS_MAX: u64 = 32 << 20;

/// What is known of a decoded picture.
#[derive(Debug)]
pub struct Description {
    pub width: u32,
    pub height: u32,
    pub color: ColorType,
    /// Bits of each sample in the file: 1 to 16.
    pub bit_depth: u8,
    pub interlaced: bool,
    /// Pixels of each luminance, 0 (black) to 255.
    pub histogram: Vec<u32>,
    /// A PNG of at most [`THUMBNAIL_SIDE`] pixels a side.
    pub thumbnail: Vec<u8>,
}

/// Why there is no description.
#[derive(Debug)]
pub enum Rejection {
    /// The bytes are no PNG, or a broken one.
    Malformed(png::DecodingError),
    /// More pixels than [`PIXELS_MAX`].
    TooManyPixels(u64),
    /// The thumbnail could not be written.
    Thumbnail(png::EncodingError),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed(error) => error.fmt(f),
            Rejection::TooManyPixels(pixels) => {
                write!(f, "the picture has {pixels} pixels; {PIXELS_MAX} can be decoded")
            }
            Rejection::Thumbnail(error) => write!(f, "no thumbnail: {error}"),
        }
    }
}

/// Decodes a PNG and describes it.
pub fn describe(file: &[u8]) -> Result<Description, Rejection> {
    let limits = Limits {
        bytes: PIXELS_MAX as usize,
    };
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), limits);
    let (color, bit_depth) = {
        let header = decoder.read_header_info().map_err(Rejection::Malformed)?;
        let pixels = u64::from(header.width) * u64::from(header.height);
        if pixels > PIXELS_MAX {
            return Err(Rejection::TooManyPixels(pixels));
        }
        (header.color_type, header.bit_depth as u8)
    };
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(Rejection::Malformed)?;
    // The size is known to be small: `PIXELS_MAX` pixels of at most four bytes.
    let mut samples = vec![0; reader.output_buffer_size().unwrap_or_default()];
    let frame = reader.next_frame(&mut samples).map_err(Rejection::Malformed)?;
    let picture = Picture {
        width: frame.width,
        height: frame.height,
        channels: frame.color_type.samples(),
        samples: &samples[..frame.buffer_size()],
    };
    Ok(Description {
        width: frame.width,
        height: frame.height,
        color,
        bit_depth,
        interlaced: reader.info().interlaced,
        histogram: picture.histogram(),
        thumbnail: picture.thumbnail().map_err(Rejection::Thumbnail)?,
    })
}

/// Decoded samples of eight bits: gray, gray and alpha, colour, or colour and alpha.
struct Picture<'a> {
    width: u32,
    height: u32,
    channels: usize,
    samples: &'a [u8],
}

impl Picture<'_> {
    fn pixels(&self) -> impl Iterator<Item = [u8; 4]> + '_ {
        self.samples.chunks_exact(self.channels).map(to_rgba)
    }

    fn histogram(&self) -> Vec<u32> {
        let mut buckets = vec![0; 256];
        for pixel in self.pixels() {
            buckets[usize::from(luminance(pixel))] += 1;
        }
        buckets
    }

    /// Scales down so that both sides fit (never up), and encodes.
    fn thumbnail(&self) -> Result<Vec<u8>, png::EncodingError> {
        let longest = self.width.max(self.height);
        let scaled = |side: u32| match longest > THUMBNAIL_SIDE {
            // The quotient is at most THUMBNAIL_SIDE, because `side` is at most `longest`.
            true => (u64::from(side) * u64::from(THUMBNAIL_SIDE) / u64::from(longest)).max(1) as u32,
            false => side,
        };
        let (width, height) = (scaled(self.width), scaled(self.height));
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(ColorType::Rgba);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.scale(width, height))?;
        writer.finish()?;
        Ok(file)
    }

    /// RGBA samples of the picture at a smaller size: each pixel is the mean of those it stands for.
    fn scale(&self, width: u32, height: u32) -> Vec<u8> {
        let mut scaled = Vec::with_capacity(width as usize * height as usize * 4);
        for y in 0..height {
            let rows = span(y, height, self.height);
            for x in 0..width {
                scaled.extend(self.mean(span(x, width, self.width), rows.clone()));
            }
        }
        scaled
    }

    /// The mean of a rectangle. Colours count as much as they cover, so that what is transparent bleeds into
    /// nothing.
    fn mean(&self, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> [u8; 4] {
        let area = (columns.len() * rows.len()) as u64;
        let mut sums = [0_u64; 4];
        for row in rows {
            let start = row * self.width as usize;
            let bytes = (start + columns.start) * self.channels..(start + columns.end) * self.channels;
            for pixel in self.samples[bytes].chunks_exact(self.channels) {
                let [red, green, blue, alpha] = to_rgba(pixel).map(u64::from);
                sums[0] += red * alpha;
                sums[1] += green * alpha;
                sums[2] += blue * alpha;
                sums[3] += alpha;
            }
        }
        let [red, green, blue, alpha] = sums;
        let cover = alpha.max(1);
        // Every quotient is a mean of bytes.
        [red / cover, green / cover, blue / cover, alpha / area].map(|mean| mean as u8)
    }
}

/// The source pixels that pixel `index` of `count` stands for, among `total`; at least one.
fn span(index: u32, count: u32, total: u32) -> std::ops::Range<usize> {
    let edge = |index: u32| (u64::from(index) * u64::from(total) / u64::from(count)) as usize;
    edge(index)..edge(index + 1)
}

fn to_rgba(samples: &[u8]) -> [u8; 4] {
    match *samples {
        [gray] => [gray, gray, gray, 255],
        [gray, alpha] => [gray, gray, gray, alpha],
        [red, green, blue] => [red, green, blue, 255],
        [red, green, blue, alpha, ..] => [red, green, blue, alpha],
        [] => [0; 4],
    }
}

/// Luminance as ITU-R BT.709 weighs it, 0 to 255.
fn luminance([red, green, blue, _]: [u8; 4]) -> u8 {
    ((2126 * u32::from(red) + 7152 * u32::from(green) + 722 * u32::from(blue) + 5000) / 10_000) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(width: u32, height: u32, color: ColorType, samples: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(color);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(samples).unwrap();
        writer.finish().unwrap();
        file
    }

    #[test]
    fn a_picture_is_described() {
        let file = encode(2, 1, ColorType::Rgb, &[255, 255, 255, 0, 0, 0]);
        let description = describe(&file).unwrap();
        assert_eq!((description.width, description.height), (2, 1));
        assert_eq!((description.color, description.bit_depth), (ColorType::Rgb, 8));
        assert!(!description.interlaced);
        assert_eq!((description.histogram[0], description.histogram[255]), (1, 1));
        assert_eq!(description.histogram.iter().sum::<u32>(), 2);
    }

    #[test]
    fn a_thumbnail_keeps_the_proportions_and_is_a_png() {
        let file = encode(640, 320, ColorType::Grayscale, &vec![77; 640 * 320]);
        let thumbnail = describe(&describe(&file).unwrap().thumbnail).unwrap();
        assert_eq!((thumbnail.width, thumbnail.height), (128, 64));
        assert_eq!(thumbnail.histogram[77], 128 * 64);
    }

    #[test]
    fn a_long_thin_picture_keeps_one_pixel_of_width() {
        let file = encode(1, 1000, ColorType::Grayscale, &vec![9; 1000]);
        let thumbnail = describe(&describe(&file).unwrap().thumbnail).unwrap();
        assert_eq!((thumbnail.width, thumbnail.height), (1, 128));
    }

    #[test]
    fn transparent_pixels_do_not_bleed_into_a_thumbnail() {
        let picture = Picture {
            width: 2,
            height: 1,
            channels: 4,
            samples: &[255, 0, 0, 0, 0, 0, 255, 255],
        };
        assert_eq!(picture.mean(0..2, 0..1), [0, 0, 255, 127]);
    }

    #[test]
    fn broken_files_are_rejected_with_a_reason() {
        let file = encode(16, 16, ColorType::Grayscale, &[1; 256]);
        for broken in [&b"GIF89a"[..], &file[..file.len() / 2], &[]] {
            let rejection = describe(broken).unwrap_err();
            assert!(matches!(rejection, Rejection::Malformed(_)), "{rejection}");
            assert!(!rejection.to_string().is_empty());
        }
    }

    #[test]
    fn a_file_that_claims_too_many_pixels_is_rejected_before_it_is_decoded() {
        let mut file = encode(1, 1, ColorType::Grayscale, &[1]);
        file[16..20].copy_from_slice(&100_000_u32.to_be_bytes());
        file[20..24].copy_from_slice(&100_000_u32.to_be_bytes());
        // The header's checksum, over the chunk's kind and data.
        let sum = crc32(&file[12..29]);
        file[29..33].copy_from_slice(&sum.to_be_bytes());
        assert!(matches!(
            describe(&file),
            Err(Rejection::TooManyPixels(10_000_000_000))
        ));
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let step = |sum: u32, byte: &u8| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg())
            })
        };
        !bytes.iter().fold(!0, step)
    }
}
