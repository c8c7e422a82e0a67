//! Lines at a terminal: edited, kept for the next time, and completed.

use super::text::width_of_stdout;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Lines that are kept.
const KEPT: usize = 1000;

/// What somebody pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Key {
    Char(char),
    Enter,
    Backspace,
    Delete,
    Left,
    Right,
    Home,
    End,
    Up,
    Down,
    Tab,
    /// Control and C.
    Interrupt,
    /// Control and D.
    EndOfInput,
    /// Control and U, K, W.
    DropBefore,
    DropBehind,
    DropWord,
    Other,
}

/// What became of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    Line(String),
    /// What was begun is to be forgotten.
    Interrupted,
    End,
}

/// The line that is edited.
#[derive(Default)]
struct Line {
    text: Vec<char>,
    at: usize,
}

impl Line {
    fn set(&mut self, text: &str) {
        self.text = text.chars().collect();
        self.at = self.text.len();
    }

    fn shown(&self) -> String {
        self.text.iter().collect()
    }
}

/// See the module.
pub struct Editor {
    history: Vec<String>,
    path: Option<PathBuf>,
    complete: fn(&str) -> (usize, Vec<String>),
}

impl Editor {
    /// `complete` says from which byte on the end of a text may become something else, and what.
    pub fn new(complete: fn(&str) -> (usize, Vec<String>)) -> Self {
        let path = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".stoa_shell_history"));
        // There is none the first time.
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        Self { history: text.lines().map(str::to_owned).collect(), path, complete }
    }

    /// Keeps what was entered for the next time, if the home can be written.
    pub fn save(&self) {
        let from = self.history.len().saturating_sub(KEPT);
        if let Some(path) = &self.path {
            let text: String = self.history.iter().skip(from).map(|line| format!("{line}\n")).collect();
            let _ = std::fs::write(path, text);
        }
    }

    /// Reads a line from the terminal.
    ///
    /// # Errors
    /// What the terminal says.
    pub fn read(&mut self, prompt: &str) -> io::Result<Input> {
        let raw = RawMode::enter()?;
        let mut keys = Keys(File::open("/dev/tty")?);
        let mut out = io::stdout();
        let (mut line, mut place) = (Line::default(), self.history.len());
        let done = loop {
            draw(&mut out, prompt, &line)?;
            let key = keys.next()?;
            if key == Key::Tab {
                let choices = self.completed(&mut line);
                if choices.len() > 1 {
                    write!(out, "\r\n{}\r\n", choices.join("  "))?;
                }
                continue;
            }
            if let Some(input) = self.press(key, &mut line, &mut place) {
                break input;
            }
        };
        write!(out, "\r\n")?;
        out.flush()?;
        drop(raw);
        if let Input::Line(text) = &done
            && !text.trim().is_empty()
            && self.history.last() != Some(text)
        {
            self.history.push(text.clone());
        }
        Ok(done)
    }

    /// What a key does; the input, if it ends the line. `place` is that of the line in the history.
    fn press(&self, key: Key, line: &mut Line, place: &mut usize) -> Option<Input> {
        let end = line.text.len();
        match key {
            Key::Char(c) => {
                line.text.insert(line.at, c);
                line.at += 1;
            }
            Key::Enter => return Some(Input::Line(line.shown())),
            Key::Interrupt => return Some(Input::Interrupted),
            Key::EndOfInput if line.text.is_empty() => return Some(Input::End),
            Key::Delete | Key::EndOfInput if line.at < end => {
                line.text.remove(line.at);
            }
            Key::Backspace if line.at > 0 => {
                line.at -= 1;
                line.text.remove(line.at);
            }
            Key::Left => line.at = line.at.saturating_sub(1),
            Key::Right => line.at = (line.at + 1).min(end),
            Key::Home => line.at = 0,
            Key::End => line.at = end,
            Key::DropBefore => {
                line.text.drain(..line.at);
                line.at = 0;
            }
            Key::DropBehind => line.text.truncate(line.at),
            Key::DropWord => {
                let before = line.text.get(..line.at).unwrap_or_default();
                let word = before.iter().rposition(|c| !c.is_whitespace()).unwrap_or(0);
                let from = before.get(..word).unwrap_or_default().iter().rposition(|c| c.is_whitespace()).map_or(0, |at| at + 1);
                line.text.drain(from..line.at);
                line.at = from;
            }
            Key::Up if *place > 0 => {
                *place -= 1;
                line.set(self.history.get(*place).map_or("", String::as_str));
            }
            Key::Down if *place < self.history.len() => {
                *place += 1;
                line.set(self.history.get(*place).map_or("", String::as_str));
            }
            _ => {}
        }
        None
    }

    /// Completes the word before the cursor as far as all choices agree; gives them.
    fn completed(&self, line: &mut Line) -> Vec<String> {
        let before: String = line.text.get(..line.at).unwrap_or_default().iter().collect();
        let (from, choices) = (self.complete)(&before);
        let Some(first) = choices.first() else { return choices };
        let agree = |word: &String| first.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
        let common = choices.iter().map(agree).min().unwrap_or(0);
        let known = before.get(from..).unwrap_or_default().chars().count();
        for c in first.chars().take(common).skip(known) {
            line.text.insert(line.at, c);
            line.at += 1;
        }
        choices
    }
}

/// The line behind its prompt; of a long one the part around the cursor.
fn draw(out: &mut impl Write, prompt: &str, line: &Line) -> io::Result<()> {
    let room = width_of_stdout().saturating_sub(prompt.chars().count() + 1).max(10);
    let from = line.at.saturating_sub(room);
    let shown: String = line.text.iter().skip(from).take(room).collect();
    write!(out, "\r{prompt}{shown}\x1b[K\r\x1b[{}C", prompt.chars().count() + line.at - from)?;
    out.flush()
}

/// Keys, of the bytes that a terminal sends.
struct Keys<R: Read>(R);

impl<R: Read> Keys<R> {
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.0.read(&mut byte)? > 0).then_some(byte[0]))
    }

    fn next(&mut self) -> io::Result<Key> {
        let Some(byte) = self.byte()? else { return Ok(Key::EndOfInput) };
        Ok(match byte {
            b'\r' | b'\n' => Key::Enter,
            b'\t' => Key::Tab,
            0x7f | 0x08 => Key::Backspace,
            0x01 => Key::Home,
            0x02 => Key::Left,
            0x03 => Key::Interrupt,
            0x04 => Key::EndOfInput,
            0x05 => Key::End,
            0x06 => Key::Right,
            0x0b => Key::DropBehind,
            0x0e => Key::Down,
            0x10 => Key::Up,
            0x15 => Key::DropBefore,
            0x17 => Key::DropWord,
            0x1b => self.escape()?,
            0x20..=0x7e => Key::Char(char::from(byte)),
            0x80.. => self.character(byte)?,
            _ => Key::Other,
        })
    }

    fn escape(&mut self) -> io::Result<Key> {
        if !matches!(self.byte()?, Some(b'[' | b'O')) {
            return Ok(Key::Other);
        }
        Ok(match self.byte()? {
            Some(b'A') => Key::Up,
            Some(b'B') => Key::Down,
            Some(b'C') => Key::Right,
            Some(b'D') => Key::Left,
            Some(b'H') => Key::Home,
            Some(b'F') => Key::End,
            Some(digit @ b'0'..=b'9') => {
                // Up to the letter or the tilde that ends it.
                while self.byte()?.is_some_and(|b| b.is_ascii_digit() || b == b';') {}
                match digit {
                    b'1' | b'7' => Key::Home,
                    b'3' => Key::Delete,
                    b'4' | b'8' => Key::End,
                    _ => Key::Other,
                }
            }
            _ => Key::Other,
        })
    }

    /// A character of several bytes.
    fn character(&mut self, first: u8) -> io::Result<Key> {
        let length = match first {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => return Ok(Key::Other),
        };
        let mut bytes = vec![first];
        while bytes.len() < length {
            let Some(byte) = self.byte()? else { return Ok(Key::EndOfInput) };
            bytes.push(byte);
        }
        let c = std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next());
        Ok(c.map_or(Key::Other, Key::Char))
    }
}

/// A terminal that gives every key at once, until it is dropped.
struct RawMode(libc::termios);

impl RawMode {
    fn enter() -> io::Result<Self> {
        // SAFETY: the structure is ours; the calls read and set what the terminal of this process does.
        unsafe {
            let mut before: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(libc::STDIN_FILENO, &raw mut before) != 0 {
                return Err(io::Error::last_os_error());
            }
            let mut raw = before;
            raw.c_lflag &= !(libc::ECHO | libc::ICANON | libc::ISIG | libc::IEXTEN);
            raw.c_iflag &= !(libc::ICRNL | libc::IXON);
            raw.c_cc[libc::VMIN] = 1;
            raw.c_cc[libc::VTIME] = 0;
            if libc::tcsetattr(libc::STDIN_FILENO, libc::TCSADRAIN, &raw const raw) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(before))
        }
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // SAFETY: as above; what was there before comes back.
        unsafe {
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSADRAIN, &raw const self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    fn editor() -> Editor {
        let complete = |text: &str| {
            let from = text.rfind(' ').map_or(0, |at| at + 1);
            let words = ["list", "list_namespace", "scan"];
            (from, words.iter().filter(|w| w.starts_with(&text[from..])).map(|w| (*w).to_owned()).collect())
        };
        Editor { history: vec!["first".into(), "second".into()], path: None, complete }
    }

    /// What a terminal's bytes make of a line: the text, and where the cursor is.
    fn typed(bytes: &[u8]) -> (Option<Input>, String, usize) {
        let (editor, mut line, mut place) = (editor(), Line::default(), 2);
        let mut keys = Keys(bytes);
        loop {
            let left = keys.0.len();
            let key = keys.next().unwrap();
            if left == 0 {
                return (None, line.shown(), line.at);
            }
            if key == Key::Tab {
                editor.completed(&mut line);
            } else if let Some(input) = editor.press(key, &mut line, &mut place) {
                return (Some(input), line.shown(), line.at);
            }
        }
    }

    #[test]
    fn keys_edit_a_line() {
        let text = |bytes: &[u8]| typed(bytes).1;
        assert_eq!(typed(b"ab\r").0, Some(Input::Line("ab".into())));
        assert_eq!(typed("gr\u{f6}\u{df}e\x7f".as_bytes()), (None, "gr\u{f6}\u{df}".into(), 4));
        assert_eq!(typed(b"abc\x1b[D\x1b[DX"), (None, "aXbc".into(), 2));
        assert_eq!(text(b"abc\x01\x1b[3~\x05d"), "bcd");
        assert_eq!(text(b"put 't', 'r'\x17\x17x"), "put x");
        assert_eq!(text(b"abc\x02\x0b"), "ab");
        assert_eq!(text(b"abc\x02\x15"), "c");
        assert_eq!(text(b"\x1b[A"), "second");
        assert_eq!(text(b"\x1b[A\x1b[A\x1b[A"), "first");
        assert_eq!(text(b"\x1b[A\x1b[A\x1b[B\x1b[Bx"), "x");
        assert_eq!(typed(b"ab\x03").0, Some(Input::Interrupted));
        assert_eq!(typed(b"\x04").0, Some(Input::End));
        assert_eq!(text(b"ab\x01\x04"), "b");
        assert_eq!(text(b"\x1b[1;5Ca\xff\x00b"), "ab");
    }

    #[test]
    fn words_are_completed_as_far_as_they_agree() {
        assert_eq!(typed(b"li\t"), (None, "list".into(), 4));
        assert_eq!(typed(b"list_\t").1, "list_namespace");
        assert_eq!(typed(b"x sc\t y").1, "x scan y");
        assert_eq!(typed(b"zz\t").1, "zz");
    }
}
