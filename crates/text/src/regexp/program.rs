//! Automata over characters: where a regular expression can end that begins at a place.
//!
//! All alternatives advance together, a set of states a character, so time is linear in the text whatever the pattern. A reference to
//! a group counts as the group's expression here; [`super::dissect`] checks the text.

use super::class::{CharSet, is_word};
use super::syntax::{Assertion, Node, invalid};
use stoa_error::PgResult;

/// One state.
#[derive(Clone, Debug)]
enum State {
    /// Goes on to the next state over a character of the set.
    Set(CharSet),
    Jump(usize),
    Split(usize, usize),
    Assert(Assertion),
    Look {
        ahead: bool,
        negated: bool,
        program: Box<Program>,
    },
    End,
}

/// An automaton.
#[derive(Clone, Debug)]
pub struct Program {
    states: Vec<State>,
}

/// States of one automaton: what PostgreSQL calls too complex is about as large.
const MAX_STATES: usize = 100_000;

/// Which end of a match is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// The last one not behind a place.
    Longest,
    /// The first one at or behind this place.
    Shortest(usize),
}

impl Program {
    /// The automaton of an expression; `groups` are the expressions that references name.
    pub fn new(node: &Node, groups: &[Option<Node>]) -> PgResult<Program> {
        let mut program = Program { states: Vec::new() };
        program.add(node, groups, 0)?;
        program.push(State::End)?;
        Ok(program)
    }

    fn push(&mut self, state: State) -> PgResult<usize> {
        if self.states.len() >= MAX_STATES {
            return Err(invalid("regular expression is too complex"));
        }
        self.states.push(state);
        Ok(self.states.len() - 1)
    }

    fn patch(&mut self, at: usize, state: State) {
        if let Some(slot) = self.states.get_mut(at) {
            *slot = state;
        }
    }

    fn add(&mut self, node: &Node, groups: &[Option<Node>], depth: usize) -> PgResult<()> {
        if depth > 1000 {
            return Err(invalid("regular expression is too complex"));
        }
        match node {
            Node::Empty => {}
            Node::Set(set) => {
                self.push(State::Set(set.clone()))?;
            }
            Node::Assert(assertion) => {
                self.push(State::Assert(*assertion))?;
            }
            Node::Look { ahead, negated, node } => {
                let program = Box::new(Program::new(node, groups)?);
                self.push(State::Look { ahead: *ahead, negated: *negated, program })?;
            }
            Node::Capture(inner, _) => self.add(inner, groups, depth + 1)?,
            Node::Backref(group) => {
                if let Some(Some(inner)) = groups.get(*group) {
                    self.add(inner, groups, depth + 1)?;
                }
            }
            Node::Concat(parts) => {
                for part in parts {
                    self.add(part, groups, depth + 1)?;
                }
            }
            Node::Alternate(branches) => {
                let mut ends = Vec::new();
                for (index, branch) in branches.iter().enumerate() {
                    if index + 1 == branches.len() {
                        self.add(branch, groups, depth + 1)?;
                        break;
                    }
                    let split = self.push(State::End)?;
                    self.add(branch, groups, depth + 1)?;
                    ends.push(self.push(State::End)?);
                    let next = self.states.len();
                    self.patch(split, State::Split(split + 1, next));
                }
                let end = self.states.len();
                for at in ends {
                    self.patch(at, State::Jump(end));
                }
            }
            Node::Repeat { node, min, max, .. } => {
                for _ in 0..*min {
                    self.add(node, groups, depth + 1)?;
                }
                match max {
                    None => {
                        let split = self.push(State::End)?;
                        self.add(node, groups, depth + 1)?;
                        self.push(State::Jump(split))?;
                        let end = self.states.len();
                        self.patch(split, State::Split(split + 1, end));
                    }
                    Some(max) => {
                        let mut splits = Vec::new();
                        for _ in *min..*max {
                            splits.push(self.push(State::End)?);
                            self.add(node, groups, depth + 1)?;
                        }
                        let end = self.states.len();
                        for split in splits {
                            self.patch(split, State::Split(split + 1, end));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Where a match that begins at byte `start` and ends at or before byte `limit` ends.
    #[must_use]
    pub fn end(&self, text: &str, start: usize, limit: usize, want: Want) -> Option<usize> {
        let mut current = States::new(self.states.len());
        let mut following = States::new(self.states.len());
        let mut at = start;
        let mut last = None;
        let mut stack = Vec::new();
        self.reach(0, text, at, &mut current, &mut stack);
        loop {
            if current.ended {
                match want {
                    Want::Longest => last = Some(at),
                    Want::Shortest(least) if at >= least => return Some(at),
                    Want::Shortest(_) => {}
                }
            }
            if current.list.is_empty() || at >= limit {
                return last;
            }
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { return last };
            at += c.len_utf8();
            if at > limit {
                return last;
            }
            following.clear();
            for &state in &current.list {
                if let Some(State::Set(set)) = self.states.get(state)
                    && set.contains(c)
                {
                    self.reach(state + 1, text, at, &mut following, &mut stack);
                }
            }
            std::mem::swap(&mut current, &mut following);
        }
    }

    /// Whether a match begins and ends at these places.
    #[must_use]
    pub fn spans(&self, text: &str, start: usize, end: usize) -> bool {
        self.end(text, start, end, Want::Longest) == Some(end)
    }

    /// Adds the states that are reached without a character.
    fn reach(&self, state: usize, text: &str, at: usize, states: &mut States, stack: &mut Vec<usize>) {
        stack.push(state);
        while let Some(state) = stack.pop() {
            if !states.mark(state) {
                continue;
            }
            match self.states.get(state) {
                Some(State::Set(_)) => states.list.push(state),
                Some(State::Jump(next)) => stack.push(*next),
                Some(State::Split(a, b)) => stack.extend([*a, *b]),
                Some(State::Assert(assertion)) => {
                    if holds(*assertion, text, at) {
                        stack.push(state + 1);
                    }
                }
                Some(State::Look { ahead, negated, program }) => {
                    let found = if *ahead {
                        program.end(text, at, text.len(), Want::Shortest(at)).is_some()
                    } else {
                        (0..=at).rev().filter(|start| text.is_char_boundary(*start)).any(|start| program.spans(text, start, at))
                    };
                    if found != *negated {
                        stack.push(state + 1);
                    }
                }
                Some(State::End) | None => states.ended = true,
            }
        }
    }
}

/// The states that are active at a place.
struct States {
    list: Vec<usize>,
    marks: Vec<bool>,
    marked: Vec<usize>,
    ended: bool,
}

impl States {
    fn new(count: usize) -> States {
        States { list: Vec::new(), marks: vec![false; count], marked: Vec::new(), ended: false }
    }

    /// Marks a state; `false` if it was marked.
    fn mark(&mut self, state: usize) -> bool {
        match self.marks.get_mut(state) {
            Some(mark) if !*mark => {
                *mark = true;
                self.marked.push(state);
                true
            }
            _ => false,
        }
    }

    fn clear(&mut self) {
        for state in self.marked.drain(..) {
            if let Some(mark) = self.marks.get_mut(state) {
                *mark = false;
            }
        }
        self.list.clear();
        self.ended = false;
    }
}

/// Whether an assertion holds at a byte of the text.
fn holds(assertion: Assertion, text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at..).and_then(|after| after.chars().next());
    let (left, right) = (before.is_some_and(is_word), after.is_some_and(is_word));
    match assertion {
        Assertion::TextStart => before.is_none(),
        Assertion::TextEnd => after.is_none(),
        Assertion::LineStart => before.is_none_or(|c| c == '\n'),
        Assertion::LineEnd => after.is_none_or(|c| c == '\n'),
        Assertion::WordStart => !left && right,
        Assertion::WordEnd => left && !right,
        Assertion::WordBoundary => left != right,
        Assertion::NotWordBoundary => left == right,
    }
}
