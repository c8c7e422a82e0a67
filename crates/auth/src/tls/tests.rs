//! Certificates that are made, served, exchanged and read; handshakes in memory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{ALPN, ClientNames, Keeper, Paths, SelfSigned, Served, alpn_is_right, end_point};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384,
    PKCS_ED25519, SanType, SignatureAlgorithm,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};
use sha2::{Digest, Sha256, Sha384};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

fn served_in(directory: &Path) -> Paths {
    let paths = Paths { certificate: directory.join("server.crt"), key: directory.join("server.key"), authorities: None };
    let made = SelfSigned::make(&["localhost".into(), "127.0.0.1".into()], SystemTime::now(), 30).unwrap();
    made.write(&paths.certificate, &paths.key).unwrap();
    paths
}

fn der(path: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(&fs::read(path).unwrap()).unwrap()
}

/// A handshake without a network, and what went wrong.
fn handshake(served: &Served, config: ClientConfig) -> Result<(ClientConnection, ServerConnection), rustls::Error> {
    let mut client = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    let mut server = ServerConnection::new(Arc::clone(served.config())).unwrap();
    while client.is_handshaking() || server.is_handshaking() || client.wants_write() || server.wants_write() {
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).unwrap();
        }
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            server.read_tls(&mut rest).unwrap();
            server.process_new_packets()?;
        }
        bytes.clear();
        while server.wants_write() {
            server.write_tls(&mut bytes).unwrap();
        }
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets()?;
        }
    }
    Ok((client, server))
}

fn client(
    root: &CertificateDer<'static>,
    alpn: &[&[u8]],
    with: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match with {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).unwrap(),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    config
}

#[test]
fn a_self_signed_certificate_serves_those_who_are_given_it() {
    let directory = tempfile::tempdir().unwrap();
    let paths = served_in(directory.path());
    assert_eq!(fs::metadata(&paths.key).unwrap().permissions().mode() & 0o777, 0o600);
    let served = Served::load(&paths).unwrap();
    let root = der(&paths.certificate);
    assert_eq!(served.end_point(), Some(&Sha256::digest(&root)[..]));
    let (mut client_side, server) = handshake(&served, client(&root, &[ALPN], None)).unwrap();
    assert_eq!((client_side.alpn_protocol(), server.alpn_protocol()), (Some(ALPN), Some(ALPN)));
    assert!(alpn_is_right(server.alpn_protocol(), true));
    assert_eq!(client_side.peer_certificates().unwrap()[0], root);
    client_side.send_close_notify();
    let (_, server) = handshake(&served, client(&root, &[], None)).unwrap();
    assert!(alpn_is_right(server.alpn_protocol(), false) && !alpn_is_right(server.alpn_protocol(), true));
    assert!(handshake(&served, client(&root, &[b"http/1.1"], None)).is_err());
    let other = tempfile::tempdir().unwrap();
    assert!(handshake(&served, client(&der(&served_in(other.path()).certificate), &[], None)).is_err());
    // What is there stays.
    let again = SelfSigned::make(&["localhost".into()], SystemTime::now(), 30).unwrap();
    assert!(again.write(&paths.certificate, &paths.key).is_err());
    assert_eq!(der(&paths.certificate), root);
    assert!(SelfSigned::make(&[], SystemTime::now(), 30).is_err());
    assert!(!format!("{again:?}").contains("PRIVATE"));
}

#[test]
fn files_that_change_are_served_and_broken_ones_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let paths = served_in(directory.path());
    let keeper = Keeper::new(paths.clone()).unwrap();
    let first = keeper.current().end_point().unwrap().to_vec();
    assert!(!keeper.reload_if_changed().unwrap());
    let other = tempfile::tempdir().unwrap();
    let new = served_in(other.path());
    // The certificate alone does not go with the key.
    fs::rename(&new.certificate, &paths.certificate).unwrap();
    let reported = keeper.reload_if_changed().unwrap_err();
    assert!(reported.message.contains("is not the key of"), "{reported}");
    assert!(!keeper.reload_if_changed().unwrap(), "told once");
    assert!(keeper.reload().is_err());
    assert_eq!(keeper.current().end_point().unwrap(), first);
    fs::rename(&new.key, &paths.key).unwrap();
    assert!(keeper.reload_if_changed().unwrap());
    let second = keeper.current().end_point().unwrap().to_vec();
    assert_ne!(first, second);
    // Others may read the key.
    fs::set_permissions(&paths.key, fs::Permissions::from_mode(0o644)).unwrap();
    let reported = keeper.reload_if_changed().unwrap_err();
    assert!(reported.message.ends_with("has group or world access") && reported.detail.is_some());
    fs::set_permissions(&paths.key, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(keeper.reload_if_changed().unwrap());
    fs::write(&paths.key, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n").unwrap();
    assert!(!keeper.reload().unwrap_err().to_string().contains("c2VjcmV0"));
    fs::write(&paths.key, "secret words").unwrap();
    assert!(!keeper.reload().unwrap_err().to_string().contains("secret words"));
    fs::write(&paths.certificate, "").unwrap();
    assert!(keeper.reload().unwrap_err().message.ends_with("no certificate in it"));
    fs::remove_file(&paths.certificate).unwrap();
    assert!(keeper.reload_if_changed().unwrap_err().message.ends_with("No such file or directory"));
    assert_eq!(keeper.current().end_point().unwrap(), second);
    let missing = Paths { key: directory.path().to_owned(), ..paths };
    assert!(Keeper::new(missing).is_err());
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

fn authority() -> Authority {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, "authority");
    let key = KeyPair::generate().unwrap();
    let pem = parameters.self_signed(&key).unwrap().pem();
    Authority { issuer: Issuer::new(parameters, key), pem }
}

fn of(authority: &Authority, name: &str, more: &[(DnType, &str)]) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.distinguished_name = DistinguishedName::new();
    for (kind, value) in more {
        parameters.distinguished_name.push(kind.clone(), *value);
    }
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.subject_alt_names =
        vec![SanType::Rfc822Name("anna@example.org".try_into().unwrap()), SanType::DnsName("a.example.org".try_into().unwrap())];
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.signed_by(&key, &authority.issuer).unwrap();
    (vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
}

#[test]
fn certificates_of_clients_are_verified_if_there_are_any() {
    let directory = tempfile::tempdir().unwrap();
    let ours = authority();
    let ca = directory.path().join("ca.crt");
    fs::write(&ca, &ours.pem).unwrap();
    let paths = Paths { authorities: Some(ca.clone()), ..served_in(directory.path()) };
    let served = Served::load(&paths).unwrap();
    assert!(served.has_authorities());
    let root = der(&paths.certificate);
    let (_, server) = handshake(&served, client(&root, &[], Some(of(&ours, "anna", &[])))).unwrap();
    let names = ClientNames::of(&server.peer_certificates().unwrap()[0]).unwrap();
    assert_eq!(names.common_name.as_deref(), Some("anna"));
    assert_eq!(names.issuer, "/CN=authority");
    assert_eq!(names.alternative_names, ["anna@example.org", "a.example.org"]);
    let (_, server) = handshake(&served, client(&root, &[], None)).unwrap();
    assert!(server.peer_certificates().is_none());
    assert!(handshake(&served, client(&root, &[], Some(of(&authority(), "anna", &[])))).is_err());
    fs::write(&ca, "nothing").unwrap();
    assert!(Served::load(&paths).is_err());
}

#[test]
fn distinguished_names_are_written_as_openssl_writes_rfc_2253() {
    let more = [(DnType::CountryName, "DE"), (DnType::OrganizationName, "A, \"B\" + C; <D>\\"), (DnType::OrganizationalUnitName, " #x# ")];
    let (chain, _) = of(&authority(), "#ann\u{e9} ", &more);
    let names = ClientNames::of(&chain[0]).unwrap();
    assert_eq!(names.common_name.as_deref(), Some("#ann\u{e9} "));
    let expected = "CN=\\#ann\\C3\\A9\\ ,OU=\\ #x#\\ ,O=A\\, \\\"B\\\" \\+ C\\; \\<D\\>\\\\,C=DE";
    assert_eq!(names.distinguished_name.as_deref(), Some(expected));
    // OpenSSL, where it is there, says the same.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("c.der");
    fs::write(&file, &chain[0]).unwrap();
    let arguments = ["x509", "-noout", "-subject", "-nameopt", "RFC2253", "-inform", "DER", "-in"];
    if let Ok(done) = std::process::Command::new("openssl").args(arguments).arg(&file).output() {
        let reported = String::from_utf8_lossy(&done.stdout);
        assert_eq!(reported.trim_end_matches('\n'), format!("subject={expected}"));
    }
    let (chain, _) = of(&authority(), "anna", &[(DnType::CustomDnType(vec![1, 2, 3, 4]), "x")]);
    assert_eq!(ClientNames::of(&chain[0]).unwrap().distinguished_name, None);
    let (chain, _) = of(&authority(), "anna\0x", &[]);
    assert!(ClientNames::of(&chain[0]).unwrap_err().message.contains("embedded null"));
}

#[test]
fn the_hash_of_an_end_point_is_that_of_its_signature() {
    let signed = |algorithm: &'static SignatureAlgorithm| {
        let key = KeyPair::generate_for(algorithm).unwrap();
        CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap().der().clone()
    };
    let certificate = signed(&PKCS_ECDSA_P256_SHA256);
    assert_eq!(end_point(&certificate), Some(Sha256::digest(&certificate).to_vec()));
    let certificate = signed(&PKCS_ECDSA_P384_SHA384);
    assert_eq!(end_point(&certificate), Some(Sha384::digest(&certificate).to_vec()));
    assert_eq!(end_point(&signed(&PKCS_ED25519)), None);
}

#[test]
fn broken_certificates_are_refused_and_never_panic() {
    let (chain, _) = of(&authority(), "anna", &[]);
    for at in 0..chain[0].len() {
        let mut bytes = chain[0].to_vec();
        bytes[at] = bytes[at].wrapping_add(0x55);
        let _ = (end_point(&bytes), ClientNames::of(&bytes), end_point(&bytes[..at]), ClientNames::of(&bytes[..at]));
    }
    assert!(ClientNames::of(b"").is_err());
}
