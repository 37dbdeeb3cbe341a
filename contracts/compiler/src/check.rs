//! From a file to checked contracts: parse, convert, check the protocols, make texts, tables and digests.
//!
//! Each step goes on as far as it can after an error, so that several are reported at once.

use crate::model::{Contract, Message, Package, State, Target, Type, TypeBody};
use crate::resolve::{PlacedMessage, Resolver, load};
use crate::source::{Source, Span};
use crate::{Checked, Diagnostic, canonical, protocol, state};
use satrap_abi::Digest;
use satrap_table::{Spec, StateSpec, TableError, TransitionSpec};
use wit_parser::{InterfaceId, PackageId, Resolve};

/// Longest file, in bytes.
const TEXT_MAX: usize = 1 << 20;

pub(crate) fn check(source_name: &str, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    let mut source = Source::new(source_name, text);
    let package = if text.len() > TEXT_MAX {
        source.error(&(0..0), "a contract file has at most 1 MiB");
        None
    } else {
        load(&mut source, source_name).map(|(resolve, id)| package(&mut source, &resolve, id))
    };
    let warnings = source.finish()?;
    match package {
        Some(package) => Ok(Checked { package, warnings }),
        // Nothing returns no package without an error, and errors ended the function above.
        None => Err(warnings),
    }
}

fn package(source: &mut Source<'_>, resolve: &Resolve, id: PackageId) -> Package {
    let mut resolver = Resolver::new(source, resolve, id);
    for &interface in resolve.packages[id].interfaces.values() {
        let mut converted = resolver.interface(interface);
        converted.contract = contract(&mut resolver, resolve, interface);
        resolver.package.interfaces.push(converted);
    }
    let package = resolver.package;
    check_endpoints(source, resolve, id, &package);
    package
}

/// Checks an interface's messages and protocol. `None` if it has none, or after an error.
fn contract(resolver: &mut Resolver<'_, '_, '_>, resolve: &Resolve, id: InterfaceId) -> Option<Contract> {
    let interface = &resolve.interfaces[id];
    let span = resolver.place(interface.span);
    let name = resolve.id_of(id).unwrap_or_default();
    let mut names: Vec<(String, Span)> = interface
        .functions
        .values()
        .map(|function| (function.name.clone(), resolver.place(function.span)))
        .collect();
    names.sort_by(|(a, _), (b, _)| a.cmp(b));
    let converted: Vec<_> = interface
        .functions
        .values()
        .map(|function| resolver.message(function))
        .collect();
    let Some(protocol) = protocol::read(resolver.source, span.start) else {
        if !names.is_empty() {
            let label = interface.name.as_deref().unwrap_or_default();
            resolver.source.error_with_help(
                &span,
                format!("interface `{label}` has messages but no protocol"),
                "say in its `///` comment who sends what when: `@protocol`, then `start = ?message -> end`",
            );
        }
        return None;
    };
    let states = state::check(resolver.source, &protocol, &names);
    let messages = sort(converted.into_iter().collect::<Option<_>>()?);
    finish(resolver, name, messages, states?, &span)
}

fn sort(mut messages: Vec<PlacedMessage>) -> Vec<Message> {
    messages.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    messages.into_iter().map(|(message, _)| message).collect()
}

fn finish(
    resolver: &mut Resolver<'_, '_, '_>,
    name: String,
    messages: Vec<Message>,
    states: Vec<State>,
    span: &Span,
) -> Option<Contract> {
    let text = canonical::text(&resolver.package, &name, &messages, &states);
    match table(&name, &text, &messages, &states) {
        Ok(table) => {
            let digest = Digest(*blake3::hash(&table).as_bytes());
            Some(Contract {
                name,
                messages,
                states,
                text,
                table,
                digest,
            })
        }
        Err(error) => {
            resolver
                .source
                .error(span, format!("no table can be made for this contract: {error}"));
            None
        }
    }
}

fn table(name: &str, text: &str, messages: &[Message], states: &[State]) -> Result<Vec<u8>, TableError> {
    // `state::check` holds both numbers under the table's limits.
    let number = |target| match target {
        Target::State(state) => state as u8,
        Target::End => states.len() as u8,
    };
    let state = |state: &State| StateSpec {
        sender: state.sender,
        transitions: state
            .transitions
            .iter()
            .map(|step| TransitionSpec {
                tag: step.message as u16,
                next: number(step.target),
            })
            .collect(),
    };
    let spec = Spec {
        name: name.to_owned(),
        text_digest: Digest(*blake3::hash(text.as_bytes()).as_bytes()),
        states: states.iter().map(state).collect(),
        rules: messages.iter().map(|message| message.rule).collect(),
    };
    spec.encode()
}

/// The contracts that endpoints name without a package must be interfaces of this file.
fn check_endpoints(source: &mut Source<'_>, resolve: &Resolve, id: PackageId, package: &Package) {
    let interfaces = &resolve.packages[id].interfaces;
    for name in endpoint_contracts(package)
        .into_iter()
        .filter(|name| !name.contains(':'))
    {
        let is_contract = |&interface: &InterfaceId| !resolve.interfaces[interface].functions.is_empty();
        if !interfaces.get(name).is_some_and(is_contract) {
            let at = find_annotation(source.text(), name);
            source.error(&at, format!("`{name}` is no contract of this package"));
        }
    }
}

/// Whether an endpoint of this interface's contract travels in a message of the package.
pub(crate) fn names_endpoint(package: &Package, interface: &str) -> bool {
    endpoint_contracts(package).contains(&interface)
}

/// The contracts whose endpoints travel in messages of the package.
fn endpoint_contracts(package: &Package) -> Vec<&str> {
    let mut found = Vec::new();
    for decl in &package.types {
        match &decl.body {
            TypeBody::Record(fields) => fields.iter().for_each(|field| endpoints(&field.ty, &mut found)),
            TypeBody::Variant(cases) => {
                cases
                    .iter()
                    .filter_map(|case| case.ty.as_ref())
                    .for_each(|ty| endpoints(ty, &mut found));
            }
            TypeBody::Enum(_) | TypeBody::Flags(_) => {}
        }
    }
    let contracts = package
        .interfaces
        .iter()
        .filter_map(|interface| interface.contract.as_ref());
    let messages = contracts.flat_map(|contract| &contract.messages);
    messages
        .flat_map(|message| &message.parameters)
        .for_each(|parameter| endpoints(&parameter.ty, &mut found));
    found
}

/// The contracts that the endpoints within a type name.
fn endpoints<'t>(ty: &'t Type, found: &mut Vec<&'t str>) {
    match ty {
        Type::Endpoint(Some((_, name))) => found.push(name),
        Type::List(inner) | Type::Option(inner) => endpoints(inner, found),
        Type::Result(ok, err) => [ok, err].into_iter().for_each(|ty| endpoints(ty, found)),
        Type::Tuple(items) => items.iter().for_each(|ty| endpoints(ty, found)),
        _ => {}
    }
}

/// Where `@client NAME` or `@service NAME` stands.
fn find_annotation(text: &str, name: &str) -> Span {
    let found = ["@client ", "@service "].into_iter().find_map(|mark| {
        let needle = format!("{mark}{name}");
        text.find(&needle).map(|at| at + mark.len()..at + needle.len())
    });
    found.unwrap_or(0..0)
}
