//! `contract!`: a contract's typed endpoints, generated where they are used.
//!
//! The work is done by `contracts/compiler`; here is only what a macro adds: finding the file, being run
//! again when it changes, and showing diagnostics as compile errors. Neighbour: `sdk/rust`, which
//! re-exports the macro.

#![forbid(unsafe_code)]

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use satrap_contract::{Options, generate_with};
use std::path::{Path, PathBuf};

/// Generates a module for each interface of a WIT file.
///
/// `contract!("store.wit")`, the path being relative to the crate's `Cargo.toml`. A second argument,
/// `contract!("store.wit", crate::satrap)`, names the runtime where it is not the crate `satrap`; its last
/// segment must be `satrap`.
///
/// For an interface `store` there are `store::Client::bind`, `store::Service::register` and `accept`,
/// `store::channel`, the declared types, and the modules `store::client` and `store::service` with one
/// type for each state of the protocol.
///
/// What is wrong with the contract is a compile error with file, line and column.
///
/// A message that the protocol does not allow in a state does not compile, because the state's type has no
/// method for it:
///
/// ```compile_fail,E0599
/// satrap::contract!("tests/store.wit");
///
/// fn out_of_order(scanning: store::client::Scanning) {
///     let _ = scanning.send_quit();
/// }
/// # fn main() {}
/// ```
///
/// Nor does one that is sent twice, because sending consumes the state:
///
/// ```compile_fail,E0382
/// satrap::contract!("tests/store.wit");
///
/// fn twice(start: store::client::Start) {
///     let _ = start.send_quit();
///     let _ = start.send_quit();
/// }
/// # fn main() {}
/// ```
///
/// In the right order it does compile:
///
/// ```
/// satrap::contract!("tests/store.wit");
///
/// fn once(start: store::client::Start) -> Result<(), satrap::Error> {
///     start.send_quit()
/// }
/// # fn main() {}
/// ```
#[proc_macro]
pub fn contract(input: TokenStream) -> TokenStream {
    expand(input).unwrap_or_else(|(message, span)| compile_error(&message, span))
}

type Failure = (String, Span);

fn expand(input: TokenStream) -> Result<TokenStream, Failure> {
    let (path, span, options) = arguments(input)?;
    let root = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .unwrap_or_default();
    let file = root.join(&path);
    let shown = file.display().to_string();
    let text =
        std::fs::read_to_string(&file).map_err(|error| (format!("cannot read {shown}: {error}"), span))?;
    let generated = generate_with(&path, &text, &options).map_err(|found| {
        let list: Vec<_> = found.iter().map(|diagnostic| diagnostic.to_string()).collect();
        (format!("the contract has errors\n\n{}", list.join("\n")), span)
    })?;
    let code: TokenStream = generated
        .rust
        .parse()
        .map_err(|error| (format!("generated code does not parse: {error}"), span))?;
    Ok([code, rebuild_when_changed(&file)].into_iter().collect())
}

/// The path, where it stands, and the runtime if one is named.
fn arguments(input: TokenStream) -> Result<(String, Span, Options), Failure> {
    let usage = |span| {
        (
            "expected a path in quotes: `contract!(\"store.wit\")`".to_owned(),
            span,
        )
    };
    let mut tokens = input.into_iter();
    let first = tokens.next().ok_or_else(|| usage(Span::call_site()))?;
    let written = first.to_string();
    let path = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let path = path
        .filter(|path| !path.contains('\\'))
        .ok_or_else(|| usage(first.span()))?;
    let mut options = Options::default();
    if let Some(comma) = tokens.next() {
        if comma.to_string() != "," {
            return Err(usage(comma.span()));
        }
        let runtime: String = tokens.map(|token| token.to_string()).collect();
        if !runtime.is_empty() {
            options.runtime = runtime;
        }
    }
    Ok((path.to_owned(), first.span(), options))
}

/// `const _: &[u8] = include_bytes!("...");`, which makes the compiler depend on the file.
fn rebuild_when_changed(file: &Path) -> TokenStream {
    format!(
        "const _: &[u8] = ::core::include_bytes!({:?});",
        file.display().to_string()
    )
    .parse()
    .unwrap_or_default()
}

/// `compile_error!{"..."}` at a place.
fn compile_error(message: &str, span: Span) -> TokenStream {
    let text = TokenTree::Literal(Literal::string(message));
    let tokens: [TokenTree; 3] = [
        Ident::new("compile_error", span).into(),
        Punct::new('!', Spacing::Alone).into(),
        Group::new(Delimiter::Brace, text.into()).into(),
    ];
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}
