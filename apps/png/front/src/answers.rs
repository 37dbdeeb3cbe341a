//! Pictures as JSON: what clients of the service read.
//!
//! The field names are promised in the README. Neighbour: `backend` asks for what is told here.

use std::fmt::Write;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use satrap::Error;
use serde_json::{Value, json};

use crate::png::store::Entry;
use crate::png::types::{ColorType, Picture};

/// A picture in full; with the time it took, if it was decoded just now.
pub fn picture(id: Option<u64>, picture: Picture, took: Option<Duration>) -> Result<Value, Error> {
    let thumbnail = STANDARD.encode(picture.thumbnail.into_vec()?);
    let mut answer = json!({
        "id": id,
        "width": picture.width,
        "height": picture.height,
        "color_type": name(picture.color),
        "bit_depth": picture.bit_depth,
        "interlaced": picture.interlaced,
        "bytes": picture.bytes,
        "digest": hex(&picture.digest.into_vec()?),
        "histogram": picture.histogram,
        "thumbnail": format!("data:image/png;base64,{thumbnail}"),
    });
    if let Some(took) = took {
        answer["micros"] = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).into();
    }
    Ok(answer)
}

/// The list of what was decoded lately.
pub fn entries(entries: Vec<Entry>) -> Result<Value, Error> {
    entries.into_iter().map(entry).collect()
}

fn entry(entry: Entry) -> Result<Value, Error> {
    Ok(json!({
        "id": entry.id,
        "width": entry.width,
        "height": entry.height,
        "color_type": name(entry.color),
        "bytes": entry.bytes,
        "digest": hex(&entry.digest.into_vec()?),
    }))
}

fn name(color: ColorType) -> &'static str {
    match color {
        ColorType::Grayscale => "grayscale",
        ColorType::Rgb => "rgb",
        ColorType::Indexed => "indexed",
        ColorType::GrayscaleAlpha => "grayscale-alpha",
        ColorType::Rgba => "rgba",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_told_in_full() {
        let sample = Picture {
            width: 2,
            height: 1,
            color: ColorType::GrayscaleAlpha,
            bit_depth: 16,
            interlaced: true,
            bytes: 99,
            digest: [0xAB, 0x01][..].into(),
            histogram: vec![2, 0],
            thumbnail: b"png"[..].into(),
        };
        let answer = picture(Some(7), sample, Some(Duration::from_millis(3))).unwrap();
        assert_eq!(
            answer,
            json!({
                "id": 7, "width": 2, "height": 1, "color_type": "grayscale-alpha", "bit_depth": 16,
                "interlaced": true, "bytes": 99, "digest": "ab01", "histogram": [2, 0],
                "thumbnail": "data:image/png;base64,cG5n", "micros": 3000,
            })
        );
    }
}
