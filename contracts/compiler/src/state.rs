//! The checks of a protocol: every name known, every message used, every state reached, one side to move.
//!
//! A state belongs to the side that sends in it. States in which both sides may send are refused: messages
//! could cross, and the ends would no longer agree on the state. With that rule and at least one message in
//! each state, no state makes both sides wait. Neighbours: `protocol.rs` reads, `canonical.rs` writes.

use crate::model::{State, Target, Transition};
use crate::protocol::{Protocol, StateAst, StepAst, Word};
use crate::source::{Source, Span, nearest};
use satrap_table::{MESSAGES_MAX, STATES_MAX, Side};
use std::collections::{HashMap, HashSet};

/// The state in which a conversation is over.
const END: &str = "end";

/// Checks a protocol over messages sorted by name. `None` after an error, which is reported.
///
/// What is only a consequence of a misspelt name or of a line that could not be read is not reported.
pub(crate) fn check(
    source: &mut Source<'_>,
    protocol: &Protocol,
    messages: &[(String, Span)],
) -> Option<Vec<State>> {
    let states = &*protocol.states;
    let mut checker = Checker {
        source,
        protocol: states,
        messages,
        failed: false,
    };
    checker.limits(&protocol.mark);
    checker.turns();
    let names_known = checker.names();
    let order = reach(states);
    if names_known && protocol.complete {
        checker.unused_messages();
        checker.unreachable(&order);
        checker.ends();
    }
    if checker.failed || !protocol.complete {
        None
    } else {
        Some(build(states, messages, &order))
    }
}

struct Checker<'c, 's, 'a> {
    source: &'s mut Source<'a>,
    protocol: &'c [StateAst],
    messages: &'c [(String, Span)],
    failed: bool,
}

impl Checker<'_, '_, '_> {
    fn error(&mut self, span: &Span, message: String, help: Option<String>) {
        self.failed = true;
        match help {
            Some(help) => self.source.error_with_help(span, message, help),
            None => self.source.error(span, message),
        }
    }

    fn limits(&mut self, mark: &Span) {
        if self.protocol.len() > STATES_MAX {
            self.error(mark, format!("a protocol has at most {STATES_MAX} states"), None);
        }
        if self.messages.len() > MESSAGES_MAX {
            self.error(
                mark,
                format!("a contract has at most {MESSAGES_MAX} messages"),
                None,
            );
        }
    }

    /// States are defined once, and every name that is used is defined. Says whether that is so.
    fn names(&mut self) -> bool {
        let failed_before = std::mem::take(&mut self.failed);
        let mut defined = HashSet::new();
        for state in self.protocol {
            let name = &state.name;
            if name.text == END {
                self.error(
                    &name.span,
                    "`end` is where conversations are over: it has no messages".into(),
                    None,
                );
            } else if !defined.insert(&*name.text) {
                self.error(
                    &name.span,
                    format!("state `{}` is defined twice", name.text),
                    None,
                );
            }
        }
        for step in self.protocol.iter().flat_map(|state| &state.steps) {
            self.known_message(&step.message);
            self.known_state(&step.target, &defined);
        }
        let known = !self.failed;
        self.failed |= failed_before;
        known
    }

    fn known_message(&mut self, word: &Word) {
        let names = || self.messages.iter().map(|(name, _)| &**name);
        if names().any(|name| name == word.text) {
            return;
        }
        let help = nearest(&word.text, names()).map(|name| format!("there is a message `{name}`"));
        self.error(&word.span, format!("unknown message `{}`", word.text), help);
    }

    fn known_state(&mut self, word: &Word, defined: &HashSet<&str>) {
        if word.text == END || defined.contains(&*word.text) {
            return;
        }
        let names = defined.iter().copied().chain([END]);
        let help = nearest(&word.text, names).map(|name| format!("there is a state `{name}`"));
        self.error(&word.span, format!("undefined state `{}`", word.text), help);
    }

    /// In a state one side sends, and each of its messages once.
    fn turns(&mut self) {
        for state in self.protocol {
            let mut seen = HashSet::new();
            for step in &state.steps {
                if !seen.insert(&step.message.text) {
                    let message = format!(
                        "message `{}` comes twice in state `{}`",
                        step.message.text, state.name.text
                    );
                    self.error(&step.span, message, None);
                }
            }
            let first = state.steps.first().map(|step| step.sender);
            if let Some(step) = state.steps.iter().find(|step| Some(step.sender) != first) {
                let message = format!("both sides may send in state `{}`", state.name.text);
                let help = "messages could cross; give each side a state of its own";
                self.error(&step.span, message, Some(help.into()));
            }
        }
    }

    fn unused_messages(&mut self) {
        for (name, span) in self.messages {
            let mut steps = self.protocol.iter().flat_map(|state| &state.steps);
            if !steps.any(|step| step.message.text == *name) {
                self.error(
                    span,
                    format!("message `{name}` is never used by the protocol"),
                    None,
                );
            }
        }
    }

    fn unreachable(&mut self, order: &[usize]) {
        for (index, state) in self.protocol.iter().enumerate() {
            if !order.contains(&index) {
                let start = &self.protocol[0].name.text;
                let message = format!("state `{}` cannot be reached from `{start}`", state.name.text);
                self.error(&state.name.span, message, None);
            }
        }
    }

    /// If the protocol has an end, every state should be able to reach it. A protocol without one is ended
    /// by closing the channel.
    fn ends(&mut self) {
        let ending = ending_states(self.protocol);
        if ending.is_empty() || self.failed {
            return;
        }
        for state in self
            .protocol
            .iter()
            .filter(|state| !ending.contains(&*state.name.text))
        {
            let message = format!("from state `{}` the conversation never ends", state.name.text);
            self.source.warning(
                &state.name.span,
                message,
                "it can only be cut off by closing the channel",
            );
        }
    }
}

fn position(protocol: &[StateAst], name: &str) -> Option<usize> {
    protocol.iter().position(|state| state.name.text == name)
}

/// A state's steps by message name.
fn sorted(state: &StateAst) -> Vec<&StepAst> {
    let mut steps: Vec<_> = state.steps.iter().collect();
    steps.sort_by(|a, b| a.message.text.cmp(&b.message.text));
    steps
}

/// Breadth first from the start, by message name.
fn reach(protocol: &[StateAst]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..protocol.len().min(1)).collect();
    let mut next = 0;
    while next < order.len() {
        for step in sorted(&protocol[order[next]]) {
            match position(protocol, &step.target.text) {
                Some(target) if !order.contains(&target) => order.push(target),
                _ => {}
            }
        }
        next += 1;
    }
    order
}

/// The states from which the end can be reached.
fn ending_states(protocol: &[StateAst]) -> HashSet<&str> {
    let mut ending = HashSet::new();
    loop {
        let before = ending.len();
        for state in protocol {
            let ends = |step: &StepAst| step.target.text == END || ending.contains(&*step.target.text);
            if state.steps.iter().any(ends) {
                ending.insert(&*state.name.text);
            }
        }
        if ending.len() == before {
            return ending;
        }
    }
}

/// The states of a protocol that passed its checks.
fn build(protocol: &[StateAst], messages: &[(String, Span)], order: &[usize]) -> Vec<State> {
    let places: HashMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(place, &index)| (&*protocol[index].name.text, place))
        .collect();
    let transition = |step: &StepAst| Transition {
        message: messages
            .iter()
            .position(|(name, _)| *name == step.message.text)
            .unwrap_or_default(),
        target: places
            .get(&*step.target.text)
            .map_or(Target::End, |&place| Target::State(place)),
    };
    let state = |&index: &usize| State {
        name: protocol[index].name.text.clone(),
        sender: protocol[index]
            .steps
            .first()
            .map_or(Side::Client, |step| step.sender),
        transitions: sorted(&protocol[index]).into_iter().map(transition).collect(),
    };
    order.iter().map(state).collect()
}
