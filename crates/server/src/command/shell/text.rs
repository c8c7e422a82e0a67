//! How HBase's shell prints bytes, times, options and tables of two columns.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};

/// `Bytes.toStringBinary`: what is no printable ASCII as `\x00`.
pub fn binary(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\\' => out.push_str("\\x5C"),
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02X}");
            }
        }
    }
    out
}

/// A time in milliseconds since 1970 as Java's `LocalDateTime` writes it, in the time zone of the process.
pub fn time(ms: i64) -> String {
    let millis = ms.rem_euclid(1000);
    let Some(tm) = local(ms.div_euclid(1000)) else { return ms.to_string() };
    let year = i64::from(tm.tm_year) + 1900;
    // Years beyond four digits have a sign.
    let year = if year > 9999 { format!("+{year}") } else { format!("{year:04}") };
    let mut out = format!("{year}-{:02}-{:02}T{:02}:{:02}", tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min);
    if tm.tm_sec > 0 || millis > 0 {
        let _ = write!(out, ":{:02}", tm.tm_sec);
    }
    if millis > 0 {
        let _ = write!(out, ".{millis:03}");
    }
    out
}

/// Seconds since 1970 in the time zone of the process.
fn local(seconds: i64) -> Option<libc::tm> {
    // SAFETY: an all-zero `tm` is a valid one, which the call fills from a number that lives as long as the call.
    unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        (!libc::localtime_r(&raw const seconds, &raw mut tm).is_null()).then_some(tm)
    }
}

/// Seconds since 1970 as Ruby writes a time.
pub fn moment(seconds: i64) -> String {
    let Some(tm) = local(seconds) else { return seconds.to_string() };
    let (sign, minutes) = (if tm.tm_gmtoff < 0 { '-' } else { '+' }, tm.tm_gmtoff.abs() / 60);
    let date = format!("{:04}-{:02}-{:02}", i64::from(tm.tm_year) + 1900, tm.tm_mon + 1, tm.tm_mday);
    format!("{date} {:02}:{:02}:{:02} {sign}{:02}{:02}", tm.tm_hour, tm.tm_min, tm.tm_sec, minutes / 60, minutes % 60)
}

/// `PrettyPrinter`'s form of a ttl in seconds.
pub fn ttl(seconds: u64) -> String {
    let plural = |n: u64, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "S" });
    if seconds < 60 {
        return plural(seconds, "SECOND");
    }
    let parts = [(seconds / 86_400, "DAY"), (seconds / 3600 % 24, "HOUR"), (seconds / 60 % 60, "MINUTE"), (seconds % 60, "SECOND")];
    let shown: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| plural(*n, word)).collect();
    format!("{} ({})", plural(seconds, "SECOND"), shown.join(" "))
}

/// `PrettyPrinter`'s form of bytes.
pub fn bytes(n: u64) -> String {
    let (megabytes, kilobytes, rest) = (n >> 20, n >> 10 & 1023, n & 1023);
    let mut parts = Vec::new();
    if megabytes > 0 {
        parts.push(format!("{megabytes}MB"));
    }
    if kilobytes > 0 {
        parts.push(format!("{kilobytes}KB"));
    }
    match parts.is_empty() {
        true => format!("{n} B"),
        false if rest > 0 => format!("{n} B ({} {rest}B)", parts.join(" ")),
        false => format!("{n} B ({})", parts.join(" ")),
    }
}

/// A time in seconds as `PrettyPrinter` reads it: `18000`, `2 DAYS 3 HOURS`, `18000 SECONDS (5 HOURS)`.
pub fn seconds_of(text: &str) -> Option<u64> {
    amount(text, &[("DAY", 86_400), ("HOUR", 3600), ("MINUTE", 60), ("SECOND", 1)], "S")
}

/// A number of bytes as `PrettyPrinter` reads it: `65536`, `64 KB`, `65536 B (64KB)`.
pub fn bytes_of(text: &str) -> Option<u64> {
    amount(text, &[("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10), ("", 1)], "B")
}

/// A number, or numbers of units, the largest first, which may end as said; the sum may stand before them.
fn amount(text: &str, units: &[(&str, u64)], ending: &str) -> Option<u64> {
    let text = text.trim().to_ascii_uppercase();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    if let Some((sum, parts)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        return units_of(sum, units.get(units.len() - 1..)?, ending).filter(|sum| units_of(parts, units, ending) == Some(*sum));
    }
    units_of(&text, units, ending)
}

fn units_of(text: &str, mut units: &[(&str, u64)], ending: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut sum = None;
    while !rest.is_empty() {
        let (number, behind) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let behind = behind.trim_start();
        let (word, behind) = behind.split_at(behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len()));
        let at = units.iter().position(|(unit, _)| !word.is_empty() && word.strip_suffix(ending).unwrap_or(word) == *unit)?;
        let (_, unit) = units.get(at)?;
        sum = sum.unwrap_or(0_u64).checked_add(number.parse::<u64>().ok()?.checked_mul(*unit)?).map(Some)?;
        (units, rest) = (units.get(at + 1..)?, behind.trim_start());
    }
    sum
}

/// Prints lines. To a terminal, rows have two columns of a width, and what is wider goes on below.
pub struct Printer {
    out: Box<dyn Write + Send>,
    width: usize,
}

impl Printer {
    pub fn of_stdout() -> Self {
        Self::new(Box::new(std::io::BufWriter::new(std::io::stdout())), width_of_stdout())
    }

    pub fn new(out: Box<dyn Write + Send>, width: usize) -> Self {
        Self { out, width }
    }

    pub fn line(&mut self, text: &str) -> std::io::Result<()> {
        writeln!(self.out, "{text}")
    }

    pub fn header(&mut self, left: &str, right: &str) -> std::io::Result<()> {
        self.columns(left, right, false)
    }

    pub fn row(&mut self, left: &str, right: &str) -> std::io::Result<()> {
        self.columns(left, right, true)
    }

    fn columns(&mut self, left: &str, right: &str, inset: bool) -> std::io::Result<()> {
        let (before, between) = if inset { (" ", " ") } else { ("", "  ") };
        if self.width < 8 {
            return writeln!(self.out, "{before}{left}{between}{right}");
        }
        let first = self.width / 4;
        let second = self.width - first - 2;
        let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
        let (mut left, mut right) = (left.chunks(first), right.chunks(second));
        let mut printed = false;
        loop {
            let (l, r) = (left.next(), right.next());
            if l.is_none() && r.is_none() && printed {
                return Ok(());
            }
            printed = true;
            let text = |part: Option<&[char]>| part.unwrap_or_default().iter().collect::<String>();
            let (l, r) = (text(l), text(r));
            writeln!(self.out, "{before}{l:<first$}{between}{r:<second$}")?;
        }
    }

    pub fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The width of the terminal that the output goes to; 0 if it goes elsewhere.
pub fn width_of_stdout() -> usize {
    if !std::io::stdout().is_terminal() {
        return 0;
    }
    // SAFETY: an all-zero `winsize` is a valid one, which the call fills.
    let columns = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        if libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) == 0 { usize::from(size.ws_col) } else { 0 }
    };
    if columns == 0 { 100 } else { columns }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn bytes_are_shown_and_read() {
        let bytes = b"a b\x00\xff~\\\x7f\n";
        assert_eq!(binary(bytes), r"a b\x00\xFF~\x5C\x7F\x0A");
        assert_eq!(stoa_engine::raw::from_binary(binary(bytes).as_bytes()), bytes);
    }

    #[test]
    fn sizes_and_ages_are_as_the_pretty_printer_has_them() {
        for (seconds, text) in [
            (1, "1 SECOND"),
            (59, "59 SECONDS"),
            (60, "60 SECONDS (1 MINUTE)"),
            (18_000, "18000 SECONDS (5 HOURS)"),
            (90_061, "90061 SECONDS (1 DAY 1 HOUR 1 MINUTE 1 SECOND)"),
        ] {
            assert_eq!(ttl(seconds), text);
        }
        assert_eq!(
            (bytes(65_536).as_str(), bytes(1001).as_str(), bytes(2_593_000).as_str()),
            ("65536 B (64KB)", "1001 B", "2593000 B (2MB 484KB 232B)")
        );
    }

    #[test]
    fn sizes_and_ages_are_read_as_the_pretty_printer_reads_them() {
        for (text, seconds) in [
            ("18000", Some(18_000)),
            ("1 HOUR", Some(3600)),
            ("2 DAYS 3 HOURS", Some(183_600)),
            ("30 days", Some(2_592_000)),
            ("1day 1 minute 5seconds", Some(86_465)),
            ("18000 SECONDS (5 HOURS)", Some(18_000)),
            ("90061 SECONDS (1 DAY 1 HOUR 1 MINUTE 1 SECOND)", Some(90_061)),
            ("59 SECONDS", Some(59)),
            ("18000 SECONDS (6 HOURS)", None),
            ("3 HOURS 2 DAYS", None),
            ("1 HOUR 1 HOUR", None),
            ("1.5 HOURS", None),
            ("-1", None),
            ("1 WEEK", None),
            ("HOUR", None),
            ("5", Some(5)),
            ("5 ", Some(5)),
            ("99999999999999999999 DAYS", None),
            ("213503982334602 DAYS", None),
            ("", None),
        ] {
            assert_eq!(seconds_of(text), seconds, "{text}");
        }
        for seconds in [1, 60, 61, 3600, 86_399, 86_400, 694_861] {
            assert_eq!(seconds_of(&ttl(seconds)), Some(seconds));
        }
        for (text, n) in [
            ("65536", Some(65_536)),
            ("64 KB", Some(65_536)),
            ("64k", Some(65_536)),
            ("1MB 1 KB 3B", Some(1_049_603)),
            ("65536 B (64KB)", Some(65_536)),
            ("65536 B (63KB)", None),
            ("64 KIB", None),
        ] {
            assert_eq!(bytes_of(text), n, "{text}");
        }
        for n in [1, 1023, 1024, 65_536, 2_593_000] {
            assert_eq!(bytes_of(&bytes(n)), Some(n));
        }
    }

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn rows_have_columns_of_a_width_on_terminals_alone() {
        let shared = Shared::default();
        let mut plain = Printer::new(Box::new(shared.clone()), 0);
        plain.header("ROW", "COLUMN+CELL").unwrap();
        plain.row("r1", "column=f:q").unwrap();
        let mut wide = Printer::new(Box::new(shared.clone()), 16);
        wide.header("ROW", "COLUMN").unwrap();
        wide.row("r1234", "abcdefghijklm").unwrap();
        let text = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "ROW  COLUMN+CELL\n r1 column=f:q\nROW   COLUMN    \n r123 abcdefghij\n 4    klm       \n");
    }
}
