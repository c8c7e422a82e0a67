//! One exchange with one client: messages in, messages out, and at the end a proof or a refusal.
//!
//! The order of messages is the state; a message out of order, or after the end, is refused, and an exchange that has failed stays
//! failed. A role without a verifier gets the same messages, by a salt that is the same at each attempt, and the same computation;
//! only the answer is settled before. Nonces are fresh for each exchange, so a message that is played again proves nothing.

use super::attributes::{Attributes, malformed, shown, shown_text};
use super::{DEFAULT_ITERATIONS, Key, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, Verifier, hmac, random, sha256};
use crate::{Code, Refusal, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::fmt;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

/// The longest message that is taken, PostgreSQL's number: whoever reads from the socket need not read more.
pub const MAX_MESSAGE: usize = 1024;
const BINDING: &str = "p=tls-server-end-point,,";

/// What the messages travel through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Channel {
    /// No TLS.
    Plain,
    /// TLS, with the hash of the certificate that this connection was served with
    /// ([`Served::end_point`](crate::tls::Served::end_point)); none if its signature defines none, and then channels are not bound.
    Tls { end_point: Option<Vec<u8>> },
}

/// A secret of the server that salts of roles without a password come from. Keep it over restarts: a salt that changes would tell
/// that the role has none.
#[derive(Clone, Debug)]
pub struct MockSecret(Secret);

impl MockSecret {
    /// A new one.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn generate() -> Result<Self, Refusal> {
        Ok(Self(Secret::new(random::<32>()?.to_vec())))
    }

    /// The one that was kept; at least 32 bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Refusal> {
        let secret = Secret::new(bytes);
        if secret.expose().len() < 32 {
            return Err(Refusal::new(Code::ConfigFile, "the secret of mock authentication is shorter than 32 bytes"));
        }
        Ok(Self(secret))
    }

    /// What is to be kept.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.0.expose()
    }

    fn verifier(&self, role: &str) -> Verifier {
        let salt = Sha256::new().chain_update(role).chain_update(self.0.expose()).finalize();
        let nothing = || Zeroizing::new([0; 32]);
        let salt = salt.iter().take(16).copied().collect();
        Verifier { iterations: DEFAULT_ITERATIONS, salt, stored_key: nothing(), server_key: nothing() }
    }
}

/// What to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// AuthenticationSASLContinue with this; then feed the next message.
    Continue(Vec<u8>),
    /// AuthenticationSASLFinal with this, and the password is proven.
    Proven(Vec<u8>),
}

enum State {
    /// SASLInitialResponse is to come.
    Mechanism,
    /// The client's first message is to come, after an empty challenge.
    First { bound: bool },
    /// The client's last message is to come.
    Final(Box<Challenge>),
    /// Nothing is to come.
    Over,
}

/// What the last message is checked against.
struct Challenge {
    bound: bool,
    flag: u8,
    first_bare: Vec<u8>,
    server_first: String,
    nonce: Vec<u8>,
}

/// An exchange. Feed each `p` message's body to [`receive`](Self::receive).
pub struct Exchange {
    role: String,
    verifier: Verifier,
    doomed: Choice,
    channel: Channel,
    state: State,
    server_nonce: Option<String>,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("role", &self.role).finish_non_exhaustive()
    }
}

impl Exchange {
    /// For a role and what is stored of its password: `None` if the role does not exist, may not log in by password, has none, or one
    /// whose time is over. Then the exchange goes on as usual and fails at its end.
    #[must_use]
    pub fn new(role: &str, verifier: Option<Verifier>, mock: &MockSecret, channel: Channel) -> Self {
        // Computed for all, so that it costs all the same.
        let mocked = mock.verifier(role);
        let doomed = Choice::from(u8::from(verifier.is_none()));
        let verifier = verifier.unwrap_or(mocked);
        Self { role: role.to_owned(), verifier, doomed, channel, state: State::Mechanism, server_nonce: None }
    }

    /// A nonce that a test knows.
    #[cfg(test)]
    pub(super) fn with_nonce(mut self, nonce: &str) -> Self {
        self.server_nonce = Some(nonce.to_owned());
        self
    }

    /// The mechanisms that AuthenticationSASL offers on a channel, the best first.
    #[must_use]
    pub const fn mechanisms(channel: &Channel) -> &'static [&'static str] {
        match channel {
            Channel::Tls { end_point: Some(_) } => &[SCRAM_SHA_256_PLUS, SCRAM_SHA_256],
            Channel::Plain | Channel::Tls { end_point: None } => &[SCRAM_SHA_256],
        }
    }

    /// Takes the body of a `p` message: the first is a SASLInitialResponse, with mechanism and length, the others are the messages.
    ///
    /// # Errors
    /// 28P01 if the proof is wrong, 28000 if the channel is another than the client thinks, 0A000 for parts of SCRAM that PostgreSQL
    /// does not know either, 08P01 for what is no such message, comes twice or too late. The exchange is over then.
    pub fn receive(&mut self, body: &[u8]) -> Result<Reply, Refusal> {
        if body.len() > MAX_MESSAGE {
            self.state = State::Over;
            return Err(Refusal::new(Code::ProtocolViolation, "invalid message length"));
        }
        match std::mem::replace(&mut self.state, State::Over) {
            State::Mechanism => {
                let (mechanism, message) = initial_response(body)?;
                let bound = match mechanism {
                    b"SCRAM-SHA-256-PLUS" if matches!(self.channel, Channel::Tls { end_point: Some(_) }) => true,
                    b"SCRAM-SHA-256" => false,
                    _ => return Err(Refusal::new(Code::ProtocolViolation, "client selected an invalid SASL authentication mechanism")),
                };
                match message {
                    Some(message) => self.first(message, bound),
                    None => {
                        self.state = State::First { bound };
                        Ok(Reply::Continue(Vec::new()))
                    }
                }
            }
            State::First { bound } => self.first(body, bound),
            State::Final(challenge) => self.last(body, &challenge),
            State::Over => Err(Refusal::new(Code::ProtocolViolation, "unexpected SASL response: the exchange is over")),
        }
    }

    fn first(&mut self, message: &[u8], bound: bool) -> Result<Reply, Refusal> {
        check_text(message)?;
        let mut attributes = Attributes::new(message);
        let flag = attributes.peek().unwrap_or(0);
        match flag {
            b'n' | b'y' if bound => {
                return Err(malformed(
                    "The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data.",
                ));
            }
            b'y' if matches!(self.channel, Channel::Tls { end_point: Some(_) }) => {
                let refusal = Refusal::new(Code::InvalidAuthorization, "SCRAM channel binding negotiation error");
                return Err(refusal.detail(
                    "The client supports SCRAM channel binding but thinks the server does not.  \
                     However, this server does support channel binding.",
                ));
            }
            b'n' | b'y' => {
                attributes.skip();
                attributes.comma()?;
            }
            b'p' if !bound => {
                return Err(malformed(
                    "The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel binding data.",
                ));
            }
            b'p' => {
                let kind = attributes.value(b'p')?;
                if kind != b"tls-server-end-point" {
                    let what = format!("unsupported SCRAM channel-binding type \"{}\"", shown_text(kind));
                    return Err(Refusal::new(Code::ProtocolViolation, what));
                }
            }
            _ => return Err(malformed(format!("Unexpected channel-binding flag \"{}\".", shown(attributes.peek())))),
        }
        match attributes.peek() {
            Some(b',') => attributes.skip(),
            Some(b'a') => return Err(Refusal::new(Code::Unsupported, "client uses authorization identity, but it is not supported")),
            found => return Err(malformed(format!("Unexpected attribute \"{}\" in client-first-message.", shown(found)))),
        }
        let first_bare = attributes.rest().to_vec();
        if attributes.peek() == Some(b'm') {
            return Err(Refusal::new(Code::Unsupported, "client requires an unsupported SCRAM extension"));
        }
        // The role is that of the startup message: the name here is not looked at.
        attributes.value(b'n')?;
        let client_nonce = attributes.value(b'r')?;
        if !client_nonce.iter().all(|b| (0x21..=0x7e).contains(b)) {
            return Err(Refusal::new(Code::ProtocolViolation, "non-printable characters in SCRAM nonce"));
        }
        while !attributes.rest().is_empty() {
            attributes.any()?;
        }
        let server_nonce = match self.server_nonce.take() {
            Some(nonce) => nonce,
            None => STANDARD.encode(random::<18>()?),
        };
        let nonce = [client_nonce, server_nonce.as_bytes()].concat();
        let salt = STANDARD.encode(&self.verifier.salt);
        let server_first = format!("r={},s={salt},i={}", String::from_utf8_lossy(&nonce), self.verifier.iterations);
        self.state = State::Final(Box::new(Challenge { bound, flag, first_bare, server_first: server_first.clone(), nonce }));
        Ok(Reply::Continue(server_first.into_bytes()))
    }

    fn last(&self, message: &[u8], challenge: &Challenge) -> Result<Reply, Refusal> {
        check_text(message)?;
        let mut attributes = Attributes::new(message);
        let binding = attributes.value(b'c')?;
        match &self.channel {
            Channel::Tls { end_point: Some(hash) } if challenge.bound => {
                let expected = STANDARD.encode([BINDING.as_bytes(), hash].concat());
                if !bool::from(binding.ct_eq(expected.as_bytes())) {
                    return Err(Refusal::new(Code::InvalidAuthorization, "SCRAM channel binding check failed"));
                }
            }
            // "n,," and "y,,", and the one that was said at first.
            _ if matches!((binding, challenge.flag), (b"biws", b'n') | (b"eSws", b'y')) => {}
            _ => {
                let what = "unexpected SCRAM channel-binding attribute in client-final-message";
                return Err(Refusal::new(Code::ProtocolViolation, what));
            }
        }
        let nonce = attributes.value(b'r')?;
        let (unproven, proof) = loop {
            let unproven = message.len().saturating_sub(attributes.rest().len() + 1);
            let (name, value) = attributes.any()?;
            if name == b'p' {
                break (message.get(..unproven).unwrap_or_default(), value);
            }
        };
        let proof = Zeroizing::new(STANDARD.decode(proof).unwrap_or_default());
        let Ok(proof) = <[u8; 32]>::try_from(&proof[..]).map(Zeroizing::new) else {
            return Err(malformed("Malformed proof in client-final-message."));
        };
        // A comma at the end is no more than PostgreSQL takes.
        if !attributes.rest().is_empty() {
            return Err(malformed("Garbage found at the end of client-final-message."));
        }
        if !bool::from(nonce.ct_eq(&challenge.nonce)) {
            let refusal = Refusal::new(Code::ProtocolViolation, "invalid SCRAM response");
            return Err(refusal.detail("Nonce does not match."));
        }
        let parts: [&[u8]; 5] = [&challenge.first_bare, b",", challenge.server_first.as_bytes(), b",", unproven];
        let signature = hmac(&*self.verifier.stored_key, &parts);
        let mut client_key: Key = proof;
        for (byte, mask) in client_key.iter_mut().zip(signature.iter()) {
            *byte ^= mask;
        }
        let right = sha256(&*client_key).ct_eq(&*self.verifier.stored_key) & !self.doomed;
        let answer = hmac(&*self.verifier.server_key, &parts);
        if !bool::from(right) {
            return Err(Refusal::wrong_password(&self.role));
        }
        Ok(Reply::Proven(format!("v={}", STANDARD.encode(*answer)).into_bytes()))
    }
}

/// What PostgreSQL asks of every message before it looks inside.
fn check_text(message: &[u8]) -> Result<(), Refusal> {
    if message.is_empty() {
        return Err(malformed("The message is empty."));
    }
    if message.contains(&0) {
        return Err(malformed("Message length does not match input length."));
    }
    Ok(())
}

/// The mechanism, and the message if there is one: a name that ends with NUL, four bytes of length, and as many bytes.
fn initial_response(body: &[u8]) -> Result<(&[u8], Option<&[u8]>), Refusal> {
    let violation = |what: &str| Refusal::new(Code::ProtocolViolation, what);
    let end = body.iter().position(|&b| b == 0).ok_or_else(|| violation("invalid string in message"))?;
    let (mechanism, rest) = body.split_at(end);
    let (length, rest) =
        rest.get(1..).and_then(<[u8]>::split_first_chunk::<4>).ok_or_else(|| violation("insufficient data left in message"))?;
    let length = i32::from_be_bytes(*length);
    if length == -1 && rest.is_empty() {
        return Ok((mechanism, None));
    }
    if length == -1 {
        return Err(violation("invalid message format"));
    }
    match usize::try_from(length).ok().map(|length| length.cmp(&rest.len())) {
        Some(std::cmp::Ordering::Equal) => Ok((mechanism, Some(rest))),
        Some(std::cmp::Ordering::Less) => Err(violation("invalid message format")),
        Some(std::cmp::Ordering::Greater) | None => Err(violation("insufficient data left in message")),
    }
}
