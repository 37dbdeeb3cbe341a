//! Data segments: the active ones become the memory image, the passive ones stay for `memory.init`.
//!
//! The kernel owns memory, so the module that the engine sees has no data at all (`rewrite`).

use crate::{CompileError, Module, constant};
use satrap_abi::limits::WASM_PAGE;
use wasmparser::DataKind;

/// What data segments leave behind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Data {
    /// Bytes of the initial memory that are not 0, by address, without overlaps.
    pub image: Vec<(u32, Vec<u8>)>,
    /// Each segment for `memory.init`. An active one is empty: it is dropped once it stands in memory.
    pub segments: Vec<Vec<u8>>,
}

/// An active segment.
struct Placed<'a> {
    address: u32,
    bytes: &'a [u8],
}

impl Placed<'_> {
    fn end(&self) -> u64 {
        u64::from(self.address) + self.bytes.len() as u64
    }
}

impl Data {
    /// Evaluates the data section of a program that begins with `pages` of memory.
    pub fn evaluate(module: &Module<'_>, pages: u32) -> Result<Data, CompileError> {
        let memory = u64::from(pages) * u64::from(WASM_PAGE);
        let mut data = Data::default();
        let mut active = Vec::new();
        for segment in module.data.iter().flat_map(|section| section.clone()) {
            let segment = segment?;
            let DataKind::Active { offset_expr, .. } = &segment.kind else {
                data.segments.push(segment.data.to_vec());
                continue;
            };
            let placed = Placed {
                address: constant::evaluate(offset_expr)?,
                bytes: segment.data,
            };
            if placed.end() > memory {
                return Err(CompileError::DataOutOfBounds {
                    segment: data.segments.len() as u32,
                    address: placed.address,
                    length: placed.bytes.len(),
                    memory,
                });
            }
            data.segments.push(Vec::new());
            active.push(placed);
        }
        data.image = merge(active);
        Ok(data)
    }
}

/// Lays segments over each other, later ones on top. Segments that touch or overlap become one range, so the
/// work is bounded by what the segments hold, however far apart a hostile program puts them.
fn merge(segments: Vec<Placed<'_>>) -> Vec<(u32, Vec<u8>)> {
    let mut extents: Vec<(u32, u64)> = segments
        .iter()
        .filter(|s| !s.bytes.is_empty())
        .map(|s| (s.address, s.end()))
        .collect();
    extents.sort_unstable();
    extents.dedup_by(|next, merged| {
        let touches = u64::from(next.0) <= merged.1;
        merged.1 = if touches { merged.1.max(next.1) } else { merged.1 };
        touches
    });
    let mut image: Vec<(u32, Vec<u8>)> = extents
        .into_iter()
        .map(|(start, end)| (start, vec![0; (end - u64::from(start)) as usize]))
        .collect();
    for segment in segments.iter().filter(|segment| !segment.bytes.is_empty()) {
        // The last range that begins at or before the segment holds all of it, by construction.
        let at = image.partition_point(|(start, _)| *start <= segment.address) - 1;
        let (start, bytes) = &mut image[at];
        let offset = (segment.address - *start) as usize;
        bytes[offset..offset + segment.bytes.len()].copy_from_slice(segment.bytes);
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn placed(segments: &[(u32, Vec<u8>)]) -> Vec<Placed<'_>> {
        segments
            .iter()
            .map(|(address, bytes)| Placed {
                address: *address,
                bytes,
            })
            .collect()
    }

    #[test]
    fn the_later_of_two_overlapping_segments_wins() {
        let merged = merge(placed(&[(4, b"abcd".to_vec()), (2, b"XYZ".to_vec())]));
        assert_eq!(merged, [(2, b"XYZbcd".to_vec())]);
    }

    #[test]
    fn segments_that_touch_become_one_and_others_stay_apart() {
        let merged = merge(placed(&[
            (10, b"c".to_vec()),
            (0, b"a".to_vec()),
            (1, b"b".to_vec()),
        ]));
        assert_eq!(merged, [(0, b"ab".to_vec()), (10, b"c".to_vec())]);
    }

    #[test]
    fn empty_segments_leave_nothing() {
        assert_eq!(merge(placed(&[(5, vec![]), (0, vec![])])), []);
    }

    proptest! {
        #[test]
        fn the_image_equals_memory_after_writing_each_segment_in_turn(
            segments in prop::collection::vec((0u32..200, prop::collection::vec(1u8.., 0..40)), 0..12)
        ) {
            let mut memory = [0u8; 256];
            for (address, bytes) in &segments {
                memory[*address as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            let image = merge(placed(&segments));
            let mut rebuilt = [0u8; 256];
            for (address, bytes) in &image {
                rebuilt[*address as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            prop_assert_eq!(memory, rebuilt);
            let apart = image.windows(2).all(|pair| pair[0].0 as usize + pair[0].1.len() < pair[1].0 as usize);
            prop_assert!(apart, "sorted, and neither overlapping nor touching");
        }
    }
}
