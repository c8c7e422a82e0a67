//! Which part of a match belongs to which group, by PostgreSQL's rules.
//!
//! The match as a whole begins as early as possible and is then as long (or as short) as possible. Within it, an earlier part of a
//! sequence chooses its length before a later one, each by its own preference, and neighbours without groups that prefer the same choose
//! as one part; an alternation takes its first branch that fits; a repetition divides as its first rounds prefer. Spencer's library,
//! which PostgreSQL uses, calls this dissection.

use super::Interrupt;
use super::class::same_ignoring_case;
use super::program::{Program, Want};
use super::syntax::Node;
use stoa_error::PgResult;

/// A part of the text, in bytes.
pub type Span = (usize, usize);

/// An expression ready for dissection.
#[derive(Debug)]
pub struct Tree {
    program: Program,
    kind: Kind,
    /// It prefers to be short.
    short: bool,
    /// The groups within.
    groups: Vec<usize>,
}

#[derive(Debug)]
enum Kind {
    Plain,
    Concat(Box<Tree>, Box<Tree>),
    Alternate(Vec<Tree>),
    Repeat {
        inner: Box<Tree>,
        min: usize,
        max: Option<usize>,
    },
    Capture(Box<Tree>, usize),
    /// A group's text again, a number of times.
    Backref {
        group: usize,
        min: usize,
        max: Option<usize>,
    },
}

/// Whether an expression prefers to be short; `None` if it has no preference.
fn prefers_short(node: &Node) -> Option<bool> {
    match node {
        Node::Empty | Node::Set(_) | Node::Backref(_) | Node::Assert(_) | Node::Look { .. } => None,
        Node::Capture(inner, _) => prefers_short(inner),
        Node::Repeat { node, greedy, .. } => greedy.map(|greedy| !greedy).or_else(|| prefers_short(node)),
        Node::Concat(parts) => parts.iter().find_map(prefers_short),
        Node::Alternate(_) => Some(false),
    }
}

fn captures(node: &Node, groups: &mut Vec<usize>, refers: &mut bool) {
    match node {
        Node::Empty | Node::Set(_) | Node::Assert(_) | Node::Look { .. } => {}
        Node::Backref(_) => *refers = true,
        Node::Capture(inner, group) => {
            groups.push(*group);
            captures(inner, groups, refers);
        }
        Node::Repeat { node, .. } => captures(node, groups, refers),
        Node::Concat(parts) | Node::Alternate(parts) => parts.iter().for_each(|part| captures(part, groups, refers)),
    }
}

/// Whether anything within prefers to be long, and whether anything prefers to be short.
fn preferences(node: &Node) -> (bool, bool) {
    let of_parts = |parts: &[Node]| parts.iter().map(preferences).fold((false, false), |(a, b), (long, short)| (a || long, b || short));
    match node {
        Node::Empty | Node::Set(_) | Node::Backref(_) | Node::Assert(_) | Node::Look { .. } => (false, false),
        Node::Capture(inner, _) => preferences(inner),
        Node::Repeat { node, greedy, .. } => {
            let (long, short) = preferences(node);
            (long || *greedy == Some(true), short || *greedy == Some(false))
        }
        Node::Concat(parts) => of_parts(parts),
        Node::Alternate(branches) => (true, of_parts(branches).1),
    }
}

/// How many parts at the front of a sequence have neither groups nor references and prefer the same: they choose their length together.
fn plain_parts(parts: &[Node]) -> usize {
    let (mut long, mut short) = (false, false);
    let is_alike = |part: &&Node| {
        let (mut groups, mut refers) = (Vec::new(), false);
        captures(part, &mut groups, &mut refers);
        let (prefers_long, prefers_short) = preferences(part);
        (long, short) = (long || prefers_long, short || prefers_short);
        groups.is_empty() && !refers && !(long && short)
    };
    parts.iter().take_while(is_alike).count()
}

/// The same expression without capturing.
fn without_groups(node: &Node) -> Node {
    match node {
        Node::Capture(inner, _) => without_groups(inner),
        Node::Repeat { node, min, max, greedy } => {
            Node::Repeat { node: Box::new(without_groups(node)), min: *min, max: *max, greedy: *greedy }
        }
        Node::Concat(parts) => Node::Concat(parts.iter().map(without_groups).collect()),
        Node::Alternate(branches) => Node::Alternate(branches.iter().map(without_groups).collect()),
        other => other.clone(),
    }
}

impl Tree {
    /// Prepares an expression; `definitions` are the expressions of groups.
    pub fn new(node: &Node, definitions: &[Option<Node>]) -> PgResult<Tree> {
        let program = Program::new(node, definitions)?;
        let (mut groups, mut refers) = (Vec::new(), false);
        captures(node, &mut groups, &mut refers);
        let plain = groups.is_empty() && !refers;
        let kind = match node {
            _ if plain => Kind::Plain,
            Node::Capture(inner, group) => Kind::Capture(Box::new(Tree::new(inner, definitions)?), *group),
            Node::Backref(group) => Kind::Backref { group: *group, min: 1, max: Some(1) },
            Node::Repeat { node, min, max, .. } if let Node::Backref(group) = **node => {
                Kind::Backref { group, min: *min as usize, max: max.map(|max| max as usize) }
            }
            // Groups keep what the last round gave them: the rounds before it need no groups, and no rounds of their own.
            Node::Repeat { node, min, max, greedy } if *min > 0 && !refers => {
                let inner = Box::new(without_groups(node));
                let before = Node::Repeat { node: inner, min: min - 1, max: max.map(|max| max - 1), greedy: *greedy };
                Kind::Concat(Box::new(Tree::new(&before, definitions)?), Box::new(Tree::new(node, definitions)?))
            }
            Node::Repeat { node, min, max, .. } => {
                Kind::Repeat { inner: Box::new(Tree::new(node, definitions)?), min: *min as usize, max: max.map(|max| max as usize) }
            }
            Node::Alternate(branches) => {
                Kind::Alternate(branches.iter().map(|branch| Tree::new(branch, definitions)).collect::<PgResult<_>>()?)
            }
            Node::Concat(parts) => match parts.split_first() {
                Some((only, [])) => return Tree::new(only, definitions),
                Some((first, rest)) => {
                    let together = plain_parts(parts);
                    let (left, right) = if together > 1 && together < parts.len() {
                        let (left, right) = parts.split_at(together);
                        (Node::Concat(left.to_vec()), Node::Concat(right.to_vec()))
                    } else {
                        (first.clone(), Node::Concat(rest.to_vec()))
                    };
                    Kind::Concat(Box::new(Tree::new(&left, definitions)?), Box::new(Tree::new(&right, definitions)?))
                }
                None => Kind::Plain,
            },
            Node::Empty | Node::Set(_) | Node::Assert(_) | Node::Look { .. } => Kind::Plain,
        };
        Ok(Tree { program, kind, short: prefers_short(node) == Some(true), groups })
    }
}

/// One search in one text.
pub struct Search<'a> {
    pub text: &'a str,
    pub ignore_case: bool,
    /// Slot 0 is the match, slot n the nth group.
    pub spans: &'a mut Vec<Option<Span>>,
    /// The statement that searches.
    pub statement: Option<&'a dyn Interrupt>,
    pub steps: u32,
}

impl Search<'_> {
    /// Counts a step: there may be very many.
    fn step(&mut self) -> PgResult<()> {
        self.steps = self.steps.wrapping_add(1);
        match self.statement {
            Some(statement) if self.steps.is_multiple_of(256) => statement.check_interrupt(),
            _ => Ok(()),
        }
    }

    /// Whether there is a match that begins at byte `start`.
    ///
    /// # Errors
    /// 57014.
    pub fn at(&mut self, tree: &Tree, start: usize) -> PgResult<bool> {
        let end = self.text.len();
        let mut tries = Ends::new(tree, start, end);
        while let Some(found) = tries.next(self.text) {
            self.clear(tree);
            if self.dissect(tree, start, found)? {
                if let Some(slot) = self.spans.first_mut() {
                    *slot = Some((start, found));
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn clear(&mut self, tree: &Tree) {
        for group in &tree.groups {
            if let Some(slot) = self.spans.get_mut(*group) {
                *slot = None;
            }
        }
    }

    /// Fills in the groups of an expression whose automaton accepts this part of the text; `false` if references do not fit.
    fn dissect(&mut self, tree: &Tree, start: usize, end: usize) -> PgResult<bool> {
        self.step()?;
        Ok(match &tree.kind {
            Kind::Plain => true,
            Kind::Capture(inner, group) => {
                let fits = self.dissect(inner, start, end)?;
                if fits && let Some(slot) = self.spans.get_mut(*group) {
                    *slot = Some((start, end));
                }
                fits
            }
            Kind::Backref { group, min, max } => self.repeats_group(*group, *min, *max, start, end),
            Kind::Alternate(branches) => {
                for branch in branches {
                    if !branch.program.spans(self.text, start, end) {
                        continue;
                    }
                    self.clear(branch);
                    if self.dissect(branch, start, end)? {
                        return Ok(true);
                    }
                    self.clear(branch);
                }
                false
            }
            Kind::Concat(left, right) => {
                let mut middles = Ends::new(left, start, end);
                while let Some(middle) = middles.next(self.text) {
                    self.step()?;
                    if right.program.spans(self.text, middle, end) {
                        self.clear(left);
                        self.clear(right);
                        if self.dissect(left, start, middle)? && self.dissect(right, middle, end)? {
                            return Ok(true);
                        }
                    }
                }
                false
            }
            Kind::Repeat { inner, min, max } => self.repeat(inner, *min, *max, start, end)?,
        })
    }

    /// Whether a part of the text is a group's text so many times. A group without text has no repetition, not even none.
    fn repeats_group(&self, group: usize, min: usize, max: Option<usize>, start: usize, end: usize) -> bool {
        let Some(Some((from, to))) = self.spans.get(group).copied() else { return false };
        let (Some(wanted), Some(found)) = (self.text.get(from..to), self.text.get(start..end)) else { return false };
        if wanted.is_empty() {
            return found.is_empty();
        }
        let (length, total) = (wanted.chars().count(), found.chars().count());
        let count = total / length;
        total % length == 0
            && count >= min
            && max.is_none_or(|max| count <= max)
            && wanted.chars().cycle().zip(found.chars()).all(|(a, b)| a == b || (self.ignore_case && same_ignoring_case(a, b)))
    }

    fn repeat(&mut self, inner: &Tree, min: usize, max: Option<usize>, start: usize, end: usize) -> PgResult<bool> {
        // Where nothing is to be matched, short rounds are not even tried.
        if inner.short && min == 0 && start == end {
            self.clear(inner);
            return Ok(true);
        }
        let least = min.max(1);
        let most = max.unwrap_or(usize::MAX).min(end - start).max(least);
        // Where each round that is being tried began, and the ends it has still to try.
        let mut rounds = vec![(start, Ends::new(inner, start, end))];
        while let Some((from, ends)) = rounds.last_mut() {
            let from = *from;
            self.step()?;
            let Some(to) = ends.next(self.text) else {
                rounds.pop();
                continue;
            };
            let count = rounds.len();
            if to < end {
                // An empty round helps only to reach the least number of them.
                if count < most && (to > from || count < least) {
                    rounds.push((to, Ends::new(inner, to, end)));
                }
                continue;
            }
            if count < least {
                rounds.push((to, Ends::new(inner, to, end)));
                continue;
            }
            if self.rounds(inner, &rounds, end)? {
                return Ok(true);
            }
        }
        // No round at all, where nothing is to be matched.
        self.clear(inner);
        Ok(min == 0 && start == end)
    }

    fn rounds(&mut self, inner: &Tree, rounds: &[(usize, Ends)], end: usize) -> PgResult<bool> {
        for (index, (from, _)) in rounds.iter().enumerate() {
            let to = rounds.get(index + 1).map_or(end, |(next, _)| *next);
            self.clear(inner);
            if !self.dissect(inner, *from, to)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The ends that an expression can have from a start, in the order of its preference.
struct Ends<'t> {
    tree: &'t Tree,
    start: usize,
    /// The bound that is still to be tried: the next end is not beyond it.
    bound: Option<usize>,
    limit: usize,
}

impl<'t> Ends<'t> {
    fn new(tree: &'t Tree, start: usize, limit: usize) -> Ends<'t> {
        Ends { tree, start, bound: Some(if tree.short { start } else { limit }), limit }
    }

    fn next(&mut self, text: &str) -> Option<usize> {
        let bound = self.bound?;
        let program = &self.tree.program;
        let found = if self.tree.short {
            program.end(text, self.start, self.limit, Want::Shortest(bound))
        } else {
            program.end(text, self.start, bound, Want::Longest)
        };
        self.bound = found.and_then(|found| {
            if self.tree.short {
                text.get(found..self.limit)?.chars().next().map(|c| found + c.len_utf8())
            } else {
                text.get(self.start..found)?.chars().next_back().map(|c| found - c.len_utf8())
            }
        });
        found
    }
}
