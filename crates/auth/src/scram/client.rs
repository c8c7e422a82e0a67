//! A client of SCRAM for tests, which can be told to do each step wrongly.
#![allow(clippy::unwrap_used)]

use super::verifier::salted_password;
use super::{hmac, sha256};
use crate::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub(super) struct Client {
    pub(super) password: Secret,
    pub(super) nonce: String,
    /// `n,,`, `y,,` or `p=tls-server-end-point,,`.
    pub(super) header: String,
    pub(super) end_point: Vec<u8>,
}

impl Client {
    pub(super) fn new(password: &str) -> Self {
        Self { password: password.into(), nonce: "rOprNGfwEbeRWgbNEkqO".into(), header: "n,,".into(), end_point: Vec::new() }
    }

    pub(super) fn bound(password: &str, end_point: &[u8]) -> Self {
        Self { header: "p=tls-server-end-point,,".into(), end_point: end_point.to_vec(), ..Self::new(password) }
    }

    pub(super) fn bare(&self) -> String {
        format!("n=,r={}", self.nonce)
    }

    pub(super) fn first(&self) -> Vec<u8> {
        format!("{}{}", self.header, self.bare()).into_bytes()
    }

    /// The body of SASLInitialResponse.
    pub(super) fn initial(&self, mechanism: &str) -> Vec<u8> {
        initial(mechanism, Some(&self.first()))
    }

    /// The last message, and the answer that the server has to give.
    pub(super) fn last(&self, server_first: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let server_first = std::str::from_utf8(server_first).unwrap();
        let mut parts = server_first.split(',');
        let nonce = parts.next().unwrap().strip_prefix("r=").unwrap();
        let salt = STANDARD.decode(parts.next().unwrap().strip_prefix("s=").unwrap()).unwrap();
        let iterations = parts.next().unwrap().strip_prefix("i=").unwrap().parse().unwrap();
        let salted = salted_password(&self.password, &salt, iterations);
        let client_key = hmac(&*salted, &[b"Client Key"]);
        let binding = STANDARD.encode([self.header.as_bytes(), &self.end_point].concat());
        let unproven = format!("c={binding},r={nonce}");
        let text = format!("{},{server_first},{unproven}", self.bare());
        let signature = hmac(&*sha256(&*client_key), &[text.as_bytes()]);
        let proof: Vec<u8> = client_key.iter().zip(signature.iter()).map(|(a, b)| a ^ b).collect();
        let answer = hmac(&*hmac(&*salted, &[b"Server Key"]), &[text.as_bytes()]);
        let last = format!("{unproven},p={}", STANDARD.encode(proof));
        (last.into_bytes(), format!("v={}", STANDARD.encode(*answer)).into_bytes())
    }
}

pub(super) fn initial(mechanism: &str, message: Option<&[u8]>) -> Vec<u8> {
    let mut body = mechanism.as_bytes().to_vec();
    body.push(0);
    body.extend(message.map_or(-1, |m| i32::try_from(m.len()).unwrap()).to_be_bytes());
    body.extend(message.unwrap_or_default());
    body
}
