//! Which files can be served: a chain, its key, and authorities.
//!
//! A key that others could read is refused, by PostgreSQL's rule: it belongs to the server's user and is his alone, or to root, and then
//! his group may read it. What is refused is refused as a whole, so nothing is ever served by half of new files.

use super::{ALPN, end_point};
use crate::{Code, Refusal};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::Zeroizing;

/// More is no certificate, and no key.
const MAX_FILE: u64 = 16 << 20;

/// Where the files are: `ssl_cert_file`, `ssl_key_file`, `ssl_ca_file`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Paths {
    /// The server's certificate, and those between it and its authority, in PEM.
    pub certificate: PathBuf,
    /// Its key, in PEM, without a passphrase.
    pub key: PathBuf,
    /// The authorities that the certificates of clients are verified by. Without, no client is asked for one.
    pub authorities: Option<PathBuf>,
}

/// What a connection is served with. Keep it with the connection: its hash is that of the certificate the client saw.
#[derive(Clone)]
pub struct Served {
    config: Arc<ServerConfig>,
    end_point: Option<Vec<u8>>,
    authorities: bool,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("authorities", &self.authorities).finish_non_exhaustive()
    }
}

impl Served {
    /// For rustls: TLS 1.2 and 1.3, ALPN `postgresql`, no resumption, as PostgreSQL has none. A client that shows a certificate must show
    /// one that the authorities signed; one that shows none is let on, and its rule decides.
    #[must_use]
    pub const fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// What SCRAM binds to, if the certificate has it.
    #[must_use]
    pub fn end_point(&self) -> Option<&[u8]> {
        self.end_point.as_deref()
    }

    /// Whether certificates of clients are verified.
    #[must_use]
    pub const fn has_authorities(&self) -> bool {
        self.authorities
    }

    /// Reads the files.
    ///
    /// # Errors
    /// F0000 with the file's name: if one cannot be read, holds nothing of its kind, the key is others' to read, or is not the
    /// certificate's.
    pub fn load(paths: &Paths) -> Result<Self, Refusal> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chain = certificates(&paths.certificate, "server certificate")?;
        let end_point = chain.first().and_then(|certificate| end_point(certificate));
        let key = key(&paths.key)?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(|e| Refusal::new(Code::Internal, format!("could not set up TLS: {e}")))?;
        let builder = match &paths.authorities {
            Some(path) => builder.with_client_cert_verifier(verifier(path, provider)?),
            None => builder.with_no_client_auth(),
        };
        let made = builder.with_single_cert(chain, key).map_err(|e| match e {
            rustls::Error::InconsistentKeys(_) => {
                let what = format!("private key file \"{}\" is not the key of \"{}\"", paths.key.display(), paths.certificate.display());
                Refusal::new(Code::ConfigFile, what)
            }
            e => broken(&paths.certificate, "server certificate", &e),
        });
        let mut config = made?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { config: Arc::new(config), end_point, authorities: paths.authorities.is_some() })
    }
}

fn broken(path: &Path, what: &str, why: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(Code::ConfigFile, format!("could not load {what} file \"{}\": {why}", path.display()))
}

fn read(file: File) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let length = file.metadata()?.len().min(MAX_FILE);
    // Room for all of it at once, so that no copy stays behind where it grew.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1));
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn certificates(path: &Path, what: &str) -> Result<Vec<CertificateDer<'static>>, Refusal> {
    let bytes = File::open(path).and_then(read).map_err(|e| broken(path, what, &crate::hosts::reason(&e)))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|_| broken(path, what, &"no valid PEM"))?;
    if found.is_empty() {
        return Err(broken(path, what, &"no certificate in it"));
    }
    Ok(found)
}

fn verifier(path: &Path, provider: Arc<CryptoProvider>) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>, Refusal> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(path, "root certificate")? {
        roots.add(authority).map_err(|e| broken(path, "root certificate", &e))?;
    }
    let made = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).allow_unauthenticated().build();
    made.map_err(|e| broken(path, "root certificate", &e))
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, Refusal> {
    let access = |e: &std::io::Error| {
        let what = format!("could not access private key file \"{}\": {}", path.display(), crate::hosts::reason(e));
        Refusal::new(Code::ConfigFile, what)
    };
    // Looked at before it is opened: to open a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(|e| access(&e))?.is_file() {
        return Err(Refusal::new(Code::ConfigFile, format!("private key file \"{}\" is not a regular file", path.display())));
    }
    let file = File::open(path).map_err(|e| access(&e))?;
    let metadata = file.metadata().map_err(|e| access(&e))?;
    // SAFETY: it only tells who runs this process, and cannot fail.
    let own = unsafe { libc::geteuid() };
    check_key_access(path, metadata.uid(), metadata.mode(), own)?;
    let bytes = read(file).map_err(|e| access(&e))?;
    // Why it is no key would quote it.
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| broken(path, "private key", &"no key in PEM without a passphrase in it"))
}

/// PostgreSQL's rule about who may read a key.
fn check_key_access(path: &Path, owner: u32, mode: u32, own: u32) -> Result<(), Refusal> {
    if owner != own && owner != 0 {
        let what = format!("private key file \"{}\" must be owned by the database user or root", path.display());
        return Err(Refusal::new(Code::ConfigFile, what));
    }
    if (owner == own && mode & 0o077 != 0) || (owner == 0 && mode & 0o037 != 0) {
        let refusal = Refusal::new(Code::ConfigFile, format!("private key file \"{}\" has group or world access", path.display()));
        return Err(refusal.detail(
            "File must have permissions u=rw (0600) or less if owned by the database user, or permissions u=rw,g=r (0640) or less if \
             owned by root.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_key_access;
    use std::path::Path;

    #[test]
    fn a_key_is_for_its_owner_alone() {
        for (owner, mode, own, fine) in [
            (1000, 0o600, 1000, true),
            (1000, 0o400, 1000, true),
            (1000, 0o640, 1000, false),
            (1000, 0o604, 1000, false),
            (0, 0o640, 1000, true),
            (0, 0o600, 1000, true),
            (0, 0o660, 1000, false),
            (0, 0o644, 1000, false),
            (0, 0o640, 0, false),
            (1001, 0o600, 1000, false),
        ] {
            let mode = mode | 0o100_000;
            assert_eq!(check_key_access(Path::new("key"), owner, mode, own).is_ok(), fine, "{owner} {mode:o} {own}");
        }
    }
}
