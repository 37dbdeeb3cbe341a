//! From the WIT parser's types to ours: aliases resolved, everything that no message can carry refused.
//!
//! Neighbours: `shape.rs` (sizes), `check.rs` (which calls this for each interface).

use crate::model::{
    Case, EndpointRole, Field, Interface, Message, Package, Parameter, Shape, Type, TypeBody, TypeDecl,
};
use crate::shape;
use crate::source::{Source, Span};
use std::collections::HashMap;
use wit_parser::{
    Docs, Function, FunctionKind, Handle, InterfaceId, PackageId, Resolve, Type as WitType, TypeDefKind,
    TypeId, TypeOwner, UnresolvedPackageGroup,
};

/// Package that declares `block`, `buffer` and `endpoint`.
const CHANNEL: (&str, &str) = ("satrap", "channel");
/// Most members of a tuple; `sdk/rust/src/wire` implements so many.
const TUPLE_MAX: usize = 8;

/// Parses the file, with `satrap:channel` in reach. Reports what the WIT parser says.
pub(crate) fn load(source: &mut Source<'_>, name: &str) -> Option<(Resolve, PackageId)> {
    let text = source.text();
    let group = UnresolvedPackageGroup::parse(name, text)
        .map_err(|(map, error)| source.error(&place(&map, error.kind().span()), error.to_string()))
        .ok()?;
    if !group.nested.is_empty() {
        source.error(&(0..0), "a contract file holds one package");
        return None;
    }
    let mut resolve = Resolve::new();
    if (&*group.main.name.namespace, &*group.main.name.name) != CHANNEL {
        let channel = resolve.push_source("channel.wit", crate::CHANNEL_WIT);
        channel
            .map_err(|error| source.error(&(0..0), error.to_string()))
            .ok()?;
    }
    let package = resolve.push_group(group);
    let package = package
        .map_err(|error| {
            source.error(
                &place(&resolve.source_map, error.kind().span()),
                error.to_string(),
            )
        })
        .ok()?;
    Some((resolve, package))
}

/// Where in its file a place of the parser is.
fn place(map: &wit_parser::SourceMap, span: wit_parser::Span) -> Span {
    map.resolve_span(span).map_or(0..0, |location| location.range)
}

/// Documentation as it stands, or nothing.
fn docs(docs: &Docs) -> String {
    docs.contents.as_deref().unwrap_or_default().trim().to_owned()
}

/// An interface's documentation without its protocol.
fn docs_without_protocol(all: &Docs) -> String {
    let mut inside = false;
    let kept = all
        .contents
        .as_deref()
        .unwrap_or_default()
        .lines()
        .filter(|line| {
            inside = line.trim_start().starts_with("@protocol") || (inside && !line.trim().is_empty());
            !inside
        });
    kept.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// A message and the place of its name.
pub(crate) type PlacedMessage = (Message, Span);

/// Converts one package.
pub(crate) struct Resolver<'r, 's, 'a> {
    pub(crate) source: &'s mut Source<'a>,
    resolve: &'r Resolve,
    pub(crate) package: Package,
    known: HashMap<TypeId, Option<usize>>,
}

impl<'r, 's, 'a> Resolver<'r, 's, 'a> {
    pub(crate) fn new(
        source: &'s mut Source<'a>,
        resolve: &'r Resolve,
        id: PackageId,
    ) -> Resolver<'r, 's, 'a> {
        let package = Package {
            name: resolve.packages[id].name.to_string(),
            interfaces: Vec::new(),
            types: Vec::new(),
        };
        Resolver {
            source,
            resolve,
            package,
            known: HashMap::new(),
        }
    }

    /// Where a place of the parser is in our file.
    pub(crate) fn place(&self, span: wit_parser::Span) -> Span {
        place(&self.resolve.source_map, span)
    }

    /// Converts the types that an interface declares, used or not, and starts its entry in the package.
    pub(crate) fn interface(&mut self, id: InterfaceId) -> Interface {
        let resolve = self.resolve;
        let interface = &resolve.interfaces[id];
        for &ty in interface.types.values() {
            let def = &resolve.types[ty];
            let span = self.place(def.span);
            match def.kind {
                TypeDefKind::Type(_) => {}
                TypeDefKind::Resource if !self.is_channel(def.owner) => {
                    self.source.error_with_help(
                        &span,
                        "a contract cannot declare a resource",
                        "an object behind a channel is an `endpoint` of its own contract",
                    );
                }
                TypeDefKind::Resource => {}
                _ => _ = self.convert(&WitType::Id(ty), &span),
            }
        }
        Interface {
            name: interface.name.clone().unwrap_or_default(),
            docs: docs_without_protocol(&interface.docs),
            contract: None,
        }
    }

    /// Converts a function. `None` after an error, which is reported.
    pub(crate) fn message(&mut self, function: &Function) -> Option<PlacedMessage> {
        let span = self.place(function.span);
        let sound = self.is_message(function, &span);
        let mut parameters = Vec::new();
        for parameter in &function.params {
            let at = self.place(parameter.span);
            let ty = self.convert(&parameter.ty, &at);
            parameters.push(ty.map(|ty| (parameter.name.clone(), ty)));
        }
        let parameters: Vec<_> = parameters.into_iter().collect::<Option<_>>()?;
        let (whole, offsets) = shape::sequence(&self.package.shapes(parameters.iter().map(|(_, ty)| ty)));
        let (rule, byte_blocks) = self.message_rule(function, &whole, &span)?;
        let place = |((name, ty), offset)| Parameter { name, ty, offset };
        let message = Message {
            name: function.name.clone(),
            docs: docs(&function.docs),
            parameters: parameters.into_iter().zip(offsets).map(place).collect(),
            fixed: whole.layout.size,
            rule,
            byte_blocks,
        };
        sound.then_some((message, span))
    }

    fn is_message(&mut self, function: &Function, span: &Span) -> bool {
        if function.kind != FunctionKind::Freestanding {
            self.source.error(span, "a message is a plain `func`");
            return false;
        }
        if function.result.is_some() {
            let message = format!("message `{}` has a result: messages go one way", function.name);
            self.source
                .error_with_help(span, message, "declare the answer as a message of its own");
            return false;
        }
        true
    }

    fn message_rule(
        &mut self,
        function: &Function,
        whole: &Shape,
        span: &Span,
    ) -> Option<(satrap_table::MessageRule, u8)> {
        let name = &function.name;
        if whole.is_excessive() {
            self.source.error(
                span,
                format!("message `{name}` is larger than 1 MiB before its lists"),
            );
            return None;
        }
        if whole.buffers > 1 {
            self.source.error(
                span,
                format!("message `{name}` carries more than one pool buffer"),
            );
            return None;
        }
        let rule = shape::rule(whole);
        if rule.is_none() {
            let body = if whole.tail || whole.layout.size > 64 {
                ", and one for a long body"
            } else {
                ""
            };
            let message = format!(
                "message `{name}` can carry {} handles{body}: the limit is 4",
                whole.blocks.1 + whole.endpoints.1
            );
            self.source.error(span, message);
        }
        rule
    }

    /// Converts a type that stands at `span`. `None` after an error, which is reported.
    fn convert(&mut self, ty: &WitType, span: &Span) -> Option<Type> {
        Some(match ty {
            WitType::Bool => Type::Bool,
            WitType::U8 => Type::U8,
            WitType::U16 => Type::U16,
            WitType::U32 => Type::U32,
            WitType::U64 => Type::U64,
            WitType::S8 => Type::S8,
            WitType::S16 => Type::S16,
            WitType::S32 => Type::S32,
            WitType::S64 => Type::S64,
            WitType::F32 => Type::F32,
            WitType::F64 => Type::F64,
            WitType::Char => Type::Char,
            WitType::String => Type::String,
            WitType::ErrorContext => return self.refuse("an error context", span),
            WitType::Id(id) => return self.convert_id(*id, span),
        })
    }

    fn refuse(&mut self, what: &str, span: &Span) -> Option<Type> {
        self.source
            .error(span, format!("{what} cannot travel in a message"));
        None
    }

    fn convert_id(&mut self, id: TypeId, span: &Span) -> Option<Type> {
        let resolve = self.resolve;
        let side = |resolver: &mut Self, ty: &Option<WitType>| match ty {
            Some(ty) => resolver.inner(ty, span),
            None => Some(Type::Tuple(Vec::new())),
        };
        match &resolve.types[id].kind {
            TypeDefKind::Record(_)
            | TypeDefKind::Variant(_)
            | TypeDefKind::Enum(_)
            | TypeDefKind::Flags(_) => self.named(id).map(Type::Named),
            TypeDefKind::Type(_) if self.is_resource(id) => self.handle(id, span),
            TypeDefKind::Type(alias) => self.convert(alias, span),
            TypeDefKind::Option(ty) => Some(Type::Option(Box::new(self.inner(ty, span)?))),
            TypeDefKind::Result(result) => {
                let (ok, err) = (side(self, &result.ok)?, side(self, &result.err)?);
                Some(Type::Result(Box::new(ok), Box::new(err)))
            }
            TypeDefKind::Tuple(tuple) if tuple.types.len() <= TUPLE_MAX => {
                let items = tuple.types.iter().map(|ty| self.inner(ty, span));
                Some(Type::Tuple(items.collect::<Option<_>>()?))
            }
            TypeDefKind::Tuple(_) => self.refuse("a tuple of more than 8 values (a record can)", span),
            TypeDefKind::List(item) => self.list(item, span),
            TypeDefKind::Resource | TypeDefKind::Handle(Handle::Own(_)) => self.handle(id, span),
            TypeDefKind::Handle(Handle::Borrow(_)) => self.refuse("a borrowed handle", span),
            other => self.refuse(&format!("a {}", other.as_str()), span),
        }
    }

    /// Converts a type within another one, where no pool buffer may be.
    fn inner(&mut self, ty: &WitType, span: &Span) -> Option<Type> {
        let converted = self.convert(ty, span)?;
        if converted != Type::Buffer {
            return Some(converted);
        }
        self.source
            .error(span, "a pool buffer must be a parameter of its own");
        None
    }

    fn list(&mut self, item: &WitType, span: &Span) -> Option<Type> {
        let item = self.inner(item, span)?;
        if self.package.shape(&item).has_handles() {
            self.source.error(
                span,
                "a list cannot hold blocks or endpoints: their number must be fixed",
            );
            return None;
        }
        Some(if item == Type::U8 {
            Type::Bytes
        } else {
            Type::List(Box::new(item))
        })
    }

    fn is_channel(&self, owner: TypeOwner) -> bool {
        let TypeOwner::Interface(interface) = owner else {
            return false;
        };
        let package = self.resolve.interfaces[interface].package;
        package.is_some_and(|id| {
            let name = &self.resolve.packages[id].name;
            (&*name.namespace, &*name.name) == CHANNEL
        })
    }

    fn is_resource(&self, id: TypeId) -> bool {
        match &self.resolve.types[id].kind {
            TypeDefKind::Type(WitType::Id(next)) => self.is_resource(*next),
            kind => matches!(kind, TypeDefKind::Resource | TypeDefKind::Handle(Handle::Own(_))),
        }
    }

    /// Converts a resource of `satrap:channel`, or an alias of one. The outermost alias that names a
    /// contract counts.
    fn handle(&mut self, mut id: TypeId, span: &Span) -> Option<Type> {
        let mut contract = None;
        loop {
            let def = &self.resolve.types[id];
            contract = contract.or_else(|| named_contract(&def.docs));
            match &def.kind {
                TypeDefKind::Handle(Handle::Own(next)) | TypeDefKind::Type(WitType::Id(next)) => id = *next,
                TypeDefKind::Resource if self.is_channel(def.owner) => break,
                _ => return self.refuse("a resource", span),
            }
        }
        match self.resolve.types[id].name.as_deref() {
            Some("block") => Some(Type::Block),
            Some("buffer") => Some(Type::Buffer),
            _ => Some(Type::Endpoint(contract)),
        }
    }

    /// Converts a named type once. `None` if it has errors, which were reported then.
    fn named(&mut self, id: TypeId) -> Option<usize> {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let index = self.declare(id).map(|decl| {
            self.package.types.push(decl);
            self.package.types.len() - 1
        });
        self.known.insert(id, index);
        index
    }

    fn declare(&mut self, id: TypeId) -> Option<TypeDecl> {
        let def = &self.resolve.types[id];
        let span = self.place(def.span);
        let (body, shape) = match &def.kind {
            TypeDefKind::Record(record) => self.record(record)?,
            TypeDefKind::Variant(variant) => self.variant(variant, &span)?,
            TypeDefKind::Enum(cases) => {
                let names = cases.cases.iter().map(|case| (&case.name, &case.docs));
                let payloads = vec![None; cases.cases.len()];
                let shape = Shape::choice(shape::tag_size(payloads.len()), &payloads);
                (TypeBody::Enum(plain_cases(names)), shape)
            }
            TypeDefKind::Flags(flags) => {
                let names = flags.flags.iter().map(|flag| (&flag.name, &flag.docs));
                let size = shape::flags_size(flags.flags.len());
                (TypeBody::Flags(plain_cases(names)), Shape::choice(size, &[]))
            }
            _ => return None,
        };
        if shape.is_excessive() {
            self.source.error(
                &span,
                "a type of more than 1 MiB before its lists cannot travel in a message",
            );
            return None;
        }
        Some(TypeDecl {
            interface: self.owner(def.owner),
            name: def.name.clone().unwrap_or_default(),
            docs: docs(&def.docs),
            body,
            shape,
        })
    }

    fn owner(&self, owner: TypeOwner) -> String {
        match owner {
            TypeOwner::Interface(id) => self.resolve.interfaces[id].name.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    fn record(&mut self, record: &wit_parser::Record) -> Option<(TypeBody, Shape)> {
        let mut types = Vec::new();
        for field in &record.fields {
            let span = self.place(field.span);
            types.push(self.inner(&field.ty, &span));
        }
        let types: Vec<_> = types.into_iter().collect::<Option<_>>()?;
        let (shape, offsets) = shape::sequence(&self.package.shapes(types.iter()));
        let fields = record
            .fields
            .iter()
            .zip(types)
            .zip(offsets)
            .map(|((field, ty), offset)| Field {
                name: field.name.clone(),
                docs: docs(&field.docs),
                ty,
                offset,
            });
        Some((TypeBody::Record(fields.collect()), shape))
    }

    fn variant(&mut self, variant: &wit_parser::Variant, span: &Span) -> Option<(TypeBody, Shape)> {
        let mut cases = Vec::new();
        for case in &variant.cases {
            let ty = match &case.ty {
                Some(ty) => Some(self.inner(ty, span)?),
                None => None,
            };
            cases.push(Case {
                name: case.name.clone(),
                docs: docs(&case.docs),
                ty,
            });
        }
        let shapes: Vec<_> = cases
            .iter()
            .map(|case| case.ty.as_ref().map(|ty| self.package.shape(ty)))
            .collect();
        let shape = Shape::choice(shape::tag_size(cases.len()), &shapes);
        Some((TypeBody::Variant(cases), shape))
    }
}

fn plain_cases<'d>(cases: impl Iterator<Item = (&'d String, &'d Docs)>) -> Vec<Case> {
    let plain = |(name, all): (&String, &Docs)| Case {
        name: name.clone(),
        docs: docs(all),
        ty: None,
    };
    cases.map(plain).collect()
}

/// The contract that an endpoint's alias names in its documentation: `@client NAME` or `@service NAME`.
fn named_contract(docs: &Docs) -> Option<(EndpointRole, String)> {
    docs.contents.as_deref()?.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let role = match words.next()? {
            "@client" => EndpointRole::Client,
            "@service" => EndpointRole::Service,
            _ => return None,
        };
        Some((role, words.next()?.to_owned()))
    })
}
