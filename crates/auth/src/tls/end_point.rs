//! The hash that SCRAM binds to a channel: RFC 5929's tls-server-end-point.
//!
//! It is that of the certificate, by the hash of its signature's algorithm, and by SHA-256 where that is MD5 or SHA-1. Where the algorithm has
//! no hash of its own (Ed25519) or one that the RFC does not settle, there is none, and channels are not bound.

use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::signature_algorithm::SignatureAlgorithm;

/// The hash of a certificate in DER, or none.
#[must_use]
pub fn end_point(der: &[u8]) -> Option<Vec<u8>> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let algorithm = certificate.signature_algorithm.algorithm.to_id_string();
    // RSASSA-PSS names its hash among its parameters.
    let hash = if algorithm == "1.2.840.113549.1.1.10" {
        match SignatureAlgorithm::try_from(&certificate.signature_algorithm).ok()? {
            SignatureAlgorithm::RSASSA_PSS(parameters) => parameters.hash_algorithm_oid().to_id_string(),
            _ => return None,
        }
    } else {
        algorithm
    };
    Some(match hash.as_str() {
        // MD5 and SHA-1: of RSA, ECDSA and DSA, and the hashes themselves.
        "1.2.840.113549.1.1.4" | "1.2.840.113549.1.1.5" | "1.2.840.10045.4.1" | "1.2.840.10040.4.3" | "1.2.840.113549.2.5" | "1.3.14.3.2.26"
        // SHA-256.
        | "1.2.840.113549.1.1.11" | "1.2.840.10045.4.3.2" | "2.16.840.1.101.3.4.3.2" | "2.16.840.1.101.3.4.2.1" => Sha256::digest(der).to_vec(),
        "1.2.840.113549.1.1.14" | "1.2.840.10045.4.3.1" | "2.16.840.1.101.3.4.3.1" | "2.16.840.1.101.3.4.2.4" => Sha224::digest(der).to_vec(),
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" | "2.16.840.1.101.3.4.2.2" => Sha384::digest(der).to_vec(),
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" | "2.16.840.1.101.3.4.2.3" => Sha512::digest(der).to_vec(),
        _ => return None,
    })
}
