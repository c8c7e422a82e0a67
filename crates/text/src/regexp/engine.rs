//! A compiled regular expression: searches in linear time where it can, and gives the match and groups that PostgreSQL gives.
//!
//! Two engines share the work. Expressions without references and lookaround also exist in `regex-automata`'s form, which answers
//! whether there is a match and where the first one begins. Where no text can match in two ways (the expression is deterministic and
//! greedy), its spans are PostgreSQL's too; otherwise [`super::dissect`] finds end and groups from that beginning.

use super::Interrupt;
use super::class::CharSet;
use super::dissect::{Search, Span, Tree};
use super::syntax::{Assertion, Node, Options, Parsed, parse};
use regex_automata::Input;
use regex_automata::meta;
use regex_syntax::hir::{Capture, Class, Hir, Look, Repetition};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use stoa_error::{PgError, PgResult};

/// A regular expression ready for use.
#[derive(Debug)]
pub struct Regexp {
    parsed: Parsed,
    automaton: Option<meta::Regex>,
    /// The automaton's ends and groups are PostgreSQL's.
    exact: bool,
    /// Of an expression with references: finds where it would match if each could be any text of its group. A match begins nowhere else.
    near: Option<meta::Regex>,
    tree: OnceLock<PgResult<Tree>>,
}

/// Compiled expressions that a thread keeps.
const CACHED: usize = 32;

thread_local! {
    static CACHE: RefCell<Vec<(String, Options, Arc<Regexp>)>> = const { RefCell::new(Vec::new()) };
}

/// The compiled form of a pattern, from the thread's cache if it was used lately.
///
/// # Errors
/// 2201B for invalid patterns.
pub fn compiled(pattern: &str, options: Options) -> PgResult<Arc<Regexp>> {
    let cached = CACHE.with_borrow_mut(|cache| {
        let at = cache.iter().position(|(text, with, _)| *with == options && text == pattern)?;
        cache.get_mut(..=at)?.rotate_right(1);
        cache.first().map(|(_, _, regexp)| Arc::clone(regexp))
    });
    if let Some(regexp) = cached {
        return Ok(regexp);
    }
    let regexp = Arc::new(Regexp::new(pattern, options)?);
    CACHE.with_borrow_mut(|cache| {
        cache.truncate(CACHED - 1);
        cache.insert(0, (pattern.to_string(), options, Arc::clone(&regexp)));
    });
    Ok(regexp)
}

impl Regexp {
    fn new(pattern: &str, options: Options) -> PgResult<Regexp> {
        let parsed = parse(pattern, options)?;
        let built = |hir: Hir| {
            let config = meta::Config::new().nfa_size_limit(Some(10 << 20)).utf8_empty(true);
            meta::Builder::new().configure(config).build_from_hir(&hir).ok()
        };
        let automaton = hir(&parsed.root).and_then(built);
        let exact = automaton.is_some() && is_deterministic(&parsed.root);
        let near = if automaton.is_none() {
            let mut definitions = vec![None; parsed.groups + 1];
            define(&parsed.root, &mut definitions);
            let any = without_references(&parsed.root, &definitions, &mut { MOST_NODES });
            any.as_ref().and_then(hir).and_then(built)
        } else {
            None
        };
        let regexp = Regexp { parsed, automaton, exact, near, tree: OnceLock::new() };
        if regexp.automaton.is_none() {
            // Too complex is an error at once, not at the first match.
            regexp.tree()?;
        }
        Ok(regexp)
    }

    fn tree(&self) -> PgResult<&Tree> {
        let tree = self.tree.get_or_init(|| {
            let mut definitions = vec![None; self.parsed.groups + 1];
            define(&self.parsed.root, &mut definitions);
            Tree::new(&self.parsed.root, &definitions)
        });
        tree.as_ref().map_err(PgError::clone)
    }
}

/// A regular expression with the statement that searches by it: a search that takes long ends with the statement.
#[derive(Clone, Debug)]
pub struct Searcher<'c> {
    statement: Option<&'c dyn Interrupt>,
    regexp: Arc<Regexp>,
}

impl<'c> Searcher<'c> {
    #[must_use]
    pub fn new(statement: Option<&'c dyn Interrupt>, regexp: Arc<Regexp>) -> Self {
        Self { statement, regexp }
    }

    /// How many capturing groups there are.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.regexp.parsed.groups
    }

    /// # Errors
    /// 57014 where the statement has been cancelled.
    pub fn check_interrupt(&self) -> PgResult<()> {
        self.statement.map_or(Ok(()), Interrupt::check_interrupt)
    }

    /// Whether there is a match.
    ///
    /// # Errors
    /// 2201B if the expression is too complex; 57014.
    pub fn is_match(&self, text: &str) -> PgResult<bool> {
        match &self.regexp.automaton {
            Some(automaton) => Ok(automaton.is_match(text)),
            None => self.find(text, 0, &mut Vec::new()),
        }
    }

    /// The first match that begins at or behind byte `from`: slot 0 of `spans` is the match, slot n the nth group.
    ///
    /// # Errors
    /// As [`Searcher::is_match`].
    pub fn find(&self, text: &str, from: usize, spans: &mut Vec<Option<Span>>) -> PgResult<bool> {
        spans.clear();
        spans.resize(self.regexp.parsed.groups + 1, None);
        let mut start = from;
        if let Some(automaton) = &self.regexp.automaton {
            let input = Input::new(text).span(from..text.len());
            if self.regexp.exact && self.regexp.parsed.groups > 0 {
                let mut captures = automaton.create_captures();
                automaton.search_captures(&input, &mut captures);
                for (group, slot) in spans.iter_mut().enumerate() {
                    *slot = captures.get_group(group).map(|span| (span.start, span.end));
                }
                return Ok(captures.is_match());
            }
            let Some(found) = automaton.find(input) else { return Ok(false) };
            if self.regexp.exact {
                if let Some(slot) = spans.first_mut() {
                    *slot = Some((found.start(), found.end()));
                }
                return Ok(true);
            }
            start = found.start();
        }
        let tree = self.regexp.tree()?;
        let mut search = Search { text, ignore_case: self.regexp.parsed.ignore_case, spans, statement: self.statement, steps: 0 };
        loop {
            if let Some(near) = &self.regexp.near {
                let Some(found) = near.find(Input::new(text).span(start..text.len())) else { return Ok(false) };
                start = found.start();
            }
            if search.at(tree, start)? {
                return Ok(true);
            }
            match text.get(start..).and_then(|rest| rest.chars().next()) {
                Some(c) => start += c.len_utf8(),
                None => return Ok(false),
            }
        }
    }
}

/// Collects the expressions of groups.
fn define(node: &Node, definitions: &mut Vec<Option<Node>>) {
    match node {
        Node::Capture(inner, group) => {
            define(inner, definitions);
            if let Some(slot) = definitions.get_mut(*group) {
                *slot = Some((**inner).clone());
            }
        }
        Node::Repeat { node, .. } => define(node, definitions),
        Node::Concat(parts) | Node::Alternate(parts) => parts.iter().for_each(|part| define(part, definitions)),
        _ => {}
    }
}

/// Nodes of an expression whose references have been replaced.
const MOST_NODES: usize = 10_000;

/// The expression with the expressions of groups in the place of references to them; `None` where it looks around, or becomes large.
fn without_references(node: &Node, definitions: &[Option<Node>], left: &mut usize) -> Option<Node> {
    *left = left.checked_sub(1)?;
    let mut all = |parts: &[Node]| parts.iter().map(|part| without_references(part, definitions, left)).collect::<Option<Vec<_>>>();
    Some(match node {
        Node::Concat(parts) => Node::Concat(all(parts)?),
        Node::Alternate(branches) => Node::Alternate(all(branches)?),
        Node::Repeat { node, min, max, greedy } => {
            Node::Repeat { node: Box::new(without_references(node, definitions, left)?), min: *min, max: *max, greedy: *greedy }
        }
        Node::Capture(inner, _) => without_references(inner, definitions, left)?,
        Node::Backref(group) => without_references(definitions.get(*group)?.as_ref()?, definitions, left)?,
        Node::Look { .. } => return None,
        other => other.clone(),
    })
}

/// The expression for `regex-automata`; `None` when it cannot be expressed there.
fn hir(node: &Node) -> Option<Hir> {
    Some(match node {
        Node::Empty => Hir::empty(),
        Node::Set(set) => Hir::class(Class::Unicode(set.ranges().clone())),
        Node::Concat(parts) => Hir::concat(parts.iter().map(hir).collect::<Option<_>>()?),
        Node::Alternate(branches) => Hir::alternation(branches.iter().map(hir).collect::<Option<_>>()?),
        Node::Repeat { node, min, max, greedy } => {
            Hir::repetition(Repetition { min: *min, max: *max, greedy: greedy.unwrap_or(true), sub: Box::new(hir(node)?) })
        }
        Node::Capture(inner, group) => Hir::capture(Capture { index: u32::try_from(*group).ok()?, name: None, sub: Box::new(hir(inner)?) }),
        Node::Assert(assertion) => Hir::look(match assertion {
            Assertion::TextStart => Look::Start,
            Assertion::TextEnd => Look::End,
            Assertion::LineStart => Look::StartLF,
            Assertion::LineEnd => Look::EndLF,
            Assertion::WordStart => Look::WordStartUnicode,
            Assertion::WordEnd => Look::WordEndUnicode,
            Assertion::WordBoundary => Look::WordUnicode,
            Assertion::NotWordBoundary => Look::WordUnicodeNegate,
        }),
        Node::Backref(_) | Node::Look { .. } => return None,
    })
}

/// Whether every text is matched in one way only, whatever the preferences of an engine: the next character always decides which part
/// of the expression it belongs to (Glushkov's construction has no choice), and no repetition is lazy or repeats emptiness.
fn is_deterministic(node: &Node) -> bool {
    let mut positions = Positions { sets: Vec::new(), follow: Vec::new() };
    match positions.add(node) {
        Some(whole) => positions.apart(&whole.first) && positions.follow.iter().all(|next| positions.apart(next)),
        None => false,
    }
}

/// Whether what is repeated has no groups, or is one.
fn captures_whole_rounds(node: &Node) -> bool {
    match node {
        Node::Capture(inner, _) => !has_groups(inner),
        other => !has_groups(other),
    }
}

fn has_groups(node: &Node) -> bool {
    match node {
        Node::Capture(..) => true,
        Node::Repeat { node, .. } => has_groups(node),
        Node::Concat(parts) | Node::Alternate(parts) => parts.iter().any(has_groups),
        _ => false,
    }
}

/// The characters of an expression, each occurrence a position, and which position may follow which.
struct Positions<'n> {
    sets: Vec<&'n CharSet>,
    follow: Vec<Vec<usize>>,
}

/// Where a part of an expression begins and ends.
struct Part {
    nullable: bool,
    first: Vec<usize>,
    last: Vec<usize>,
}

/// Expressions with more positions are not examined.
const MAX_POSITIONS: usize = 128;

impl<'n> Positions<'n> {
    /// Whether no character belongs to two of the positions.
    fn apart(&self, positions: &[usize]) -> bool {
        positions.iter().enumerate().all(|(index, a)| {
            positions.iter().skip(index + 1).all(|b| match (self.sets.get(*a), self.sets.get(*b)) {
                (Some(a), Some(b)) => !a.intersects(b),
                _ => false,
            })
        })
    }

    /// Adds edges; `None` if one is there already, that is, there are two ways.
    fn connect(&mut self, last: &[usize], first: &[usize]) -> Option<()> {
        for from in last {
            let follow = self.follow.get_mut(*from)?;
            for to in first {
                if follow.contains(to) {
                    return None;
                }
                follow.push(*to);
            }
        }
        Some(())
    }

    fn sequence(&mut self, left: Part, right: Part) -> Option<Part> {
        self.connect(&left.last, &right.first)?;
        let mut first = left.first;
        if left.nullable {
            first.extend(right.first);
        }
        let mut last = right.last;
        if right.nullable {
            last.extend(left.last);
        }
        Some(Part { nullable: left.nullable && right.nullable, first, last })
    }

    fn add(&mut self, node: &'n Node) -> Option<Part> {
        let empty = || Part { nullable: true, first: Vec::new(), last: Vec::new() };
        match node {
            Node::Empty | Node::Assert(_) => Some(empty()),
            Node::Set(set) => {
                if self.sets.len() >= MAX_POSITIONS {
                    return None;
                }
                self.sets.push(set);
                self.follow.push(Vec::new());
                let position = self.sets.len() - 1;
                Some(Part { nullable: false, first: vec![position], last: vec![position] })
            }
            Node::Capture(inner, _) => self.add(inner),
            Node::Concat(parts) => {
                let mut whole = empty();
                for part in parts {
                    let part = self.add(part)?;
                    whole = self.sequence(whole, part)?;
                }
                Some(whole)
            }
            Node::Alternate(branches) => {
                let mut whole = Part { nullable: false, first: Vec::new(), last: Vec::new() };
                for branch in branches {
                    // A branch that can be empty must be the last choice.
                    if whole.nullable {
                        return None;
                    }
                    let branch = self.add(branch)?;
                    whole.nullable |= branch.nullable;
                    whole.first.extend(branch.first);
                    whole.last.extend(branch.last);
                }
                Some(whole)
            }
            Node::Repeat { node, min, max, greedy } => {
                // Groups that a later round skips keep their text elsewhere, and lose it in PostgreSQL.
                if *greedy == Some(false) || (*max != Some(1) && !captures_whole_rounds(node)) {
                    return None;
                }
                let mut whole = empty();
                for round in 0..(*min).max(max.unwrap_or(1)) {
                    let mut part = self.add(node)?;
                    if part.nullable {
                        return None;
                    }
                    if max.is_none() && round + 1 == (*min).max(1) {
                        let (first, last) = (part.first.clone(), part.last.clone());
                        self.connect(&last, &first)?;
                    }
                    part.nullable = round >= *min;
                    whole = self.sequence(whole, part)?;
                }
                Some(whole)
            }
            Node::Backref(_) | Node::Look { .. } => None,
        }
    }
}
