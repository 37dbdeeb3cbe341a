//! A picture's samples, and how PNG packs them into rows (PNG specification, 7.2).
//!
//! Neighbours: `picture` paints the samples, `interlace` packs them pass by pass.

use png::{BitDepth, ColorType};

/// A colour type with a bit depth.
#[derive(Clone, Copy)]
pub struct Format {
    pub name: &'static str,
    pub color: ColorType,
    pub depth: u8,
}

/// All fifteen that PNG allows (specification, table 11.1).
pub const FORMATS: [Format; 15] = {
    const fn format(name: &'static str, color: ColorType, depth: u8) -> Format {
        Format { name, color, depth }
    }
    [
        format("rgb", ColorType::Rgb, 8),
        format("gray", ColorType::Grayscale, 1),
        format("rgba", ColorType::Rgba, 8),
        format("indexed", ColorType::Indexed, 8),
        format("gray", ColorType::Grayscale, 8),
        format("rgb", ColorType::Rgb, 16),
        format("gray", ColorType::Grayscale, 2),
        format("indexed", ColorType::Indexed, 1),
        format("grayalpha", ColorType::GrayscaleAlpha, 8),
        format("gray", ColorType::Grayscale, 16),
        format("indexed", ColorType::Indexed, 4),
        format("rgba", ColorType::Rgba, 16),
        format("gray", ColorType::Grayscale, 4),
        format("indexed", ColorType::Indexed, 2),
        format("grayalpha", ColorType::GrayscaleAlpha, 16),
    ]
};

impl Format {
    pub fn is_indexed(self) -> bool {
        self.color == ColorType::Indexed
    }

    pub fn channels(self) -> usize {
        self.color.samples()
    }

    pub fn bit_depth(self) -> BitDepth {
        match self.depth {
            1 => BitDepth::One,
            2 => BitDepth::Two,
            4 => BitDepth::Four,
            8 => BitDepth::Eight,
            _ => BitDepth::Sixteen,
        }
    }
}

/// Samples of `depth` bits, `channels` a pixel, row by row.
pub struct Raster {
    pub format: Format,
    pub width: u32,
    pub height: u32,
    pub samples: Vec<u16>,
    /// For indexed pictures: red, green, blue of each entry.
    pub palette: Vec<u8>,
}

impl Raster {
    /// The samples of one pixel.
    pub fn pixel(&self, x: u32, y: u32) -> &[u16] {
        let channels = self.format.channels();
        let start = (y as usize * self.width as usize + x as usize) * channels;
        &self.samples[start..start + channels]
    }

    /// All rows, packed.
    pub fn packed(&self) -> Vec<u8> {
        let per_row = self.width as usize * self.format.channels();
        self.samples
            .chunks(per_row)
            .flat_map(|row| pack(row, self.format.depth))
            .collect()
    }
}

/// One row as PNG stores it: samples from the highest bit down, 16 bits big-endian, the last byte filled up
/// with zeros.
pub fn pack(samples: &[u16], depth: u8) -> Vec<u8> {
    match depth {
        16 => samples.iter().flat_map(|sample| sample.to_be_bytes()).collect(),
        _ => samples
            .chunks(8 / depth as usize)
            .map(|group| pack_byte(group, depth))
            .collect(),
    }
}

fn pack_byte(samples: &[u16], depth: u8) -> u8 {
    let place = |(index, sample): (usize, &u16)| (*sample as u8) << (8 - depth as usize * (index + 1));
    samples
        .iter()
        .enumerate()
        .map(place)
        .fold(0, |byte, bits| byte | bits)
}

#[cfg(test)]
mod tests {
    use super::pack;

    #[test]
    fn samples_are_packed_from_the_highest_bit_down() {
        assert_eq!(pack(&[1, 0, 1, 1, 0, 0, 0, 1, 1], 1), [0b1011_0001, 0b1000_0000]);
        assert_eq!(pack(&[3, 0, 2], 2), [0b1100_1000]);
        assert_eq!(pack(&[0xA, 0x5, 0xF], 4), [0xA5, 0xF0]);
        assert_eq!(pack(&[0x1234], 16), [0x12, 0x34]);
    }
}
