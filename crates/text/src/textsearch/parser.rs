//! Cuts a text into words, numbers, hosts, addresses and paths, as PostgreSQL's default parser does.
//!
//! What begins like one thing may turn out to be another: `a-b.example.org` begins like a compound and is a host. At each character that
//! may turn, the longer readings are tried in PostgreSQL's order; the first that comes to an end is taken, and else the piece goes on or
//! ends as what it was. A reading is a function from the place behind the character that began it to the place where the piece ends.

use regex::Regex;
use std::sync::LazyLock;

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Letters alone, also as a part of a compound.
    Word,
    /// A compound with hyphens, letters alone.
    Compound,
    /// Letters and digits, also in compounds.
    NumWord,
    Number,
    Host,
    Url,
    UrlPath,
    Email,
    File,
    /// Blanks, marks, tags, entities and protocols, which no dictionary is asked for.
    Other,
}

impl Kind {
    /// Whether dictionaries of a language look at it.
    #[must_use]
    pub fn is_word(self) -> bool {
        matches!(self, Kind::Word | Kind::Compound)
    }
}

/// Calls `found` for each piece that counts, in order; parts of a piece follow it.
pub fn parse(text: &str, found: &mut dyn FnMut(Kind, &str, std::ops::Range<usize>)) {
    let mut scan = Scan { text, wants_host: false, in_script: false };
    let mut found = |kind: Kind, from: usize, to: usize| found(kind, text.get(from..to).unwrap_or_default(), from..to);
    let mut at = 0;
    while let Some(piece) = scan.piece(at) {
        match piece.kind {
            Kind::Other => {
                if let Some(in_script) = piece.script {
                    scan.in_script = in_script;
                }
                at = piece.end;
            }
            Kind::Url => {
                found(Kind::Url, at, piece.end);
                scan.wants_host = true;
                let host = scan.piece(at).map_or(piece.end, |host| host.end);
                scan.wants_host = false;
                found(Kind::Host, at, host);
                found(Kind::UrlPath, host, piece.end);
                at = piece.end;
            }
            kind if piece.compound => {
                found(kind, at, piece.end);
                while let Some(part) = scan.part(at) {
                    if part.kind != Kind::Other {
                        found(part.kind, at, part.end);
                    }
                    at = part.end;
                }
            }
            kind => {
                found(kind, at, piece.end);
                at = piece.end;
            }
        }
    }
}

/// A piece that begins where it was asked for.
struct Piece {
    kind: Kind,
    end: usize,
    /// Whether it has hyphens and its parts count too.
    compound: bool,
    /// Whether what follows is a script, which is passed over.
    script: Option<bool>,
}

type Reading = Option<Piece>;

fn piece(kind: Kind, end: usize) -> Reading {
    Some(Piece { kind, end, compound: false, script: None })
}

fn compound(kind: Kind, end: usize) -> Reading {
    Some(Piece { kind, end, compound: true, script: None })
}

/// Letters, and the digits of other scripts than ours.
fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { c.is_alphabetic() || (c.is_numeric() && is_one_of(&DIGITS, c)) }
}

fn is_letter_or_digit(c: char) -> bool {
    c.is_ascii_digit() || is_letter(c)
}

/// Marks that combine with the letter before.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_one_of(&MARKS, c)
}

static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{Nd}\p{Nl}]$").ok());
static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{Mn}\p{Me}]$").ok());

fn is_one_of(class: &Option<Regex>, c: char) -> bool {
    class.as_ref().is_some_and(|class| class.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Blanks at which a line may break.
fn is_space(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}')
}

fn is_url_character(c: char) -> bool {
    c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}')
}

/// Where in a host's name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InHost {
    BehindPoint,
    /// Or behind an underscore.
    BehindHyphen,
    /// Behind a letter that begins a part.
    SecondLetter,
    /// In a part that cannot be the last.
    Part,
    /// In a part of letters.
    LastPart,
}

/// Where in a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InPath {
    BehindSlash,
    BehindTilde,
    /// Behind a point that begins a part.
    BehindPoint,
    /// Behind the second of them.
    Parent,
    Name,
}

struct Scan<'t> {
    text: &'t str,
    /// A host is to end where its name does: its path, or another host, is not looked for.
    wants_host: bool,
    /// Everything but tags is passed over.
    in_script: bool,
}

impl Scan<'_> {
    /// The character at a place, and the place behind it.
    fn at(&self, at: usize) -> Option<(char, usize)> {
        let c = match self.text.as_bytes().get(at)? {
            byte if byte.is_ascii() => char::from(*byte),
            _ => self.text.get(at..)?.chars().next()?,
        };
        Some((c, at + c.len_utf8()))
    }

    /// The place behind all characters of a kind.
    fn skip(&self, mut at: usize, of: impl Fn(char) -> bool) -> usize {
        while let Some((c, next)) = self.at(at) {
            if !of(c) {
                break;
            }
            at = next;
        }
        at
    }

    fn is(&self, at: usize, of: impl Fn(char) -> bool) -> Option<usize> {
        self.at(at).filter(|(c, _)| of(*c)).map(|(_, next)| next)
    }

    /// The piece at a place; `None` at the end of the text.
    fn piece(&self, at: usize) -> Reading {
        let (c, next) = self.at(at)?;
        let reading = match c {
            '<' => self.tag(next),
            _ if self.in_script => None,
            c if c.is_ascii_alphabetic() => self.ascii_word(next),
            c if is_letter(c) => self.word(next),
            c if c.is_ascii_digit() => self.unsigned(next),
            '-' | '+' => self.is(next, |c| c.is_ascii_digit()).and_then(|next| self.signed(next)),
            '&' => self.entity(next),
            '~' => self.path(next, InPath::BehindTilde),
            '/' => self.path(next, InPath::BehindSlash),
            '.' => match self.at(next) {
                Some(('.', next)) => self.path(next, InPath::Parent),
                Some(('/', next)) => self.path(next, InPath::BehindSlash),
                _ => None,
            },
            _ => None,
        };
        reading.or_else(|| {
            let goes_on = |c: char| match c {
                '<' => false,
                _ if self.in_script => true,
                c => !matches!(c, '-' | '+' | '&' | '/') && !is_letter_or_digit(c),
            };
            piece(Kind::Other, self.skip(next, goes_on))
        })
    }

    fn ascii_word(&self, at: usize) -> Reading {
        let at = self.skip(at, |c| c.is_ascii_alphabetic());
        let reading = match self.at(at) {
            Some(('.', next)) => self.host(next, InHost::BehindPoint).or_else(|| self.file_next(next)),
            Some(('-', next)) => self.host(next, InHost::BehindHyphen).or_else(|| self.compound(next, false)),
            Some(('_', next)) => self.host(next, InHost::BehindHyphen),
            Some(('@', next)) => self.email(next),
            Some((':', next)) => self.protocol(next),
            Some(('/', next)) => self.path(next, InPath::BehindSlash),
            Some((c, next)) if c.is_ascii_digit() => self.host(next, InHost::Part).or_else(|| self.num_word(next)),
            Some((c, next)) if is_letter(c) || is_mark(c) => self.word(next),
            _ => None,
        };
        reading.or_else(|| piece(Kind::Word, at))
    }

    fn word(&self, at: usize) -> Reading {
        let at = self.skip(at, |c| is_letter(c) || is_mark(c));
        let reading = match self.at(at) {
            Some(('-', next)) => self.compound(next, false),
            Some((c, next)) if c.is_ascii_digit() => self.num_word(next),
            _ => None,
        };
        reading.or_else(|| piece(Kind::Word, at))
    }

    fn num_word(&self, at: usize) -> Reading {
        let at = self.skip(at, |c| is_letter_or_digit(c) || is_mark(c));
        let reading = match self.at(at) {
            Some(('@', next)) => self.email(next),
            Some(('/', next)) => self.path(next, InPath::BehindSlash),
            Some(('.', next)) => self.file_next(next),
            Some(('-', next)) => self.compound(next, true),
            _ => None,
        };
        reading.or_else(|| piece(Kind::NumWord, at))
    }

    // Numbers.

    fn unsigned(&self, at: usize) -> Reading {
        let at = self.skip(at, |c| c.is_ascii_digit());
        let reading = match self.at(at) {
            Some(('.', next)) => self.host(next, InHost::BehindPoint).or_else(|| {
                let after = self.is(next, |c| c.is_ascii_digit())?;
                self.unsigned_decimal(after)
            }),
            Some((c, next)) if c.is_ascii_alphabetic() => {
                let exponent = if matches!(c, 'e' | 'E') { self.exponent(next) } else { None };
                exponent.or_else(|| self.host(next, InHost::Part)).or_else(|| self.num_word(next))
            }
            Some(('-' | '_', next)) => self.host(next, InHost::BehindHyphen),
            Some(('@', next)) => self.email(next),
            Some(('/', next)) => self.path(next, InPath::BehindSlash),
            Some((c, next)) if is_letter(c) || is_mark(c) => self.num_word(next),
            _ => None,
        };
        reading.or_else(|| piece(Kind::Number, at))
    }

    /// Behind the first digit after the point: a version if there are more points.
    fn unsigned_decimal(&self, at: usize) -> Reading {
        let mut at = self.skip(at, |c| c.is_ascii_digit());
        if let Some(end) = self.is(at, |c| matches!(c, 'e' | 'E')).and_then(|next| self.exponent(next)) {
            return Some(end);
        }
        while let Some(next) = self.is(at, |c| c == '.').and_then(|next| self.is(next, |c| c.is_ascii_digit())) {
            at = self.skip(next, |c| c.is_ascii_digit());
        }
        piece(Kind::Number, at)
    }

    fn signed(&self, at: usize) -> Reading {
        let mut at = self.skip(at, |c| c.is_ascii_digit());
        let fraction = |at: usize| self.is(at, |c| c == '.').and_then(|next| self.is(next, |c| c.is_ascii_digit()));
        if let Some(next) = fraction(at) {
            at = self.skip(next, |c| c.is_ascii_digit());
            // A version has no sign.
            if fraction(at).is_some() {
                return None;
            }
        }
        let exponent = self.is(at, |c| matches!(c, 'e' | 'E')).and_then(|next| self.exponent(next));
        exponent.or_else(|| piece(Kind::Number, at))
    }

    /// Behind the letter of an exponent.
    fn exponent(&self, at: usize) -> Reading {
        let at = self.is(at, |c| matches!(c, '-' | '+')).unwrap_or(at);
        let digit = self.is(at, |c| c.is_ascii_digit())?;
        piece(Kind::Number, self.skip(digit, |c| c.is_ascii_digit()))
    }

    // Hosts, addresses, protocols.

    /// A host's name from within; what it ends at is its last part of two letters or more.
    fn host(&self, mut at: usize, mut place: InHost) -> Reading {
        // Where it ends if nothing longer does.
        let mut ends: Option<usize> = None;
        loop {
            let shorter = || ends.and_then(|end| piece(Kind::Host, end));
            if place == InHost::LastPart {
                at = self.skip(at, |c| c.is_ascii_alphabetic());
            } else if place == InHost::Part {
                at = self.skip(at, |c| c.is_ascii_alphanumeric());
            }
            let Some((c, next)) = self.at(at) else {
                return if place == InHost::LastPart { piece(Kind::Host, at) } else { shorter() };
            };
            place = match (place, c) {
                (InHost::BehindPoint, c) if c.is_ascii_digit() => InHost::Part,
                (InHost::BehindPoint, c) if c.is_ascii_alphabetic() => InHost::SecondLetter,
                (InHost::BehindHyphen, c) if c.is_ascii_alphanumeric() => InHost::Part,
                (InHost::SecondLetter, c) if c.is_ascii_alphabetic() => InHost::LastPart,
                (InHost::SecondLetter | InHost::LastPart, c) if c.is_ascii_digit() => InHost::Part,
                (InHost::BehindPoint | InHost::BehindHyphen, _) => return shorter(),
                (InHost::Part | InHost::SecondLetter, '@') => return self.email(next).or_else(shorter),
                (InHost::LastPart, ':') => return self.port(next).or_else(|| piece(Kind::Host, at)),
                (InHost::LastPart, '@') => return self.email(next).or_else(|| piece(Kind::Host, at)),
                (InHost::LastPart, '/') if !self.wants_host => return self.url(next).or_else(|| piece(Kind::Host, at)),
                (_, '.' | '-' | '_') => {
                    if place == InHost::LastPart {
                        ends = Some(at);
                    }
                    if c == '.' { InHost::BehindPoint } else { InHost::BehindHyphen }
                }
                (InHost::LastPart, _) => return piece(Kind::Host, at),
                (InHost::Part | InHost::SecondLetter, _) => return shorter(),
            };
            at = next;
        }
    }

    fn port(&self, at: usize) -> Reading {
        let at = self.skip(self.is(at, |c| c.is_ascii_digit())?, |c| c.is_ascii_digit());
        let url = if self.wants_host { None } else { self.is(at, |c| c == '/').and_then(|next| self.url(next)) };
        url.or_else(|| piece(Kind::Host, at))
    }

    /// Behind the `/` that follows a host.
    fn url(&self, at: usize) -> Reading {
        let path = self.is(at, is_url_character)?;
        piece(Kind::Url, self.skip(path, is_url_character))
    }

    /// Behind the `@`: a host, and no more than it.
    fn email(&self, at: usize) -> Reading {
        if self.wants_host {
            return None;
        }
        let host = Scan { text: self.text, wants_host: true, in_script: false }.piece(at)?;
        if host.kind == Kind::Host { piece(Kind::Email, host.end) } else { None }
    }

    fn protocol(&self, at: usize) -> Reading {
        self.text.get(at..)?.starts_with("//").then_some(()).and_then(|()| piece(Kind::Other, at + 2))
    }

    // Files.

    /// A path from within.
    fn path(&self, mut at: usize, mut place: InPath) -> Reading {
        // Where it ends if nothing longer does.
        let mut ends: Option<usize> = None;
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        loop {
            let shorter = || ends.and_then(|end| piece(Kind::File, end));
            if place == InPath::Name {
                at = self.skip(at, |c| in_name(c) || c == '-');
            }
            let Some((c, next)) = self.at(at) else {
                return if matches!(place, InPath::Name | InPath::Parent) { piece(Kind::File, at) } else { shorter() };
            };
            place = match (place, c) {
                (InPath::Name, '.') if self.is(next, in_name).is_some() => InPath::Name,
                (InPath::Name | InPath::Parent, '/') => {
                    ends = Some(at);
                    InPath::BehindSlash
                }
                (InPath::Name, _) => return piece(Kind::File, at),
                (InPath::Parent, c) => return if is_space(c) { piece(Kind::File, at) } else { shorter() },
                (_, c) if in_name(c) => InPath::Name,
                (InPath::BehindSlash, '.') => InPath::BehindPoint,
                (InPath::BehindSlash, '~') => InPath::BehindTilde,
                (InPath::BehindPoint, '.') => InPath::Parent,
                (InPath::BehindPoint | InPath::BehindTilde, '/') => InPath::BehindSlash,
                _ => return shorter(),
            };
            at = next;
        }
    }

    /// Behind a point within a name.
    fn file_next(&self, at: usize) -> Reading {
        self.is(at, |c| c.is_ascii_alphanumeric() || c == '_').and_then(|next| self.path(next, InPath::Name))
    }

    // Compounds.

    /// Behind the first hyphen; `numbers` if there was a digit before it. A part that begins with digits has a letter too.
    fn compound(&self, mut at: usize, mut numbers: bool) -> Reading {
        let in_word = |c: char| is_letter(c) || is_mark(c);
        let mut ends: Reading = None;
        loop {
            let digits = self.skip(at, |c| c.is_ascii_digit());
            let begins = if digits > at { self.is(digits, in_word) } else { self.is(at, is_letter) };
            let Some(letter) = begins else { return ends };
            let letters = self.skip(letter, in_word);
            let whole = self.skip(letters, |c| c.is_ascii_digit() || in_word(c));
            numbers |= digits > at || whole > letters;
            ends = compound(if numbers { Kind::NumWord } else { Kind::Compound }, whole);
            match self.is(whole, |c| c == '-') {
                Some(next) => at = next,
                None => return ends,
            }
        }
    }

    /// A part of a compound, or the hyphen between two; `None` where it ends.
    fn part(&self, at: usize) -> Reading {
        let (c, next) = self.at(at)?;
        let word = |c: char| is_letter_or_digit(c) || is_mark(c);
        match c {
            '-' => self.is(next, word).and_then(|_| piece(Kind::Other, next)),
            c if c.is_ascii_digit() => {
                let digits = self.skip(next, |c| c.is_ascii_digit());
                let letter = self.is(digits, |c| is_letter(c) || is_mark(c))?;
                piece(Kind::NumWord, self.skip(letter, word))
            }
            c if is_letter(c) => {
                let letters = self.skip(next, |c| is_letter(c) || is_mark(c));
                match self.is(letters, |c| c.is_ascii_digit()) {
                    Some(digit) => piece(Kind::NumWord, self.skip(digit, word)),
                    None => piece(Kind::Word, letters),
                }
            }
            _ => None,
        }
    }

    // Marked text.

    /// Behind the `&`.
    fn entity(&self, at: usize) -> Reading {
        let (c, next) = self.at(at)?;
        let end = match c {
            '#' => match self.at(next)? {
                ('x' | 'X', next) => self.skip(self.is(next, |c| c.is_ascii_hexdigit())?, |c| c.is_ascii_hexdigit()),
                (c, next) if c.is_ascii_digit() => self.skip(next, |c| c.is_ascii_digit()),
                _ => return None,
            },
            c if c.is_ascii_alphabetic() || matches!(c, ':' | '_') => {
                self.skip(next, |c| is_letter_or_digit(c) || matches!(c, ':' | '_' | '.' | '-'))
            }
            _ => return None,
        };
        self.is(end, |c| c == ';').and_then(|end| piece(Kind::Other, end))
    }

    /// Behind the `<`.
    fn tag(&self, at: usize) -> Reading {
        let (c, next) = self.at(at)?;
        match c {
            '/' => self.is(next, |c| c.is_ascii_alphabetic()).and_then(|name| self.tag_name(at - 1, name)),
            '!' => self.comment(next),
            '?' => self.is(next, |c| matches!(c, 'x' | 'X')).and_then(|inside| self.inside_tag(inside)),
            c if c.is_ascii_alphabetic() || matches!(c, ':' | '_') => self.tag_name(at - 1, next),
            _ => None,
        }
    }

    fn tag_name(&self, from: usize, at: usize) -> Reading {
        let at = self.skip(at, |c| is_letter_or_digit(c) || matches!(c, ':' | '_' | '.' | '-'));
        let script = || match self.text.get(from..at).map(str::to_ascii_lowercase).as_deref() {
            Some("<script" | "<style") => Some(true),
            Some("</script" | "</style") => Some(false),
            _ => None,
        };
        let (c, next) = self.at(at)?;
        match c {
            '/' => self.is(next, |c| c == '>').and_then(|end| piece(Kind::Other, end)),
            '>' => piece(Kind::Other, next).map(|tag| Piece { script: script(), ..tag }),
            c if is_space(c) => self.inside_tag(next).map(|tag| Piece { script: script(), ..tag }),
            _ => None,
        }
    }

    /// Behind a tag's name.
    fn inside_tag(&self, mut at: usize) -> Reading {
        loop {
            let (c, next) = self.at(at)?;
            at = match c {
                '>' => return piece(Kind::Other, next),
                '\'' | '"' => self.behind_quoted(next, c)?,
                '=' | '-' | '_' | '#' | '/' | '.' | ':' | '&' | '?' | '%' | '~' => next,
                c if c.is_ascii_alphanumeric() || is_space(c) => next,
                _ => return None,
            };
        }
    }

    fn behind_quoted(&self, mut at: usize, quote: char) -> Option<usize> {
        loop {
            let (c, next) = self.at(at)?;
            at = next;
            if c == quote {
                return Some(at);
            }
            if c == '\\' {
                at = self.at(at)?.1;
            }
        }
    }

    /// Behind `<!`.
    fn comment(&self, at: usize) -> Reading {
        let rest = self.text.get(at..)?;
        if let Some(inside) = rest.strip_prefix("--") {
            let end = inside.find("-->")?;
            return piece(Kind::Other, at + 2 + end + 3);
        }
        self.is(at, |c| matches!(c, 'D' | 'd')).and_then(|inside| self.inside_tag(inside))
    }
}
