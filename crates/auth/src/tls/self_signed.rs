//! A certificate that nobody vouches for: for a start, and for one's own machines.
//!
//! Clients that are given it as their root (`sslrootcert`) verify it in full; others see TLS and trust whom they reach.

use crate::{Code, Refusal, Secret};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A certificate with its key, by ECDSA over P-256 and SHA-256.
#[derive(Debug)]
pub struct SelfSigned {
    /// The certificate, in PEM.
    pub certificate: String,
    /// Its key, in PEM.
    pub key: Secret,
}

impl SelfSigned {
    /// For these names and addresses, of which the first is its common name, from a day ago for so many days.
    ///
    /// # Errors
    /// F0000 if there is no name, or one that a certificate cannot hold; XX000 if the machine has no random numbers.
    pub fn make(names: &[String], now: SystemTime, days: u32) -> Result<Self, Refusal> {
        let Some(first) = names.first() else {
            return Err(Refusal::new(Code::ConfigFile, "a certificate needs a name"));
        };
        let named =
            |e: rcgen::Error| Refusal::new(Code::ConfigFile, format!("cannot make a certificate for \"{}\": {e}", names.join(", ")));
        let internal = |e: rcgen::Error| Refusal::new(Code::Internal, format!("could not make a certificate: {e}"));
        let mut parameters = CertificateParams::new(names.to_vec()).map_err(named)?;
        parameters.distinguished_name = DistinguishedName::new();
        parameters.distinguished_name.push(DnType::CommonName, first.as_str());
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let end = now.checked_add(DAY.saturating_mul(days)).ok_or_else(|| Refusal::new(Code::ConfigFile, "that is too many days"))?;
        parameters.not_before = now.checked_sub(DAY).unwrap_or(now).into();
        parameters.not_after = end.into();
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(internal)?;
        let certificate = parameters.self_signed(&key).map_err(internal)?;
        Ok(Self { certificate: certificate.pem(), key: Secret::new(key.serialize_pem().into_bytes()) })
    }

    /// Writes both files, the key for its owner alone. Files that are there stay as they are.
    ///
    /// # Errors
    /// F0000 if one is there already, or cannot be written.
    pub fn write(&self, certificate: &Path, key: &Path) -> Result<(), Refusal> {
        let write = |path: &Path, mode: u32, bytes: &[u8]| {
            let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
            opened.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all())).map_err(|e| {
                Refusal::new(Code::ConfigFile, format!("could not write file \"{}\": {}", path.display(), crate::hosts::reason(&e)))
            })
        };
        write(key, 0o600, self.key.expose())?;
        write(certificate, 0o644, self.certificate.as_bytes())
    }
}
