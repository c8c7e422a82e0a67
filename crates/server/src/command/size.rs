//! Sizes on the command line: `512MB`, `2GiB`, `100000`.

/// Bytes; powers of 1024 whatever the unit's spelling, as PostgreSQL counts.
///
/// # Errors
/// What is wrong, in words.
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| format!("\"{text}\" is not a size; write 512MB or 2GB"))?;
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(format!("\"{unit}\" is not a unit of size; use kB, MB, GB or TB")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| format!("\"{text}\" is too large"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in
            [("5", Ok(5)), ("4kB", Ok(4096)), ("2 GiB", Ok(2 << 30)), ("1x", Err(())), ("x", Err(())), ("99999999999TB", Err(()))]
        {
            assert_eq!(parse(text).map_err(|_| ()), bytes, "{text}");
        }
    }
}
