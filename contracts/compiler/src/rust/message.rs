//! How one message is written and read.
//!
//! Most messages are their fixed part: numbers, handles and a pool buffer. For those the code stores and loads
//! directly (`sdk/rust/src/wire/fixed.rs`), and only what arrives otherwise goes the general way, as every
//! message with strings or lists does. The bytes are the same. Neighbour: `interface.rs` calls this.

use super::code::Code;
use super::names::{constant, field, snake};
use super::{Generator, Scope, tuple};
use crate::model::{Message, Parameter, Type};
use crate::shape::align_up;
use satrap_abi::limits::INLINE_MAX;

/// The kernel copies inline arguments in words of so many bytes.
const WORD: usize = 8;

/// A message that is its fixed part.
pub(super) struct Fixed<'m> {
    plain: Vec<&'m Parameter>,
    handles: Vec<&'m Parameter>,
    buffer: Option<&'m Parameter>,
    /// Bytes of the body.
    len: usize,
}

impl Fixed<'_> {
    /// The type in the runtime.
    fn name(&self) -> String {
        let bytes = align_up(self.len, WORD);
        format!("satrap::wire::Fixed<{bytes}, {}>", self.handles.len())
    }
}

impl Generator<'_> {
    /// The message as its fixed part; `None` if it has a tail, is too long, or moves handles within values.
    pub(super) fn fixed<'m>(&self, message: &'m Message) -> Option<Fixed<'m>> {
        let mut fixed = Fixed {
            plain: Vec::new(),
            handles: Vec::new(),
            buffer: None,
            len: message.fixed,
        };
        for parameter in &message.parameters {
            match &parameter.ty {
                Type::Buffer => fixed.buffer = Some(parameter),
                Type::Block | Type::Endpoint(_) => fixed.handles.push(parameter),
                ty if self.package.shape(ty).is_plain() => fixed.plain.push(parameter),
                _ => return None,
            }
        }
        (message.fixed <= INLINE_MAX).then_some(fixed)
    }

    /// The functions `put_m` and `take_m`.
    pub(super) fn encoding(&self, code: &mut Code, message: &Message, scope: Scope<'_>) {
        match self.fixed(message) {
            Some(fixed) => {
                self.put_fixed(code, message, &fixed, scope);
                self.take_fixed(code, message, &fixed, scope);
                let cold = "/// What else may come in its place.\n#[cold]";
                self.take(code, message, scope, cold, "_otherwise");
            }
            None => {
                self.put(code, message, scope);
                self.take(code, message, scope, "#[inline]", "");
            }
        }
    }

    /// The parameters of a function that writes a message.
    fn parameters<'m>(&self, message: &'m Message, scope: Scope<'_>) -> impl Iterator<Item = String> + 'm {
        let declare = |parameter: &Parameter| {
            let ty = self.sent(&parameter.ty, scope);
            format!("{}: {ty}", field(&parameter.name))
        };
        let declared: Vec<_> = message.parameters.iter().map(declare).collect();
        declared.into_iter()
    }

    fn put_fixed(&self, code: &mut Code, message: &Message, fixed: &Fixed<'_>, scope: Scope<'_>) {
        let parameters: Vec<_> = self.parameters(message, scope).collect();
        code.add("#[inline]");
        code.add(format!(
            "fn put_{}({}) -> {} {{",
            snake(&message.name),
            parameters.join(", "),
            fixed.name()
        ));
        code.add(format!(
            "let mut message_ = satrap::wire::Fixed::new({}, {});",
            constant(&message.name),
            fixed.len
        ));
        for parameter in &fixed.plain {
            let borrowed = self.sent(&parameter.ty, scope).starts_with('&');
            let reference = if borrowed { "" } else { "&" };
            let (name, at) = (field(&parameter.name), parameter.offset);
            code.add(format!("message_.put({at}, {reference}{name});"));
        }
        for (index, parameter) in fixed.handles.iter().enumerate() {
            let (name, at) = (field(&parameter.name), parameter.offset);
            code.add(format!("message_.attach({at}, {index}, {name});"));
        }
        if let Some(parameter) = fixed.buffer {
            code.add(format!("message_.buffer({});", field(&parameter.name)));
        }
        code.add("message_\n}\n\n");
    }

    /// Opens `take_m`, or what stands in for it.
    fn take_signature(&self, code: &mut Code, message: &Message, scope: Scope<'_>, suffix: &str) {
        let endpoint = if has_buffer(message) {
            "endpoint_: &satrap::Endpoint, "
        } else {
            ""
        };
        code.add(format!(
            "fn take_{}{suffix}({endpoint}message_: &mut satrap::Message) -> Result<{}, satrap::Error> {{",
            snake(&message.name),
            self.payload(message, scope)
        ));
    }

    /// Reads numbers first, so that whatever is wrong with one, nothing was taken of the message yet.
    fn take_fixed(&self, code: &mut Code, message: &Message, fixed: &Fixed<'_>, scope: Scope<'_>) {
        code.add("#[inline]");
        self.take_signature(code, message, scope, "");
        code.add(format!(
            "if let Some(body_) = satrap::wire::body::<{}, {}>(message_) {{",
            fixed.len,
            fixed.handles.len()
        ));
        let read = |ty: &str, at: usize| format!("<{ty} as satrap::wire::Plain>::read(body_, {at})");
        let plain = fixed.plain.iter().map(|parameter| {
            let ty = self.owned(&parameter.ty, scope);
            (
                format!("Ok({})", field(&parameter.name)),
                read(&ty, parameter.offset),
            )
        });
        let handles = fixed.handles.iter().enumerate();
        let handles =
            handles.map(|(index, parameter)| (format!("Ok({index})"), read("u32", parameter.offset)));
        let (patterns, reads): (Vec<_>, Vec<_>) = plain.chain(handles).unzip();
        if !patterns.is_empty() {
            let (patterns, reads) = (tuple(patterns.into_iter()), tuple(reads.into_iter()));
            code.add(format!("if let {patterns} = {reads} {{"));
        }
        for (index, parameter) in fixed.handles.iter().enumerate() {
            let (name, ty) = (field(&parameter.name), self.owned(&parameter.ty, scope));
            code.add(format!(
                "let {name}: {ty} = satrap::wire::Carried::from_raw(message_.handles[{index}]);"
            ));
        }
        claim(code, fixed.buffer);
        code.add(format!("return Ok({});", payload_pattern(message)));
        if fixed.plain.len() + fixed.handles.len() > 0 {
            code.add("}");
        }
        let endpoint = if has_buffer(message) { "endpoint_, " } else { "" };
        code.add(format!(
            "}}\ntake_{}_otherwise({endpoint}message_)\n}}\n\n",
            snake(&message.name)
        ));
    }

    fn put(&self, code: &mut Code, message: &Message, scope: Scope<'_>) {
        let parameters = std::iter::once("message_: &mut satrap::Message".to_owned())
            .chain(self.parameters(message, scope));
        let parameters: Vec<_> = parameters.collect();
        code.add("#[inline]");
        code.add(format!(
            "fn put_{}({}) -> Result<(), satrap::Error> {{",
            snake(&message.name),
            parameters.join(", ")
        ));
        code.add(format!("message_.tag = {};", constant(&message.name)));
        let (fixed, blocks) = (message.fixed, message.byte_blocks);
        code.add(format!(
            "let mut writer_ = satrap::wire::Writer::new(message_, {fixed}, {blocks});"
        ));
        for parameter in &message.parameters {
            let (name, at) = (field(&parameter.name), parameter.offset);
            code.add(match parameter.ty {
                Type::Buffer => format!("writer_.buffer({name});"),
                _ => format!("satrap::wire::Encode::encode({name}, &mut writer_, {at})?;"),
            });
        }
        code.add("writer_.finish()\n}\n\n");
    }

    fn take(&self, code: &mut Code, message: &Message, scope: Scope<'_>, attributes: &str, suffix: &str) {
        code.add(attributes);
        self.take_signature(code, message, scope, suffix);
        code.add(format!(
            "let mut reader_ = satrap::wire::Reader::open(message_, {})?;",
            message.fixed
        ));
        let (buffers, others): (Vec<_>, Vec<_>) = message
            .parameters
            .iter()
            .partition(|parameter| parameter.ty == Type::Buffer);
        for parameter in others {
            let (name, at) = (field(&parameter.name), parameter.offset);
            let ty = self.owned(&parameter.ty, scope);
            code.add(format!(
                "let {name}: {ty} = satrap::wire::Decode::decode(&mut reader_, {at})?;"
            ));
        }
        code.add("reader_.finish()?;");
        claim(code, buffers.first().copied());
        code.add(format!("Ok({})\n}}\n\n", payload_pattern(message)));
    }

    /// What a message brings: nothing, its one parameter, or a tuple of several.
    pub(super) fn payload(&self, message: &Message, scope: Scope<'_>) -> String {
        match &*message.parameters {
            [one] => self.owned(&one.ty, scope),
            several => tuple(several.iter().map(|parameter| self.owned(&parameter.ty, scope))),
        }
    }
}

/// The line that takes a pool buffer, if one comes.
fn claim(code: &mut Code, buffer: Option<&Parameter>) {
    if let Some(parameter) = buffer {
        let name = field(&parameter.name);
        code.add(format!(
            "let {name} = satrap::wire::claim_buffer(endpoint_, message_)?;"
        ));
    }
}

/// The names of a message's parameters, in the form of [`Generator::payload`].
pub(super) fn payload_pattern(message: &Message) -> String {
    match &*message.parameters {
        [one] => field(&one.name),
        several => tuple(several.iter().map(|parameter| field(&parameter.name))),
    }
}

/// Whether reading a message takes its endpoint too.
pub(super) fn has_buffer(message: &Message) -> bool {
    message
        .parameters
        .iter()
        .any(|parameter| parameter.ty == Type::Buffer)
}
