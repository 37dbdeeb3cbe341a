//! The encoding of each kind of value: scalars, strings, lists, options, results, tuples, handles.
//!
//! Records, variants, enums and flags are the contract compiler's to generate. A value is written by
//! reference, or by value where it holds handles; generic types can be written both ways. Neighbours:
//! `wire.rs` (writer and reader), `bytes.rs` (`list<u8>`).

use super::super::{Block, Endpoint, Error};
use super::{Bytes, Decode, Encode, Layout, Malformed, Plain, Reader, Writer, align_up};

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

macro_rules! scalars {
    ($($type:ty, $raw:ty, $read:expr, $write:expr;)*) => {$(
        impl Layout for $type {
            const SIZE: usize = size_of::<$raw>();
            const ALIGN: usize = size_of::<$raw>();
        }
        impl Plain for $type {
            #[inline]
            fn write(&self, body: &mut [u8], at: usize) {
                let write: fn($type) -> $raw = $write;
                body[at..at + Self::SIZE].copy_from_slice(&write(*self).to_le_bytes());
            }

            #[inline]
            fn read(body: &[u8], at: usize) -> Result<Self, Malformed> {
                let read: fn($raw) -> Result<$type, Malformed> = $read;
                let bytes = body.get(at..).and_then(<[u8]>::first_chunk);
                read(<$raw>::from_le_bytes(*bytes.ok_or(Malformed::Short)?))
            }
        }
        impl Encode for $type {
            #[inline]
            fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
                writer.put(at, &self);
                Ok(())
            }
        }
        impl Encode for &$type {
            #[inline]
            fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
                writer.put(at, self);
                Ok(())
            }
        }
        impl Decode for $type {
            #[inline]
            fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error> {
                Ok(reader.get(at)?)
            }
        }
    )*};
}

scalars! {
    u8, u8, Ok, |value| value;
    u16, u16, Ok, |value| value;
    u32, u32, Ok, |value| value;
    u64, u64, Ok, |value| value;
    i8, i8, Ok, |value| value;
    i16, i16, Ok, |value| value;
    i32, i32, Ok, |value| value;
    i64, i64, Ok, |value| value;
    f32, u32, |bits| Ok(f32::from_bits(bits)), f32::to_bits;
    f64, u64, |bits| Ok(f64::from_bits(bits)), f64::to_bits;
    char, u32, |value| char::from_u32(value).ok_or(Malformed::Char), u32::from;
    bool, u8, |value| if value > 1 { Err(Malformed::Bool) } else { Ok(value == 1) }, u8::from;
}

/// Types that are laid out as an offset and a count.
macro_rules! lists {
    ($([$($generic:tt)*] $type:ty;)*) => {$(
        impl $($generic)* Layout for $type {
            const SIZE: usize = 8;
            const ALIGN: usize = 4;
        }
    )*};
}

lists! {
    [] String;
    [] Bytes;
    [<T>] Vec<T>;
}

impl Encode for &str {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        writer.put_text(at, self.as_bytes())
    }
}

impl Encode for &String {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        self.as_str().encode(writer, at)
    }
}

impl Decode for String {
    fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error> {
        let text = std::str::from_utf8(reader.text(at)?).map_err(|_| Malformed::Text)?;
        Ok(text.to_owned())
    }
}

impl Encode for String {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        self.as_str().encode(writer, at)
    }
}

impl<'a, T: Layout> Encode for &'a [T]
where
    &'a T: Encode,
{
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        let start = writer.begin_list(at, self.len(), T::SIZE, T::ALIGN)?;
        let mut items = self.iter().enumerate();
        items.try_for_each(|(index, item)| item.encode(writer, start + index * T::SIZE))
    }
}

impl<'a, T: Layout> Encode for &'a Vec<T>
where
    &'a T: Encode,
{
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        self.as_slice().encode(writer, at)
    }
}

impl<T: Layout> Encode for Vec<T>
where
    for<'a> &'a T: Encode,
{
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        self.as_slice().encode(writer, at)
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error> {
        let (start, count) = reader.list(at, T::SIZE, T::ALIGN)?;
        (0..count)
            .map(|index| T::decode(reader, start + index * T::SIZE))
            .collect()
    }
}

/// Where the payload of an option, result or variant lies, and how large the whole is.
#[derive(Clone, Copy, Debug)]
struct Tagged {
    payload: usize,
    size: usize,
    align: usize,
}

/// A one-byte case number, then the largest payload.
const fn tagged(size: usize, align: usize) -> Tagged {
    let payload = align_up(1, align);
    Tagged {
        payload,
        size: align_up(payload + size, align),
        align,
    }
}

impl<T: Layout> Layout for Option<T> {
    const SIZE: usize = tagged(T::SIZE, T::ALIGN).size;
    const ALIGN: usize = tagged(T::SIZE, T::ALIGN).align;
}

/// Writes an option of what stands for a `T`: a reference to it, or itself.
fn put_option<T: Layout>(
    value: Option<impl Encode>,
    writer: &mut Writer<'_>,
    at: usize,
) -> Result<(), Error> {
    writer.put(at, &value.is_some());
    value.map_or(Ok(()), |value| {
        value.encode(writer, at + tagged(T::SIZE, T::ALIGN).payload)
    })
}

impl<T: Layout + Encode> Encode for Option<T> {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        put_option::<T>(self, writer, at)
    }
}

impl<'a, T: Layout> Encode for &'a Option<T>
where
    &'a T: Encode,
{
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        put_option::<T>(self.as_ref(), writer, at)
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error> {
        match reader.get::<u8>(at)? {
            0 => Ok(None),
            1 => T::decode(reader, at + tagged(T::SIZE, T::ALIGN).payload).map(Some),
            _ => Err(Malformed::Case.into()),
        }
    }
}

impl<T: Plain> Plain for Option<T> {
    #[inline]
    fn write(&self, body: &mut [u8], at: usize) {
        self.is_some().write(body, at);
        if let Some(value) = self {
            value.write(body, at + tagged(T::SIZE, T::ALIGN).payload);
        }
    }

    #[inline]
    fn read(body: &[u8], at: usize) -> Result<Self, Malformed> {
        match u8::read(body, at)? {
            0 => Ok(None),
            1 => T::read(body, at + tagged(T::SIZE, T::ALIGN).payload).map(Some),
            _ => Err(Malformed::Case),
        }
    }
}

const fn either<T: Layout, E: Layout>() -> Tagged {
    tagged(max(T::SIZE, E::SIZE), max(T::ALIGN, E::ALIGN))
}

impl<T: Layout, E: Layout> Layout for Result<T, E> {
    const SIZE: usize = either::<T, E>().size;
    const ALIGN: usize = either::<T, E>().align;
}

fn put_result<T: Layout, E: Layout>(
    value: Result<impl Encode, impl Encode>,
    writer: &mut Writer<'_>,
    at: usize,
) -> Result<(), Error> {
    writer.put(at, &value.is_err());
    let payload = at + either::<T, E>().payload;
    match value {
        Ok(value) => value.encode(writer, payload),
        Err(value) => value.encode(writer, payload),
    }
}

impl<T: Layout + Encode, E: Layout + Encode> Encode for Result<T, E> {
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        put_result::<T, E>(self, writer, at)
    }
}

impl<'a, T: Layout, E: Layout> Encode for &'a Result<T, E>
where
    &'a T: Encode,
    &'a E: Encode,
{
    fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
        put_result::<T, E>(self.as_ref(), writer, at)
    }
}

impl<T: Decode, E: Decode> Decode for Result<T, E> {
    fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error> {
        let payload = at + either::<T, E>().payload;
        match reader.get::<u8>(at)? {
            0 => T::decode(reader, payload).map(Ok),
            1 => E::decode(reader, payload).map(Err),
            _ => Err(Malformed::Case.into()),
        }
    }
}

impl<T: Plain, E: Plain> Plain for Result<T, E> {
    #[inline]
    fn write(&self, body: &mut [u8], at: usize) {
        self.is_err().write(body, at);
        let payload = at + either::<T, E>().payload;
        match self {
            Ok(value) => value.write(body, payload),
            Err(value) => value.write(body, payload),
        }
    }

    #[inline]
    fn read(body: &[u8], at: usize) -> Result<Self, Malformed> {
        let payload = at + either::<T, E>().payload;
        match u8::read(body, at)? {
            0 => T::read(body, payload).map(Ok),
            1 => E::read(body, payload).map(Err),
            _ => Err(Malformed::Case),
        }
    }
}

/// Tuples are records without names. The empty one stands for a missing side of a `result`.
macro_rules! tuples {
    ($(($($name:ident),*);)*) => {$(
        impl<$($name: Layout),*> Layout for ($($name,)*) {
            const SIZE: usize = {
                let size = 0;
                $(let size = align_up(size, $name::ALIGN) + $name::SIZE;)*
                align_up(size, Self::ALIGN)
            };
            const ALIGN: usize = {
                let align = 1;
                $(let align = max(align, $name::ALIGN);)*
                align
            };
        }
        #[allow(unused_variables, unused_assignments, unused_mut, non_snake_case)]
        impl<$($name: Layout + Encode),*> Encode for ($($name,)*) {
            fn encode(self, writer: &mut Writer<'_>, mut at: usize) -> Result<(), Error> {
                let ($($name,)*) = self;
                $(
                    at = align_up(at, $name::ALIGN);
                    $name.encode(writer, at)?;
                    at += $name::SIZE;
                )*
                Ok(())
            }
        }
        #[allow(unused_variables, unused_assignments, unused_mut, non_snake_case)]
        impl<'a, $($name: Layout),*> Encode for &'a ($($name,)*)
        where
            $(&'a $name: Encode,)*
        {
            fn encode(self, writer: &mut Writer<'_>, mut at: usize) -> Result<(), Error> {
                let ($($name,)*) = self;
                $(
                    at = align_up(at, <$name as Layout>::ALIGN);
                    $name.encode(writer, at)?;
                    at += <$name as Layout>::SIZE;
                )*
                Ok(())
            }
        }
        #[allow(unused_variables, unused_assignments, unused_mut, non_snake_case, clippy::unused_unit)]
        impl<$($name: Plain),*> Plain for ($($name,)*) {
            #[inline]
            fn write(&self, body: &mut [u8], mut at: usize) {
                let ($($name,)*) = self;
                $(
                    at = align_up(at, <$name as Layout>::ALIGN);
                    $name.write(body, at);
                    at += <$name as Layout>::SIZE;
                )*
            }

            #[inline]
            fn read(body: &[u8], mut at: usize) -> Result<Self, Malformed> {
                Ok(($({
                    at = align_up(at, $name::ALIGN);
                    let value = $name::read(body, at)?;
                    at += $name::SIZE;
                    value
                },)*))
            }
        }
        #[allow(unused_variables, unused_assignments, unused_mut, clippy::unused_unit)]
        impl<$($name: Decode),*> Decode for ($($name,)*) {
            fn decode(reader: &mut Reader<'_>, mut at: usize) -> Result<Self, Error> {
                Ok(($({
                    at = align_up(at, $name::ALIGN);
                    let value = $name::decode(reader, at)?;
                    at += $name::SIZE;
                    value
                },)*))
            }
        }
    )*};
}

tuples! {
    ();
    (A);
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
    (A, B, C, D, E, F, G);
    (A, B, C, D, E, F, G, H);
}

/// Handles are laid out as their number in the message.
macro_rules! handles {
    ($($type:ty;)*) => {$(
        impl Layout for $type {
            const SIZE: usize = 4;
            const ALIGN: usize = 4;
        }
        impl Encode for $type {
            fn encode(self, writer: &mut Writer<'_>, at: usize) -> Result<(), Error> {
                let index = writer.attach(self.into_raw());
                writer.put(at, &index);
                Ok(())
            }
        }
        impl Decode for $type {
            fn decode(reader: &mut Reader<'_>, at: usize) -> Result<Self, Error> {
                let index = reader.get(at)?;
                Ok(<$type>::from_raw(reader.handle(index)?))
            }
        }
    )*};
}

handles! {
    Block;
    Endpoint;
}
