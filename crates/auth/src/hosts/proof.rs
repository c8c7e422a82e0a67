//! The proofs that need no messages: who a user of the system is, and whom a certificate names.
//!
//! The client is told that it failed, the log why: an `Err` has both.

use super::ident::Maps;
use super::rule::{CertificateName, ClientCertificate, Method, Rule};
use crate::tls::ClientNames;
use crate::{Code, Refusal};

/// A refusal for the client, and the sentence for the server's log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub refusal: Refusal,
    pub log: Option<String>,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, log: None }
    }
}

impl Rule {
    /// What is asked before the method: whether there is a certificate at all, if the rule wants one. `authorities` says whether the
    /// server has any by which certificates are verified; `certificate` is the one that TLS has verified.
    ///
    /// # Errors
    /// F0000 without authorities, 28000 without a certificate.
    pub fn check_certificate_is_there(&self, authorities: bool, certificate: Option<&ClientNames>) -> Result<(), Refusal> {
        if self.client_certificate == ClientCertificate::Off {
            return Ok(());
        }
        if !authorities {
            let what = "client certificates can only be checked if a root certificate store is available";
            return Err(Refusal::new(Code::ConfigFile, what));
        }
        if certificate.is_none() {
            return Err(Refusal::new(Code::InvalidAuthorization, "connection requires a valid client certificate"));
        }
        Ok(())
    }

    /// What is asked after the method has let the role in: whether the certificate is the role's, for `cert` and
    /// `clientcert=verify-full`. Others are let through.
    ///
    /// # Errors
    /// What the method says to one that it does not let in, with the reason for the log.
    pub fn check_certificate_names(&self, role: &str, certificate: Option<&ClientNames>, maps: &Maps) -> Result<(), Failure> {
        if self.client_certificate != ClientCertificate::VerifyFull {
            return Ok(());
        }
        let failed = |log: String| Failure { refusal: self.failed(role), log: Some(log) };
        let name = certificate.and_then(|names| match self.certificate_name {
            CertificateName::Cn => names.common_name.as_deref(),
            CertificateName::Dn => names.distinguished_name.as_deref(),
        });
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(failed(format!("certificate authentication failed for user \"{role}\": client certificate contains no user name")));
        };
        maps.permit(self.map.as_deref(), role, name).map_err(|why| {
            failed(match (self.method, self.certificate_name) {
                (Method::Cert, _) => why,
                (_, CertificateName::Cn) => {
                    format!("certificate validation (clientcert=verify-full) failed for user \"{role}\": CN mismatch")
                }
                (_, CertificateName::Dn) => {
                    format!("certificate validation (clientcert=verify-full) failed for user \"{role}\": DN mismatch")
                }
            })
        })
    }

    /// Whether the user of the system at the socket's other end may be the role. Of a rule by `peer` only.
    ///
    /// # Errors
    /// 28000, with the reason for the log; also if the user is not known, or the method is another.
    pub fn check_peer(&self, role: &str, system_user: Option<&str>, maps: &Maps) -> Result<(), Failure> {
        let failed = |log: String| Failure { refusal: self.failed(role), log: Some(log) };
        if self.method != Method::Peer {
            return Err(failed(format!("the rule of line {} does not ask for peer", self.line)));
        }
        let system = system_user.ok_or_else(|| failed("could not look up the user of the system at the other end".to_owned()))?;
        maps.permit(self.map.as_deref(), role, system).map_err(failed)
    }

    /// What the rule's method says to a role whose proof has failed.
    #[must_use]
    pub fn failed(&self, role: &str) -> Refusal {
        let (code, method) = match self.method {
            Method::ScramSha256 | Method::Md5 => return Refusal::wrong_password(role),
            Method::Trust => (Code::InvalidAuthorization, "\"trust\""),
            Method::Peer => (Code::InvalidAuthorization, "Peer"),
            Method::Cert => (Code::InvalidAuthorization, "certificate"),
            Method::Reject => {
                return Refusal::new(Code::InvalidAuthorization, format!("authentication failed for user \"{role}\": host rejected"));
            }
        };
        Refusal::new(code, format!("{method} authentication failed for user \"{role}\""))
    }
}
