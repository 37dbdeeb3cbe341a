//! Sizes, offsets and handle counts, and from them the rule of a message.
//!
//! The layout is the component model's canonical one, with offset and count for what hangs from the fixed
//! part. It must agree with `sdk/rust/src/wire`; generated code asserts that it does.

use crate::model::{Layout, Package, Shape, Type};
use satrap_abi::limits::{HANDLES_MAX, INLINE_MAX};
use satrap_table::{BufferRule, MessageRule};

/// Most bytes of one value's fixed part. Nested types could otherwise grow without bound.
pub(crate) const FIXED_MAX: usize = 1 << 20;

impl Shape {
    /// Nothing at all: the empty tuple.
    pub(crate) const EMPTY: Shape = Shape {
        layout: Layout { size: 0, align: 1 },
        tail: false,
        bytes: false,
        floats: false,
        blocks: (0, 0),
        endpoints: (0, 0),
        buffers: 0,
    };

    fn scalar(size: usize) -> Shape {
        let layout = Layout { size, align: size };
        Shape {
            layout,
            ..Shape::EMPTY
        }
    }

    /// An offset and a count.
    fn list() -> Shape {
        let layout = Layout { size: 8, align: 4 };
        Shape {
            layout,
            tail: true,
            ..Shape::EMPTY
        }
    }

    /// Whether it is larger than anything should be.
    pub(crate) fn is_excessive(&self) -> bool {
        self.layout.size > FIXED_MAX || self.blocks.1 + self.endpoints.1 + self.buffers > FIXED_MAX
    }

    /// One of several, a number of `tag` bytes before it; `None` is a case without payload.
    pub(crate) fn choice(tag: usize, cases: &[Option<Shape>]) -> Shape {
        let shapes = || cases.iter().map(|case| case.unwrap_or(Shape::EMPTY));
        let size = shapes().map(|shape| shape.layout.size).max().unwrap_or(0);
        let align = shapes().map(|shape| shape.layout.align).max().unwrap_or(1);
        let whole = tag.max(align);
        let range = |count: fn(&Shape) -> (usize, usize)| {
            let least = shapes().map(|shape| count(&shape).0).min().unwrap_or(0);
            let most = shapes().map(|shape| count(&shape).1).max().unwrap_or(0);
            (least, most)
        };
        Shape {
            layout: Layout {
                size: align_up(align_up(tag, align) + size, whole),
                align: whole,
            },
            tail: shapes().any(|shape| shape.tail),
            bytes: shapes().any(|shape| shape.bytes),
            floats: shapes().any(|shape| shape.floats),
            blocks: range(|shape| shape.blocks),
            endpoints: range(|shape| shape.endpoints),
            buffers: shapes().map(|shape| shape.buffers).sum(),
        }
    }
}

/// The next multiple of `align`, a power of two.
pub(crate) fn align_up(offset: usize, align: usize) -> usize {
    (offset + align - 1) & !(align - 1)
}

/// Bytes of the number before a choice of so many cases.
pub(crate) fn tag_size(cases: usize) -> usize {
    match cases {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

/// Bytes of a flags type; the WIT parser allows at most 32 flags.
pub(crate) fn flags_size(flags: usize) -> usize {
    match flags {
        0..=8 => 1,
        9..=16 => 2,
        _ => 4,
    }
}

/// Where the payload of a choice starts.
pub(crate) fn payload_offset(tag: usize, cases: &[Option<Shape>]) -> usize {
    let align = cases
        .iter()
        .flatten()
        .map(|shape| shape.layout.align)
        .max()
        .unwrap_or(1);
    align_up(tag, align)
}

/// Several values after one another: the shape of the whole, and where each stands.
pub(crate) fn sequence(shapes: &[Shape]) -> (Shape, Vec<usize>) {
    let mut whole = Shape::EMPTY;
    let mut offsets = Vec::new();
    for shape in shapes {
        let at = align_up(whole.layout.size, shape.layout.align);
        offsets.push(at);
        whole.layout.size = at.saturating_add(shape.layout.size).min(FIXED_MAX * 2);
        whole.layout.align = whole.layout.align.max(shape.layout.align);
        whole.tail |= shape.tail;
        whole.bytes |= shape.bytes;
        whole.floats |= shape.floats;
        whole.blocks = add(whole.blocks, shape.blocks);
        whole.endpoints = add(whole.endpoints, shape.endpoints);
        whole.buffers += shape.buffers;
    }
    whole.layout.size = align_up(whole.layout.size, whole.layout.align);
    (whole, offsets)
}

fn add(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0 + b.0, a.1 + b.1)
}

impl Package {
    /// The shape of a type of this package.
    pub fn shape(&self, ty: &Type) -> Shape {
        match ty {
            Type::Bool | Type::U8 | Type::S8 => Shape::scalar(1),
            Type::U16 | Type::S16 => Shape::scalar(2),
            Type::U32 | Type::S32 | Type::Char => Shape::scalar(4),
            Type::U64 | Type::S64 => Shape::scalar(8),
            Type::F32 => Shape {
                floats: true,
                ..Shape::scalar(4)
            },
            Type::F64 => Shape {
                floats: true,
                ..Shape::scalar(8)
            },
            Type::String => Shape::list(),
            Type::Bytes => Shape {
                bytes: true,
                ..Shape::list()
            },
            Type::List(item) => {
                let item = self.shape(item);
                Shape {
                    bytes: item.bytes,
                    floats: item.floats,
                    ..Shape::list()
                }
            }
            Type::Option(value) => Shape::choice(1, &[None, Some(self.shape(value))]),
            Type::Result(ok, err) => Shape::choice(1, &[Some(self.shape(ok)), Some(self.shape(err))]),
            Type::Tuple(items) => sequence(&self.shapes(items.iter())).0,
            Type::Named(index) => self.types[*index].shape,
            Type::Block => Shape {
                blocks: (1, 1),
                ..Shape::scalar(4)
            },
            Type::Endpoint(_) => Shape {
                endpoints: (1, 1),
                ..Shape::scalar(4)
            },
            Type::Buffer => Shape {
                buffers: 1,
                ..Shape::EMPTY
            },
        }
    }

    pub(crate) fn shapes<'t>(&self, types: impl Iterator<Item = &'t Type>) -> Vec<Shape> {
        types.map(|ty| self.shape(ty)).collect()
    }
}

/// What the kernel allows a message with these parameters to carry, and how many of its byte lists may
/// travel in blocks of their own. `None` if it could need more handles than a message has.
pub(crate) fn rule(whole: &Shape) -> Option<(MessageRule, u8)> {
    let fixed = whole.layout.size;
    let spill = whole.tail || fixed > INLINE_MAX;
    let handles = whole.blocks.1 + whole.endpoints.1 + usize::from(spill);
    let spare = HANDLES_MAX.checked_sub(handles)?;
    let byte_blocks = if whole.bytes { spare } else { 0 };
    let inline = match (fixed > INLINE_MAX, whole.tail) {
        (true, _) => (0, 0),
        (false, true) => (fixed, INLINE_MAX),
        (false, false) => (fixed, fixed),
    };
    // Every number is at most 64.
    let rule = MessageRule {
        inline_min: inline.0 as u8,
        inline_max: inline.1 as u8,
        spill,
        blocks_min: whole.blocks.0 as u8,
        blocks_max: (whole.blocks.1 + byte_blocks) as u8,
        endpoints_min: whole.endpoints.0 as u8,
        endpoints_max: whole.endpoints.1 as u8,
        buffer: if whole.buffers > 0 {
            BufferRule::Required
        } else {
            BufferRule::Refused
        },
    };
    Some((rule, byte_blocks as u8))
}
