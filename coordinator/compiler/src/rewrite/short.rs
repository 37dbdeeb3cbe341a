//! Short copies and fills: two functions, added to each program, that do them in place and call the kernel
//! only for long ones, which it bounds. Most are short, and the kernel call would cost more than the work.
//!
//! No vectors, which not every target has. A length up to [`ENDS_MAX`] is done as the bytes at both ends of the
//! range, which overlap in the middle; all are read before any is written, so ranges may overlap too. Bytes are
//! written from the end down: a range that leaves the memory traps at its first write. One that wraps around
//! traps as well, because the kernel maps nothing into the last page, but after others; the process ends there.

use super::body::{Inserted, Shift};
use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, ValType};

/// Most bytes that are done in place.
const SHORT_MAX: i32 = 256;
/// Bytes at each end, at most.
const END: u32 = 32;
/// Most bytes without a loop.
const ENDS_MAX: i32 = 2 * END as i32;
/// Bytes of one step of the loop.
const CHUNK: u32 = 32;

// The operands of the instruction, in order. The source of a fill is its byte.
const TO: u32 = 0;
const SOURCE: u32 = 1;
const LENGTH: u32 = 2;
// Where a part of either range begins.
const TO_PART: u32 = 3;
const SOURCE_PART: u32 = 4;
/// The byte of a fill, eight times.
const WORD: u32 = 5;

/// What is done in place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Short {
    Copy,
    Fill,
}

impl Short {
    /// The functions that are added, in this order.
    pub const ALL: [Short; 2] = [Short::Copy, Short::Fill];

    /// The kernel call for long ones. The function has its type.
    pub fn long(self) -> Inserted {
        match self {
            Short::Copy => Inserted::Copy,
            Short::Fill => Inserted::Fill,
        }
    }

    /// The function.
    pub fn function(self, shift: &Shift) -> Function {
        let mut function = Function::new([(2, ValType::I32), (1, ValType::I64)]);
        let mut code = Code {
            short: self,
            import: shift.inserted(self.long()),
            sink: function.instructions(),
        };
        code.body();
        function
    }
}

/// The function's code, as it is written.
struct Code<'f> {
    short: Short,
    import: u32,
    sink: InstructionSink<'f>,
}

impl Code<'_> {
    fn body(&mut self) {
        if self.short == Short::Fill {
            self.sink.local_get(SOURCE).i32_const(0xff).i32_and();
            self.sink.i64_extend_i32_u().i64_const(0x0101_0101_0101_0101);
            self.sink.i64_mul().local_set(WORD);
        }
        for end in [END, 16, 8, 4, 2, 1] {
            self.sink.local_get(LENGTH).i32_const(end as i32).i32_ge_u();
            self.sink.if_(BlockType::Empty);
            if end == END {
                self.long();
            }
            self.ends(end);
            self.sink.return_().end();
        }
        // No bytes: whether the addresses are right is for the kernel to say.
        self.kernel();
        self.sink.end();
    }

    /// More than [`ENDS_MAX`] bytes: in a loop, if the ranges are apart; by the kernel beyond [`SHORT_MAX`].
    fn long(&mut self) {
        self.sink.local_get(LENGTH).i32_const(ENDS_MAX).i32_gt_u();
        self.sink.if_(BlockType::Empty);
        self.sink.local_get(LENGTH).i32_const(SHORT_MAX).i32_gt_u();
        if self.short == Short::Copy {
            for (from, to) in [(TO, SOURCE), (SOURCE, TO)] {
                self.sink.local_get(from).local_get(to).i32_sub();
                self.sink.local_get(LENGTH).i32_lt_u().i32_or();
            }
        }
        self.sink.if_(BlockType::Empty);
        self.kernel();
        self.sink.return_().end();
        self.chunks();
        self.sink.return_().end();
    }

    /// Chunk by chunk from the end, and at last the first bytes, of which some may be done already.
    fn chunks(&mut self) {
        self.sink.loop_(BlockType::Empty);
        self.shorten(CHUNK);
        self.part(&[(TO_PART, SOURCE_PART)], CHUNK);
        self.sink.local_get(LENGTH).i32_const(CHUNK as i32).i32_gt_u();
        self.sink.br_if(0).end();
        self.part(&[(TO, SOURCE)], CHUNK);
    }

    /// `bytes` at each end of a range of `bytes` to twice as many.
    fn ends(&mut self, bytes: u32) {
        self.shorten(bytes);
        self.part(&[(TO, SOURCE), (TO_PART, SOURCE_PART)], bytes);
    }

    /// Takes `bytes` off the length; the parts begin where the rest ends.
    fn shorten(&mut self, bytes: u32) {
        self.sink.local_get(LENGTH).i32_const(bytes as i32).i32_sub();
        self.sink.local_tee(LENGTH);
        self.sink.local_get(TO).i32_add().local_set(TO_PART);
        if self.short == Short::Copy {
            self.sink.local_get(SOURCE).local_get(LENGTH).i32_add();
            self.sink.local_set(SOURCE_PART);
        }
    }

    /// `bytes`, a power of two, at each place. What is read waits on the stack, so the last is written first.
    fn part(&mut self, places: &[(u32, u32)], bytes: u32) {
        let width = bytes.min(8);
        let offsets = (0..bytes).step_by(width as usize);
        for &(to, source) in places {
            for offset in offsets.clone() {
                self.sink.local_get(to);
                self.read(source, offset, width);
            }
        }
        for _ in places {
            for offset in offsets.clone().rev() {
                self.write(offset, width);
            }
        }
    }

    fn read(&mut self, source: u32, offset: u32, width: u32) {
        if self.short == Short::Fill {
            self.sink.local_get(WORD);
            return;
        }
        self.sink.local_get(source);
        match width {
            8 => self.sink.i64_load(at(offset)),
            4 => self.sink.i64_load32_u(at(offset)),
            2 => self.sink.i64_load16_u(at(offset)),
            _ => self.sink.i64_load8_u(at(offset)),
        };
    }

    fn write(&mut self, offset: u32, width: u32) {
        match width {
            8 => self.sink.i64_store(at(offset)),
            4 => self.sink.i64_store32(at(offset)),
            2 => self.sink.i64_store16(at(offset)),
            _ => self.sink.i64_store8(at(offset)),
        };
    }

    fn kernel(&mut self) {
        self.sink.local_get(TO).local_get(SOURCE).local_get(LENGTH);
        self.sink.call(self.import);
    }
}

/// Nothing is known of the alignment.
fn at(offset: u32) -> MemArg {
    MemArg {
        offset: u64::from(offset),
        align: 0,
        memory_index: 0,
    }
}
