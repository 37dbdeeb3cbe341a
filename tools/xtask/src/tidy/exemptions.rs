//! Exemptions: `tools/xtask/tidy.toml` says for a rule and a file how many findings are let pass.
//!
//! The list only shrinks: an exemption for more than there is to let pass is a finding itself.

use super::{Finding, finding};
use crate::failure::{About, Result};
use crate::repo::Repo;
use crate::toml;
use std::fs;

const FILE: &str = "tools/xtask/tidy.toml";

/// The findings that are left when the exempt ones are taken out.
pub fn apply(
    repo: &Repo,
    rules: &[&'static str],
    mut findings: Vec<(&'static str, Finding)>,
) -> Result<Vec<(&'static str, Finding)>> {
    let text = if repo.has(FILE) {
        fs::read_to_string(repo.path(FILE)).about(FILE)?
    } else {
        String::new()
    };
    let mut complaints = Vec::new();
    for entry in toml::parse(&text) {
        let complain = |message: String| ("exemptions", finding(FILE, entry.line, message));
        let Some(rule) = rules.iter().find(|rule| **rule == entry.section) else {
            complaints.push(complain(format!("there is no rule '{}'", entry.section)));
            continue;
        };
        let Ok(allowed) = entry.value.parse::<usize>() else {
            complaints.push(complain("an exemption is a number of findings".to_string()));
            continue;
        };
        let exempt = |found: &(&str, Finding)| found.0 == *rule && found.1.file == entry.key;
        let count = findings.iter().filter(|found| exempt(found)).count();
        if count < allowed {
            complaints.push(complain(format!(
                "{} has {count} to exempt, not {allowed}: shrink this",
                entry.key
            )));
        }
        if count <= allowed {
            findings.retain(|found| !exempt(found));
        }
    }
    findings.extend(complaints);
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch;

    fn left(list: &str, count: usize) -> Vec<String> {
        let root = scratch(&format!("exemptions-{count}-{}", list.len()));
        fs::create_dir_all(root.join("tools/xtask")).expect("make the folder");
        fs::write(root.join(FILE), list).expect("write");
        let findings = (0..count)
            .map(|line| ("panic", finding("a.rs", line + 1, "unwrap")))
            .collect();
        let left = apply(&Repo::at(&root), &["panic"], findings).expect("apply");
        left.into_iter().map(|(_, finding)| finding.message).collect()
    }

    #[test]
    fn exempt_findings_pass_and_one_more_shows_all() {
        assert!(left("[panic]\n\"a.rs\" = 2\n", 2).is_empty());
        assert_eq!(left("[panic]\n\"a.rs\" = 2\n", 3).len(), 3);
    }

    #[test]
    fn an_exemption_that_is_too_large_or_unknown_is_a_finding() {
        assert_eq!(
            left("[panic]\n\"a.rs\" = 2\n", 1),
            ["a.rs has 1 to exempt, not 2: shrink this"]
        );
        assert_eq!(
            left("[nonsense]\n\"a.rs\" = 2\n", 0),
            ["there is no rule 'nonsense'"]
        );
    }
}
