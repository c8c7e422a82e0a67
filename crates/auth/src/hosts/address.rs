//! Addresses of rules: what the resolver of PostgreSQL's system takes for a number, masks, and which addresses fit.
//!
//! `127.1` and `0x7f000001` are addresses, as `inet_aton` has it; what is no number is a name. An address and its mask are of one
//! family, and an IPv4 address that comes in IPv6's clothes is IPv4.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whose connections a rule is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// Those by the Unix socket.
    Socket,
    /// Any address.
    All,
    /// An address of this machine.
    SameHost,
    /// An address in a net that this machine is in.
    SameNet,
    /// An address that equals this one where the mask has ones.
    Net { address: IpAddr, mask: IpAddr },
    /// An address whose name is this and back; from a dot on, whose name ends so.
    Name(String),
}

impl Address {
    /// Columns `address` and `netmask` of `pg_hba_file_rules`.
    pub(super) fn columns(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Socket => (None, None),
            Self::All => (Some("all".to_owned()), None),
            Self::SameHost => (Some("samehost".to_owned()), None),
            Self::SameNet => (Some("samenet".to_owned()), None),
            Self::Net { address, mask } => (Some(text(*address)), Some(text(*mask))),
            Self::Name(name) => (Some(name.clone()), None),
        }
    }
}

/// As `inet_ntop` writes it, which shows IPv4 in more IPv6 addresses than Rust does.
pub(super) fn text(address: IpAddr) -> String {
    match address {
        IpAddr::V6(v6) => match v6.segments() {
            [0, 0, 0, 0, 0, 0, high, low] if high != 0 => {
                let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
                format!("::{}", Ipv4Addr::new(a, b, c, d))
            }
            _ => v6.to_string(),
        },
        IpAddr::V4(v4) => v4.to_string(),
    }
}

/// A number that is an address, or `None` for what may be a name.
pub(super) fn numeric(text: &str) -> Option<IpAddr> {
    if let Some(v4) = inet_aton(text) {
        return Some(IpAddr::V4(v4));
    }
    // A zone names an interface, by its number or, of addresses that are local to a link, by its name; it has no part in comparisons.
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let address = address.parse::<Ipv6Addr>().ok()?;
    let zone_is_known = zone.is_none_or(|zone| {
        let is_number = !zone.is_empty() && zone.bytes().all(|b| b.is_ascii_digit());
        is_number || (address.is_unicast_link_local() && is_interface(zone))
    });
    zone_is_known.then_some(IpAddr::V6(address))
}

fn is_interface(name: &str) -> bool {
    let Ok(name) = std::ffi::CString::new(name) else { return false };
    // SAFETY: the name is a string that ends with NUL and outlives the call.
    unsafe { libc::if_nametoindex(name.as_ptr()) != 0 }
}

/// One to four numbers in decimal, octal or hexadecimal; the last fills what is left.
fn inet_aton(text: &str) -> Option<Ipv4Addr> {
    let mut parts = Vec::with_capacity(4);
    for part in text.split('.') {
        if parts.len() == 4 || !part.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let (digits, radix) = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None if part.starts_with('0') => (part, 8),
            None => (part, 10),
        };
        // The sign that Rust would take is none here.
        if digits.starts_with('+') {
            return None;
        }
        parts.push(u32::from_str_radix(digits, radix).ok()?);
    }
    let (&last, first) = parts.split_last()?;
    let mut bits = 0_u32;
    for (&part, shift) in first.iter().zip([24, 16, 8]) {
        bits |= u32::from(u8::try_from(part).ok()?) << shift;
    }
    let room = 32 - 8 * u32::try_from(first.len()).ok()?;
    (u64::from(last) < 1_u64 << room).then(|| Ipv4Addr::from(bits | last))
}

/// The mask of `/BITS`, by what `strtol` takes for a number.
pub(super) fn cidr_mask(bits: &str, family: IpAddr) -> Option<IpAddr> {
    let bits = bits.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    let digits = bits.strip_prefix(['+', '-']).unwrap_or(bits);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let count = digits.parse::<u32>().ok()?;
    if bits.starts_with('-') && count != 0 {
        return None;
    }
    Some(match family {
        IpAddr::V4(_) if count <= 32 => IpAddr::V4(u32::MAX.checked_shl(32 - count).unwrap_or(0).into()),
        IpAddr::V6(_) if count <= 128 => IpAddr::V6(u128::MAX.checked_shl(128 - count).unwrap_or(0).into()),
        _ => return None,
    })
}

/// Whether an address equals another where the mask has ones.
pub(super) fn in_net(address: IpAddr, net: IpAddr, mask: IpAddr) -> bool {
    match (address, net, mask) {
        (IpAddr::V4(address), IpAddr::V4(net), IpAddr::V4(mask)) => (u32::from(address) ^ u32::from(net)) & u32::from(mask) == 0,
        (IpAddr::V6(address), IpAddr::V6(net), IpAddr::V6(mask)) => (u128::from(address) ^ u128::from(net)) & u128::from(mask) == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{cidr_mask, in_net, numeric, text};
    use std::net::IpAddr;

    #[test]
    fn numbers_are_those_of_inet_aton() {
        for (written, address) in [
            ("127.0.0.1", Some("127.0.0.1")),
            ("127.1", Some("127.0.0.1")),
            ("1", Some("0.0.0.1")),
            ("0x7f.1", Some("127.0.0.1")),
            ("010.1.2.3", Some("8.1.2.3")),
            ("1.2.65535", Some("1.2.255.255")),
            ("4294967295", Some("255.255.255.255")),
            ("4294967296", None),
            ("1.2.65536", None),
            ("256.1.1.1", None),
            ("1.2.3.4.5", None),
            ("1.2.3.", None),
            ("+1.2.3.4", None),
            ("0x", None),
            ("08.1.1.1", None),
            ("0x+1", None),
            ("::1", Some("::1")),
            ("fe80::1%3", Some("fe80::1")),
            ("fe80::1%", None),
            ("fe80::1%lo", Some("fe80::1")),
            ("fe80::1%nosuch", None),
            ("2001:db8::1%lo", None),
            ("example.org", None),
            ("", None),
        ] {
            assert_eq!(numeric(written).map(text), address.map(str::to_owned), "{written}");
        }
    }

    #[test]
    fn masks_cut() {
        let ip = |t: &str| t.parse::<IpAddr>().unwrap_or([0, 0, 0, 0].into());
        let four = ip("10.1.2.3");
        assert_eq!(cidr_mask("0", four), Some(ip("0.0.0.0")));
        assert_eq!(cidr_mask("9", four), Some(ip("255.128.0.0")));
        assert_eq!(cidr_mask("33", four), None);
        assert_eq!(cidr_mask("-0", four), Some(ip("0.0.0.0")));
        assert_eq!(cidr_mask("8x", four), None);
        assert_eq!(cidr_mask("128", ip("::")), Some(IpAddr::V6(u128::MAX.into())));
        assert!(in_net(four, ip("10.9.9.9"), ip("255.0.0.0")));
        assert!(!in_net(four, ip("11.1.2.3"), ip("255.0.0.0")));
        assert!(!in_net(four, ip("::10.1.2.3"), ip("::")));
    }
}
