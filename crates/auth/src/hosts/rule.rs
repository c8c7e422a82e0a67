//! A line of `pg_hba.conf` to a rule, or to what PostgreSQL 15 says is wrong with it.
//!
//! Methods that Stoa does not have are refused in the words by which a PostgreSQL that is built without them refuses them. `md5` is
//! `scram-sha-256`: that is what PostgreSQL makes of it for roles with a verifier, and here are no others.

use super::address::{Address, cidr_mask, numeric};
use super::tokens::{Line, Token};

/// The first word of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Local,
    Host,
    HostSsl,
    HostNoSsl,
    /// Never fits: connections are not encrypted by GSSAPI here.
    HostGssEnc,
    /// As [`Kind::Host`], for the same reason.
    HostNoGssEnc,
}

/// The proof that a rule asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Trust,
    Reject,
    ScramSha256,
    /// Written `md5`, and the same proof as [`Method::ScramSha256`].
    Md5,
    Peer,
    Cert,
}

/// `clientcert=`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientCertificate {
    /// None is needed.
    Off,
    /// One that the authorities have signed.
    VerifyCa,
    /// One that they have signed for the role.
    VerifyFull,
}

/// `clientname=`: what of a certificate is compared with the role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CertificateName {
    Cn,
    Dn,
}

/// A rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    pub line: usize,
    pub kind: Kind,
    pub databases: Vec<Token>,
    pub users: Vec<Token>,
    pub address: Address,
    pub method: Method,
    /// `map=`.
    pub map: Option<String>,
    pub client_certificate: ClientCertificate,
    pub certificate_name: CertificateName,
}

/// A row of `pg_hba_file_rules`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleRow {
    pub line_number: usize,
    pub kind: Option<&'static str>,
    pub database: Option<Vec<String>>,
    pub user_name: Option<Vec<String>>,
    pub address: Option<String>,
    pub netmask: Option<String>,
    pub auth_method: Option<&'static str>,
    pub options: Option<Vec<String>>,
    pub error: Option<String>,
}

impl Kind {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Host => "host",
            Self::HostSsl => "hostssl",
            Self::HostNoSsl => "hostnossl",
            Self::HostGssEnc => "hostgssenc",
            Self::HostNoGssEnc => "hostnogssenc",
        }
    }
}

impl Method {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trust => "trust",
            Self::Reject => "reject",
            Self::ScramSha256 => "scram-sha-256",
            Self::Md5 => "md5",
            Self::Peer => "peer",
            Self::Cert => "cert",
        }
    }

    /// Whether it is a proof of something, other than of being where one is.
    #[must_use]
    pub const fn is_proof(self) -> bool {
        matches!(self, Self::ScramSha256 | Self::Md5 | Self::Cert | Self::Peer)
    }
}

/// A line that PostgreSQL refuses: its message, and the hint that its log has.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) message: String,
    pub(super) hint: Option<&'static str>,
}

impl From<&str> for Broken {
    fn from(message: &str) -> Self {
        Self { message: message.to_owned(), hint: None }
    }
}

impl From<String> for Broken {
    fn from(message: String) -> Self {
        Self { message, hint: None }
    }
}

/// A rule, and what PostgreSQL would warn of.
pub(super) struct Parsed {
    pub(super) rule: Rule,
    pub(super) warning: Option<&'static str>,
}

/// The next field, if it is a single token.
fn single<'a>(field: Option<&'a Vec<Token>>, absent: &str, many: &str, hint: &'static str) -> Result<&'a Token, Broken> {
    match field.map(Vec::as_slice) {
        None | Some([]) => Err(absent.into()),
        Some([token]) => Ok(token),
        Some(_) => Err(Broken { message: many.to_owned(), hint: Some(hint) }),
    }
}

/// Reads a line whose tokens are in order. `tls` says whether this server serves TLS at all.
pub(super) fn parse(line: &Line, tls: bool) -> Result<Parsed, Broken> {
    let mut fields = line.fields.iter();
    let word = single(
        fields.next(),
        "end-of-line before connection type",
        "multiple values specified for connection type",
        "Specify exactly one connection type per line.",
    )?;
    let (kind, warning) = match word.text.as_str() {
        "local" => (Kind::Local, None),
        "host" => (Kind::Host, None),
        "hostssl" => (Kind::HostSsl, (!tls).then_some("hostssl record cannot match because SSL is disabled")),
        "hostnossl" => (Kind::HostNoSsl, None),
        "hostgssenc" => (Kind::HostGssEnc, Some("hostgssenc record cannot match because GSSAPI is not supported by this build")),
        "hostnogssenc" => (Kind::HostNoGssEnc, None),
        other => return Err(format!("invalid connection type \"{other}\"").into()),
    };
    let databases = fields.next().ok_or("end-of-line before database specification")?.clone();
    let users = fields.next().ok_or("end-of-line before role specification")?.clone();
    let address = if kind == Kind::Local { Address::Socket } else { address(&mut fields)? };
    let word = single(
        fields.next(),
        "end-of-line before authentication method",
        "multiple values specified for authentication type",
        "Specify exactly one authentication type per line.",
    )?;
    let mut rule = Rule {
        line: line.number,
        kind,
        databases,
        users,
        address,
        method: method(&word.text, kind)?,
        map: None,
        client_certificate: ClientCertificate::Off,
        certificate_name: CertificateName::Cn,
    };
    for token in fields.flatten() {
        match token.text.split_once('=') {
            Some((name, value)) => option(&mut rule, name, value)?,
            None => return Err(format!("authentication option not in name=value format: {}", token.text).into()),
        }
    }
    if rule.method == Method::Cert {
        rule.client_certificate = ClientCertificate::VerifyFull;
    }
    Ok(Parsed { rule, warning })
}

fn address<'a>(fields: &mut impl Iterator<Item = &'a Vec<Token>>) -> Result<Address, Broken> {
    let token = single(
        fields.next(),
        "end-of-line before IP address specification",
        "multiple values specified for host address",
        "Specify one address range per line.",
    )?;
    for (keyword, address) in [("all", Address::All), ("samehost", Address::SameHost), ("samenet", Address::SameNet)] {
        if token.is_keyword(keyword) {
            return Ok(address);
        }
    }
    let (name, bits) = match token.text.split_once('/') {
        Some((name, bits)) => (name, Some(bits)),
        None => (token.text.as_str(), None),
    };
    let address = match (numeric(name), bits) {
        (Some(address), _) => address,
        (None, None) => return Ok(Address::Name(name.to_owned())),
        (None, Some(_)) => return Err(format!("specifying both host name and CIDR mask is invalid: \"{}\"", token.text).into()),
    };
    if let Some(bits) = bits {
        let invalid = || format!("invalid CIDR mask in address \"{}\"", token.text);
        return Ok(Address::Net { address, mask: cidr_mask(bits, address).ok_or_else(invalid)? });
    }
    let Some(field) = fields.next() else {
        let hint = Some("Specify an address range in CIDR notation, or provide a separate netmask.");
        return Err(Broken { message: "end-of-line before netmask specification".to_owned(), hint });
    };
    let token =
        single(Some(field), "end-of-line before netmask specification", "multiple values specified for netmask", "Specify one netmask.")?;
    let mask = numeric(&token.text).ok_or_else(|| format!("invalid IP mask \"{}\": Name or service not known", token.text))?;
    if mask.is_ipv4() != address.is_ipv4() {
        return Err("IP address and mask do not match".into());
    }
    Ok(Address::Net { address, mask })
}

fn method(word: &str, kind: Kind) -> Result<Method, Broken> {
    let method = match word {
        "trust" => Method::Trust,
        "reject" => Method::Reject,
        "scram-sha-256" => Method::ScramSha256,
        "md5" => Method::Md5,
        "peer" => Method::Peer,
        // On local connections PostgreSQL reads ident as peer.
        "ident" if kind == Kind::Local => Method::Peer,
        "cert" => Method::Cert,
        "ident" | "password" | "gss" | "sspi" | "pam" | "bsd" | "ldap" | "radius" => {
            let message = format!("invalid authentication method \"{word}\": not supported by this build");
            return Err(Broken { message, hint: Some("Stoa knows trust, reject, scram-sha-256, md5 (the same), peer and cert.") });
        }
        _ => return Err(format!("invalid authentication method \"{word}\"").into()),
    };
    if method == Method::Peer && kind != Kind::Local {
        return Err("peer authentication is only supported on local sockets".into());
    }
    if method == Method::Cert && kind != Kind::HostSsl {
        return Err("cert authentication is only supported on hostssl connections".into());
    }
    Ok(method)
}

fn option(rule: &mut Rule, name: &str, value: &str) -> Result<(), Broken> {
    let only = |methods: &str| -> Result<(), Broken> {
        Err(format!("authentication option \"{name}\" is only valid for authentication methods {methods}").into())
    };
    match name {
        "map" if matches!(rule.method, Method::Peer | Method::Cert) => rule.map = Some(value.to_owned()),
        "map" => return only("ident, peer, gssapi, sspi, and cert"),
        "clientcert" | "clientname" if rule.kind != Kind::HostSsl => {
            return Err(format!("{name} can only be configured for \"hostssl\" rows").into());
        }
        "clientcert" => match value {
            "verify-full" => rule.client_certificate = ClientCertificate::VerifyFull,
            "verify-ca" if rule.method == Method::Cert => {
                return Err("clientcert can only be set to \"verify-full\" when using \"cert\" authentication".into());
            }
            "verify-ca" => rule.client_certificate = ClientCertificate::VerifyCa,
            _ => return Err(format!("invalid value for clientcert: \"{value}\"").into()),
        },
        "clientname" => match value {
            "CN" => rule.certificate_name = CertificateName::Cn,
            "DN" => rule.certificate_name = CertificateName::Dn,
            _ => return Err(format!("invalid value for clientname: \"{value}\"").into()),
        },
        "pamservice" | "pam_use_hostname" => return only("pam"),
        "ldapurl"
        | "ldaptls"
        | "ldapscheme"
        | "ldapserver"
        | "ldapport"
        | "ldapbinddn"
        | "ldapbindpasswd"
        | "ldapsearchattribute"
        | "ldapsearchfilter"
        | "ldapbasedn"
        | "ldapprefix"
        | "ldapsuffix" => return only("ldap"),
        "krb_realm" | "include_realm" => return only("gssapi and sspi"),
        "compat_realm" | "upn_username" => return only("sspi"),
        "radiusservers" | "radiusports" | "radiussecrets" | "radiusidentifiers" => return only("radius"),
        _ => return Err(format!("unrecognized authentication option name: \"{name}\"").into()),
    }
    Ok(())
}

impl RuleRow {
    pub(super) const fn broken(line_number: usize, error: String) -> Self {
        Self {
            line_number,
            kind: None,
            database: None,
            user_name: None,
            address: None,
            netmask: None,
            auth_method: None,
            options: None,
            error: Some(error),
        }
    }

    pub(super) fn of(rule: &Rule, warning: Option<&str>) -> Self {
        let names = |tokens: &[Token]| Some(tokens.iter().map(|token| token.text.clone()).collect());
        let certificate = match rule.client_certificate {
            ClientCertificate::Off => None,
            ClientCertificate::VerifyCa => Some("clientcert=verify-ca".to_owned()),
            ClientCertificate::VerifyFull => Some("clientcert=verify-full".to_owned()),
        };
        let options: Vec<String> = rule.map.iter().map(|map| format!("map={map}")).chain(certificate).collect();
        let (address, netmask) = rule.address.columns();
        Self {
            line_number: rule.line,
            kind: Some(rule.kind.name()),
            database: names(&rule.databases),
            user_name: names(&rule.users),
            address,
            netmask,
            auth_method: Some(rule.method.name()),
            options: (!options.is_empty()).then_some(options),
            error: warning.map(str::to_owned),
        }
    }
}
