//! One type for each state of each side.
//!
//! Where the side sends: `send_m` consumes the state; `send_m_and_recv` also waits for what follows, in the
//! same kernel call; and where the conversation comes back, `m` borrows the state and does the whole
//! exchange. Where it waits: `recv` gives the one message that can come, or an enum of several.

use super::code::Code;
use super::message::{has_buffer, payload_pattern};
use super::names::{constant, field, pascal, snake};
use super::{Generator, Scope};
use crate::check::names_endpoint;
use crate::model::{Contract, Message, State, Target, Transition, Type};
use satrap_table::Side;
use std::collections::HashSet;

/// One side of a contract.
#[derive(Clone, Copy)]
struct Role<'g> {
    generator: Generator<'g>,
    contract: &'g Contract,
    scope: Scope<'g>,
    side: Side,
}

impl Generator<'_> {
    /// The modules `client` and `service`.
    pub(super) fn sides(&self, code: &mut Code, contract: &Contract, interface: &str) {
        for (side, name) in [(Side::Client, "client"), (Side::Service, "service")] {
            let scope = Scope {
                interface,
                prefix: "super::",
            };
            let role = Role {
                generator: *self,
                contract,
                scope,
                side,
            };
            code.add(format!("/// The states of the {name}.\npub mod {name} {{"));
            code.add(format!("use {};\n\n", super_path(&self.options.runtime)));
            for (index, state) in contract.states.iter().enumerate() {
                role.state(code, index, state);
            }
            if names_endpoint(self.package, interface) {
                role.wire(code);
            }
            code.add("}\n\n");
        }
    }
}

/// A relative path as seen from one module further in.
fn super_path(path: &str) -> String {
    if path.starts_with("super::") {
        format!("super::{path}")
    } else {
        path.to_owned()
    }
}

impl Role<'_> {
    fn message(&self, transition: &Transition) -> &Message {
        &self.contract.messages[transition.message]
    }

    fn sends_in(&self, state: &State) -> bool {
        state.sender == self.side
    }

    /// The type that follows: the next state, or nothing.
    fn next_type(&self, target: Target) -> String {
        match target {
            Target::State(index) => pascal(&self.contract.states[index].name),
            Target::End => "()".into(),
        }
    }

    fn state(&self, code: &mut Code, index: usize, state: &State) {
        let name = pascal(&state.name);
        let doing = if self.sends_in(state) {
            "this side sends"
        } else {
            "the other side sends"
        };
        let messages: Vec<_> = state
            .transitions
            .iter()
            .map(|step| format!("`{}`", self.message(step).name))
            .collect();
        code.add(format!(
            "/// State `{}`: {doing} {}.",
            state.name,
            messages.join(" or ")
        ));
        code.add("/// Dropping it closes the channel.\n#[derive(Debug)]");
        code.add(format!(
            "#[must_use = \"dropping a state closes the channel\"]\npub struct {name}(satrap::Endpoint);\n\n"
        ));
        code.add(format!("impl {name} {{"));
        if index == 0 && self.side == Side::Client {
            bind(code, &name);
        }
        code.add("/// The untyped endpoint, to wait on.\n#[inline]");
        code.add("pub fn endpoint(&self) -> &satrap::Endpoint {\n&self.0\n}\n\n");
        if self.sends_in(state) {
            self.senders(code, index, state);
        } else {
            self.receivers(code, state);
        }
        code.add("}\n\n");
        if index == 0 {
            code.add("/// Takes over an endpoint of this contract on which nothing was sent yet.");
            code.add(format!("impl From<satrap::Endpoint> for {name} {{"));
            code.add(format!(
                "fn from(endpoint_: satrap::Endpoint) -> {name} {{\n{name}(endpoint_)\n}}\n}}\n\n"
            ));
        }
        if !self.sends_in(state) && state.transitions.len() > 1 {
            self.message_enum(code, state);
            if self.home(state).is_some() {
                self.reply_enum(code, state);
            }
        }
    }

    /// The signature of a public method that sends a message, up to the result; `receiver` is `self` or
    /// `&mut self`. And how the parameters are passed on.
    fn signature(&self, name: &str, receiver: &str, message: &Message) -> (String, String) {
        let bytes = message
            .parameters
            .iter()
            .any(|parameter| parameter.ty == Type::Bytes);
        let generics = if bytes { "<'a>" } else { "" };
        let mut declared = format!("pub fn {name}{generics}({receiver}");
        let mut passed = Vec::new();
        for parameter in &message.parameters {
            let name = field(&parameter.name);
            match &parameter.ty {
                Type::Bytes => {
                    declared += &format!(", {name}: impl Into<satrap::wire::Body<'a>>");
                    passed.push(format!("{name}.into()"));
                }
                ty => {
                    declared += &format!(", {name}: {}", self.generator.sent(ty, self.scope));
                    passed.push(name);
                }
            }
        }
        (declared + ")", passed.join(", "))
    }

    fn senders(&self, code: &mut Code, index: usize, state: &State) {
        let mut taken: HashSet<String> = ["bind", "bind_until", "endpoint", "from"]
            .into_iter()
            .map(String::from)
            .collect();
        for step in &state.transitions {
            let name = snake(&self.message(step).name);
            taken.extend([format!("send_{name}"), format!("send_{name}_and_recv")]);
        }
        for step in &state.transitions {
            self.send(code, step);
            if let Target::State(target) = step.target {
                let next = &self.contract.states[target];
                if !self.sends_in(next) {
                    self.send_and_recv(code, step, next);
                }
                self.exchange(code, index, step, target, &taken);
            }
        }
    }

    /// The lines that make a message and send it.
    fn fill_and_send(&self, code: &mut Code, message: &Message, passed: &str) {
        let name = snake(&message.name);
        if self.generator.fixed(message).is_some() {
            code.add(format!(
                "satrap::wire::send_fixed(&self.0, super::put_{name}({passed}))?;"
            ));
        } else {
            code.add("let mut message_ = satrap::Message::new(0);");
            code.add(format!("super::put_{name}(&mut message_, {passed})?;"));
            code.add("satrap::wire::send(&self.0, &mut message_)?;");
        }
    }

    /// The lines that make a message, send it, and receive the next as `message_`.
    fn fill_and_call(&self, code: &mut Code, message: &Message, passed: &str) {
        let name = snake(&message.name);
        if self.generator.fixed(message).is_some() {
            code.add("let mut place_ = satrap::wire::Place::uninit();");
            code.add(format!(
                "let message_ = satrap::wire::call_fixed(&self.0, super::put_{name}({passed}), &mut place_)?;"
            ));
        } else {
            code.add("let message_ = &mut satrap::Message::new(0);");
            code.add(format!("super::put_{name}(message_, {passed})?;"));
            code.add("satrap::wire::call(&self.0, message_)?;");
        }
    }

    fn send(&self, code: &mut Code, step: &Transition) {
        let message = self.message(step);
        let name = format!("send_{}", snake(&message.name));
        let (signature, passed) = self.signature(&name, "self", message);
        let next = self.next_type(step.target);
        code.docs(&message.docs);
        code.add("#[inline]");
        code.add(format!("{signature} -> Result<{next}, satrap::Error> {{"));
        self.fill_and_send(code, message, &passed);
        let result = if step.target == Target::End {
            "Ok(())".into()
        } else {
            format!("Ok({next}(self.0))")
        };
        code.add(result + "\n}\n\n");
    }

    fn send_and_recv(&self, code: &mut Code, step: &Transition, next: &State) {
        let message = self.message(step);
        let (name, output) = (snake(&message.name), self.received(next));
        let (signature, passed) = self.signature(&format!("send_{name}_and_recv"), "self", message);
        code.add(format!(
            "/// `send_{name}`, then `recv` in the state that follows, in one kernel call.\n#[inline]"
        ));
        code.add(format!("{signature} -> Result<{output}, satrap::Error> {{"));
        self.fill_and_call(code, message, &passed);
        code.add(format!("{}(self.0).decode(message_)\n}}\n\n", pascal(&next.name)));
    }

    /// The method that borrows the state, where the conversation comes back to it.
    fn exchange(
        &self,
        code: &mut Code,
        index: usize,
        step: &Transition,
        target: usize,
        taken: &HashSet<String>,
    ) {
        let message = self.message(step);
        let next = &self.contract.states[target];
        let comes_back = !self.sends_in(next) && self.home(next) == Some(index);
        if target != index && !comes_back {
            return;
        }
        let name = snake(&message.name);
        let name = if taken.contains(&name) {
            format!("{name}_")
        } else {
            field(&message.name)
        };
        let (signature, passed) = self.signature(&name, "&mut self", message);
        let output = if target == index {
            "()".to_owned()
        } else {
            self.reply(next)
        };
        code.docs(format!("{}\n\nThe state is the same afterwards.", message.docs).trim());
        code.add("#[inline]");
        code.add(format!("{signature} -> Result<{output}, satrap::Error> {{"));
        if target == index {
            self.fill_and_send(code, message, &passed);
            code.add("Ok(())\n}\n\n");
            return;
        }
        self.fill_and_call(code, message, &passed);
        match &*next.transitions {
            [only] => {
                self.expect_tag(code, only);
                code.add(self.take(only, "&self.0"));
            }
            _ => code.add(format!("{output}::decode(&self.0, message_)")),
        }
        code.add("}\n\n");
    }

    /// The one state to which all messages of a state lead.
    fn home(&self, state: &State) -> Option<usize> {
        let mut targets = state.transitions.iter().map(|step| step.target);
        let first = targets.next()?;
        match first {
            Target::State(home) if targets.all(|target| target == first) => Some(home),
            _ => None,
        }
    }

    /// What a reply in this state brings, without the state that follows.
    fn reply(&self, state: &State) -> String {
        match &*state.transitions {
            [only] => self.generator.payload(self.message(only), self.scope),
            _ => format!("{}Reply", pascal(&state.name)),
        }
    }

    /// What `recv` gives in this state.
    fn received(&self, state: &State) -> String {
        let [only] = &*state.transitions else {
            return format!("{}Message", pascal(&state.name));
        };
        let message = self.message(only);
        let payload = self.generator.payload(message, self.scope);
        match (message.parameters.is_empty(), only.target) {
            (true, target) => self.next_type(target),
            (false, Target::End) => payload,
            (false, target) => format!("({payload}, {})", self.next_type(target)),
        }
    }

    fn receivers(&self, code: &mut Code, state: &State) {
        let output = self.received(state);
        code.add(format!(
            "/// Waits for the next message.\n#[inline]\n\
             pub fn recv(self) -> Result<{output}, satrap::Error> {{\n\
             let mut place_ = satrap::wire::Place::uninit();\n\
             let message_ = satrap::wire::recv(&self.0, &mut place_)?;\n\
             self.decode(message_)\n}}\n\n\
             /// Waits until a deadline. If that passes first, the state comes back as the inner error.\n\
             #[inline]\n\
             pub fn recv_until(self, deadline: u64) -> Result<Result<{output}, Self>, satrap::Error> {{\n\
             let mut place_ = satrap::wire::Place::uninit();\n\
             match satrap::wire::recv_until(&self.0, &mut place_, deadline) {{\n\
             Ok(message_) => self.decode(message_).map(Ok),\n\
             Err(error_) if error_.is_late() => Ok(Err(self)),\n\
             Err(error_) => Err(error_),\n}}\n}}\n\n"
        ));
        code.add("#[inline]");
        code.add(format!(
            "pub(super) fn decode(self, message_: &mut satrap::Message) -> Result<{output}, satrap::Error> {{"
        ));
        match &*state.transitions {
            [only] => self.decode_only(code, only),
            several => self.decode_several(code, state, several),
        }
        code.add("}\n\n");
    }

    fn expect_tag(&self, code: &mut Code, step: &Transition) {
        let tag = constant(&self.message(step).name);
        code.add(format!("if message_.tag != super::{tag} {{"));
        code.add("return Err(satrap::wire::wrong_tag());\n}");
    }

    /// The call that reads a message.
    fn take(&self, step: &Transition, endpoint: &str) -> String {
        let name = snake(&self.message(step).name);
        let endpoint = if has_buffer(self.message(step)) {
            format!("{endpoint}, ")
        } else {
            String::new()
        };
        format!("super::take_{name}({endpoint}message_)")
    }

    fn decode_only(&self, code: &mut Code, step: &Transition) {
        self.expect_tag(code, step);
        let next = match step.target {
            Target::State(_) => Some(format!("{}(self.0)", self.next_type(step.target))),
            Target::End => None,
        };
        code.add(format!("let value_ = {}?;", self.take(step, "&self.0")));
        let empty = self.message(step).parameters.is_empty();
        code.add(match next {
            Some(next) if empty => format!("Ok({next})"),
            Some(next) => format!("Ok((value_, {next}))"),
            None => "Ok(value_)".into(),
        });
    }

    fn decode_several(&self, code: &mut Code, state: &State, steps: &[Transition]) {
        let output = self.received(state);
        code.add("match message_.tag {");
        for step in steps {
            let message = self.message(step);
            let mut fields = names(message);
            if let Target::State(_) = step.target {
                fields.push(format!("next: {}(self.0)", self.next_type(step.target)));
            }
            self.arm(code, step, &output, &fields, "&self.0");
        }
        code.add("_ => Err(satrap::wire::wrong_tag()),\n}");
    }

    /// One message of several: its tag, its reading, its case.
    fn arm(&self, code: &mut Code, step: &Transition, output: &str, fields: &[String], endpoint: &str) {
        let message = self.message(step);
        let case = pascal(&message.name);
        let body = if fields.is_empty() {
            String::new()
        } else {
            format!(" {{ {} }}", fields.join(", "))
        };
        code.add(format!("super::{} => {{", constant(&message.name)));
        code.add(format!(
            "let {} = {}?;",
            payload_pattern(message),
            self.take(step, endpoint)
        ));
        code.add(format!("Ok({output}::{case}{body})\n}}"));
    }

    fn message_enum(&self, code: &mut Code, state: &State) {
        code.add(format!(
            "/// What can come in state `{}`, with the state that follows.",
            state.name
        ));
        code.add(format!("#[derive(Debug)]\npub enum {} {{", self.received(state)));
        for step in &state.transitions {
            let next = match step.target {
                Target::State(_) => Some(format!("next: {}", self.next_type(step.target))),
                Target::End => None,
            };
            self.case(code, step, next);
        }
        code.add("}\n\n");
    }

    fn case(&self, code: &mut Code, step: &Transition, next: Option<String>) {
        let message = self.message(step);
        let field = |parameter: &crate::model::Parameter| {
            format!(
                "{}: {}",
                case_field(&parameter.name),
                self.generator.owned(&parameter.ty, self.scope)
            )
        };
        let fields: Vec<_> = message.parameters.iter().map(field).chain(next).collect();
        let body = if fields.is_empty() {
            String::new()
        } else {
            format!(" {{ {} }}", fields.join(", "))
        };
        code.docs(&message.docs);
        code.add(format!("{}{body},", pascal(&message.name)));
    }

    fn reply_enum(&self, code: &mut Code, state: &State) {
        let name = self.reply(state);
        code.add(format!("/// What can answer in state `{}`.", state.name));
        code.add(format!("#[derive(Debug)]\npub enum {name} {{"));
        state
            .transitions
            .iter()
            .for_each(|step| self.case(code, step, None));
        code.add(format!("}}\n\nimpl {name} {{"));
        code.add("#[inline]\nfn decode(");
        code.add("endpoint_: &satrap::Endpoint,\nmessage_: &mut satrap::Message,");
        code.add(format!(
            ") -> Result<{name}, satrap::Error> {{\nmatch message_.tag {{"
        ));
        for step in &state.transitions {
            self.arm(code, step, &name, &names(self.message(step)), "endpoint_");
        }
        code.add("_ => Err(satrap::wire::wrong_tag()),\n}\n}\n}\n\n");
    }

    /// Lets the start state travel in a message as the endpoint that it is.
    fn wire(&self, code: &mut Code) {
        let name = pascal(&self.contract.states[0].name);
        code.add(format!(
            "impl satrap::wire::Carried for {name} {{\n\
             fn into_raw(self) -> u32 {{\nself.0.into_raw()\n}}\n\n\
             fn from_raw(handle_: u32) -> Self {{\n{name}(satrap::Endpoint::from_raw(handle_))\n}}\n}}\n\n\
             impl satrap::wire::Layout for {name} {{\nconst SIZE: usize = 4;\nconst ALIGN: usize = 4;\n}}\n\n\
             impl satrap::wire::Encode for {name} {{\n\
             fn encode(self, writer_: &mut satrap::wire::Writer<'_>, at_: usize) -> Result<(), satrap::Error> {{\n\
             satrap::wire::Encode::encode(self.0, writer_, at_)\n}}\n}}\n\n\
             impl satrap::wire::Decode for {name} {{\n\
             fn decode(reader_: &mut satrap::wire::Reader<'_>, at_: usize) -> Result<Self, satrap::Error> {{\n\
             <satrap::Endpoint as satrap::wire::Decode>::decode(reader_, at_).map({name})\n}}\n}}\n\n"
        ));
    }
}

/// How a client comes by its first state.
fn bind(code: &mut Code, name: &str) {
    code.add(format!(
        "/// Opens a channel to a service: a channel's name in the manifest, or an absolute path. Waits until\n\
         /// the service appears.\n\
         pub fn bind(name: &str) -> Result<{name}, satrap::Error> {{\n\
         satrap::bind(name, &super::DIGEST).map({name})\n}}\n\n\
         /// `bind` with a deadline; see [`satrap::Error::is_late`].\n\
         pub fn bind_until(name: &str, deadline: u64) -> Result<{name}, satrap::Error> {{\n\
         satrap::bind_until(name, &super::DIGEST, deadline).map({name})\n}}\n\n"
    ));
}

/// A parameter's name in a case, where `next` is the state that follows.
fn case_field(name: &str) -> String {
    if name == "next" {
        "next_".into()
    } else {
        field(name)
    }
}

/// The fields of a message's case, filled from variables of the parameters' names.
fn names(message: &Message) -> Vec<String> {
    let fill = |name: &str| match case_field(name) {
        same if same == field(name) => same,
        other => format!("{other}: {}", field(name)),
    };
    message
        .parameters
        .iter()
        .map(|parameter| fill(&parameter.name))
        .collect()
}
