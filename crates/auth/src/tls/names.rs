//! Whom a client's certificate is for.
//!
//! It is read after TLS has verified it. A common name with a NUL in it is refused, as PostgreSQL refuses it: others would read it shorter.
//! The distinguished name is written as OpenSSL writes RFC 2253, since `clientname=DN` and maps are compared with that; one that has
//! kinds of names without a name of their own here has none.

use crate::{Code, Refusal};
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};
use x509_parser::x509::X509Name;

/// The names in a certificate.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClientNames {
    /// The first CN of the subject.
    pub common_name: Option<String>,
    /// The subject, in RFC 2253's order and OpenSSL's spelling: `CN=anna,O=Example`.
    pub distinguished_name: Option<String>,
    /// DNS names, addresses of mail, and URIs among the alternative names. PostgreSQL compares none of them with roles; they are for logs.
    pub alternative_names: Vec<String>,
    /// For `pg_stat_ssl`: the serial number in decimal, subject and issuer as `/CN=anna/O=Example`.
    pub serial: String,
    pub subject: String,
    pub issuer: String,
}

impl ClientNames {
    /// Of a certificate in DER.
    ///
    /// # Errors
    /// 28000 if it is none, or its common name holds a NUL.
    pub fn of(der: &[u8]) -> Result<Self, Refusal> {
        let refused = |what: &str| Refusal::new(Code::InvalidAuthorization, what);
        let (_, certificate) = X509Certificate::from_der(der).map_err(|_| refused("the client's certificate cannot be read"))?;
        let common_name = match certificate.subject().iter_common_name().next() {
            None => None,
            Some(name) => {
                let bytes = name.attr_value().data;
                if bytes.contains(&0) {
                    return Err(refused("SSL certificate's common name contains embedded null"));
                }
                std::str::from_utf8(bytes).ok().map(str::to_owned)
            }
        };
        let mut alternative_names = Vec::new();
        if let Ok(Some(extension)) = certificate.subject_alternative_name() {
            for name in &extension.value.general_names {
                match name {
                    GeneralName::DNSName(name) | GeneralName::RFC822Name(name) | GeneralName::URI(name) => {
                        alternative_names.push((*name).to_owned());
                    }
                    _ => {}
                }
            }
        }
        Ok(Self {
            common_name,
            distinguished_name: rfc2253(certificate.subject()),
            alternative_names,
            serial: decimal(certificate.raw_serial()),
            subject: slashes(certificate.subject()),
            issuer: slashes(certificate.issuer()),
        })
    }
}

/// OpenSSL's short names of the kinds that certificates have.
fn short_name(oid: &str) -> Option<&'static str> {
    Some(match oid {
        "2.5.4.3" => "CN",
        "2.5.4.4" => "SN",
        "2.5.4.5" => "serialNumber",
        "2.5.4.6" => "C",
        "2.5.4.7" => "L",
        "2.5.4.8" => "ST",
        "2.5.4.9" => "street",
        "2.5.4.10" => "O",
        "2.5.4.11" => "OU",
        "2.5.4.12" => "title",
        "2.5.4.13" => "description",
        "2.5.4.41" => "name",
        "2.5.4.42" => "GN",
        "2.5.4.43" => "initials",
        "2.5.4.44" => "generationQualifier",
        "2.5.4.46" => "dnQualifier",
        "2.5.4.65" => "pseudonym",
        "1.2.840.113549.1.9.1" => "emailAddress",
        "0.9.2342.19200300.100.1.1" => "UID",
        "0.9.2342.19200300.100.1.25" => "DC",
        _ => return None,
    })
}

/// A number of any length, most significant byte first.
fn decimal(bytes: &[u8]) -> String {
    let mut digits = vec![0_u8];
    for &byte in bytes {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            *digit = u8::try_from(value % 10).unwrap_or(0);
            carry = value / 10;
        }
        while carry > 0 {
            digits.push(u8::try_from(carry % 10).unwrap_or(0));
            carry /= 10;
        }
    }
    digits.iter().rev().map(|&digit| char::from(b'0' + digit)).collect()
}

/// As PostgreSQL shows names: in the certificate's order, what would end a part escaped, letters as they are.
fn slashes(name: &X509Name<'_>) -> String {
    let mut out = String::new();
    for attribute in name.iter_attributes() {
        let kind = attribute.attr_type().to_id_string();
        out.push('/');
        out.push_str(short_name(&kind).unwrap_or(&kind));
        out.push('=');
        let value = String::from_utf8_lossy(attribute.attr_value().data);
        let last = value.len().saturating_sub(1);
        for (at, c) in value.char_indices() {
            let escaped = match c {
                ',' | '+' | '"' | '\\' | '<' | '>' | ';' => true,
                '#' => at == 0,
                ' ' => at == 0 || at == last,
                _ => false,
            };
            if escaped {
                out.push('\\');
            }
            match c {
                c if c.is_ascii_control() => out.push_str(&format!("\\{:02X}", u32::from(c))),
                c => out.push(c),
            }
        }
    }
    out
}

fn rfc2253(name: &X509Name<'_>) -> Option<String> {
    let mut out = String::new();
    let sets: Vec<_> = name.iter_rdn().collect();
    for (position, set) in sets.iter().rev().enumerate() {
        // Within a set too, OpenSSL goes from the last to the first.
        let attributes: Vec<_> = set.iter().collect();
        for (inner, attribute) in attributes.iter().rev().enumerate() {
            match (position, inner) {
                (0, 0) => {}
                (_, 0) => out.push(','),
                _ => out.push('+'),
            }
            out.push_str(short_name(&attribute.attr_type().to_id_string())?);
            out.push('=');
            escape(std::str::from_utf8(attribute.attr_value().data).ok()?, &mut out);
        }
    }
    Some(out)
}

fn escape(value: &str, out: &mut String) {
    let last = value.len().saturating_sub(1);
    for (at, byte) in value.bytes().enumerate() {
        let escaped = match byte {
            b',' | b'+' | b'"' | b'\\' | b'<' | b'>' | b';' => true,
            b'#' => at == 0,
            b' ' => at == 0 || at == last,
            _ => false,
        };
        if escaped {
            out.push('\\');
        }
        if byte.is_ascii_graphic() || byte == b' ' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("\\{byte:02X}"));
        }
    }
}
