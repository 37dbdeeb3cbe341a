//! Functions of 70 lines, files of 800, tests apart; and no `#[cfg]` inside a function.
//!
//! STYLE: the tenth and the fourth habit.

use super::{Finding, Tree, finding};

const FUNCTION: usize = 70;
const FILE: usize = 800;

/// Functions that are too long.
pub fn functions(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in &tree.rust {
        for function in source.functions() {
            let (first, last) = (
                source.line(function.extent.start),
                source.line(function.extent.end - 1),
            );
            let lines = last - first + 1;
            if lines > FUNCTION && !source.is_test(function.extent.start) {
                let message = format!(
                    "function {} has {lines} lines; {FUNCTION} is the limit",
                    function.name
                );
                found.push(finding(&source.path, first, message));
            }
        }
    }
    found
}

/// Files that are too long.
pub fn files(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in &tree.rust {
        let lines = source.lines_apart_from_tests();
        if lines > FILE {
            let message = format!("{lines} lines apart from tests; {FILE} is the limit");
            found.push(finding(&source.path, FILE + 1, message));
        }
    }
    found
}

/// Conditional compilation of statements.
pub fn conditions(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in &tree.rust {
        for function in source.functions() {
            for (offset, _) in source.code[function.body.clone()].match_indices("#[cfg(") {
                let at = function.body.start + offset;
                if !source.is_test(at) {
                    let message = "cfg selects modules, never statements: give each case a file or function";
                    found.push(finding(&source.path, source.line(at), message));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::*;

    #[test]
    fn a_function_over_the_limit_is_found_unless_it_is_a_test() {
        let body = "    x();\n".repeat(69);
        let long = format!("fn long() {{\n{body}}}\n");
        let fits = format!("fn fits() {{\n{}}}\n", "    x();\n".repeat(68));
        let test = format!("#[cfg(test)]\nmod tests {{\n{long}}}\n");
        let text = format!("{fits}{long}{test}");
        let found = verdict("functions", functions, &[("a.rs", &text)]);
        assert_eq!(found, ["a.rs:71: function long has 71 lines; 70 is the limit"]);
    }

    #[test]
    fn a_file_over_the_limit_is_found() {
        let text = "// x\n".repeat(801);
        let found = verdict("files", files, &[("a.rs", &text), ("tests/b.rs", &text)]);
        assert_eq!(found, ["a.rs:801: 801 lines apart from tests; 800 is the limit"]);
    }

    #[test]
    fn a_condition_within_a_function_is_found() {
        let text = "#[cfg(unix)]\nfn a() {\n    #[cfg(loom)]\n    b();\n}\n";
        let found = verdict("conditions", conditions, &[("a.rs", text)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs:3: cfg selects modules"));
    }
}
