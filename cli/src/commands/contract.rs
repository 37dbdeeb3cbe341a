//! `satrap contract check`: the contract compiler's checks, without a coordinator.
//!
//! The diagnostics are those of `contracts/compiler`, with file, line and column.

use crate::{
    context::Context,
    failure::{Failure, Result},
    ui::{
        output,
        style::{Colour, Style},
    },
};
use satrap_contract::{Contract, Diagnostic, Package, Severity};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What `--json` says of a file.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    ok: bool,
    contracts: Vec<Summary<'a>>,
    diagnostics: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Summary<'a> {
    name: &'a str,
    hash: String,
    states: Vec<&'a str>,
    messages: Vec<&'a str>,
}

#[derive(Serialize)]
struct Finding<'a> {
    severity: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    line: usize,
    column: usize,
}

/// Checks each file; 1 if one is wrong.
pub fn check(context: &Context, files: &[PathBuf]) -> Result<u8> {
    let mut wrong = 0;
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
        let (package, diagnostics) = match satrap_contract::check(&file.display().to_string(), &text) {
            Ok(checked) => (Some(checked.package), checked.warnings),
            Err(diagnostics) => (None, diagnostics),
        };
        wrong += u8::from(package.is_none());
        if context.json {
            output::json(&report(file, package.as_ref(), &diagnostics))?;
        } else {
            diagnostics
                .iter()
                .for_each(|each| eprintln!("{}", paint(each, context.err)));
            output::text(&package.map_or(String::new(), |package| describe(file, &package, context.out)))?;
        }
    }
    Ok(wrong.min(1))
}

fn contracts(package: &Package) -> impl Iterator<Item = &Contract> {
    package
        .interfaces
        .iter()
        .filter_map(|interface| interface.contract.as_ref())
}

fn report<'a>(file: &'a Path, package: Option<&'a Package>, diagnostics: &'a [Diagnostic]) -> Report<'a> {
    let summary = |contract: &'a Contract| Summary {
        name: &contract.name,
        hash: contract.digest.to_string(),
        states: contract.states.iter().map(|state| state.name.as_str()).collect(),
        messages: contract
            .messages
            .iter()
            .map(|message| message.name.as_str())
            .collect(),
    };
    let finding = |diagnostic: &'a Diagnostic| Finding {
        severity: severity(diagnostic),
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        line: diagnostic.line,
        column: diagnostic.column,
    };
    Report {
        file,
        ok: package.is_some(),
        contracts: package.into_iter().flat_map(contracts).map(summary).collect(),
        diagnostics: diagnostics.iter().map(finding).collect(),
    }
}

fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// A diagnostic with its first word in colour.
fn paint(diagnostic: &Diagnostic, style: Style) -> String {
    let word = severity(diagnostic);
    let colour = match diagnostic.severity {
        Severity::Error => Colour::Error,
        Severity::Warning => Colour::Warning,
    };
    diagnostic
        .to_string()
        .replacen(word, &style.paint(colour, word), 1)
}

fn describe(file: &Path, package: &Package, style: Style) -> String {
    let mut text = format!(
        "{}: {}\n",
        file.display(),
        style.paint(Colour::Good, "the contracts are sound")
    );
    for contract in contracts(package) {
        text += &format!(
            "  {}  {} messages, {} states\n    {}\n",
            style.paint(Colour::Bold, &contract.name),
            contract.messages.len(),
            contract.states.len(),
            style.paint(Colour::Dim, &contract.digest.to_string())
        );
    }
    text
}
