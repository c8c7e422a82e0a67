//! Exchanges as clients lead them, rightly and wrongly, and PostgreSQL's own verifiers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::client::{Client, initial};
use super::{Channel, Exchange, MAX_MESSAGE, MockSecret, PasswordText, Reply, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, Verifier};
use crate::{Refusal, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rand::{Rng, SeedableRng};

/// RFC 7677's example.
const OF_RFC: &str =
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

fn mock() -> MockSecret {
    MockSecret::from_bytes(vec![7; 32]).unwrap()
}

fn few(password: &str) -> Verifier {
    Verifier::with_salt(&password.into(), 3, b"salt of sixteen.").unwrap()
}

fn tls() -> Channel {
    Channel::Tls { end_point: Some(vec![9; 32]) }
}

fn exchange(channel: Channel) -> Exchange {
    Exchange::new("anna", Some(few("pencil")), &mock(), channel)
}

fn sent(reply: Result<Reply, Refusal>) -> Vec<u8> {
    match reply.unwrap() {
        Reply::Continue(message) => message,
        Reply::Proven(_) => unreachable!("proven too soon"),
    }
}

fn run(exchange: &mut Exchange, client: &Client, mechanism: &str) -> Result<(), Refusal> {
    let first = match exchange.receive(&client.initial(mechanism))? {
        Reply::Continue(message) => message,
        Reply::Proven(_) => unreachable!("proven too soon"),
    };
    let (last, answer) = client.last(&first);
    assert_eq!(exchange.receive(&last)?, Reply::Proven(answer));
    Ok(())
}

fn reported(result: Result<impl std::fmt::Debug, Refusal>) -> String {
    let refusal = result.unwrap_err();
    format!("{} {}", refusal.code.sqlstate(), refusal.detail.unwrap_or(refusal.message))
}

#[test]
fn the_rfcs_example_is_proven() {
    let verifier: Verifier = OF_RFC.parse().unwrap();
    assert_eq!(verifier.to_text(), OF_RFC);
    assert!(verifier.is_of(&"pencil".into()) && !verifier.is_of(&"pencils".into()));
    let mut exchange = Exchange::new("user", Some(verifier), &mock(), Channel::Plain).with_nonce("%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
    let first = sent(exchange.receive(&initial(SCRAM_SHA_256, Some(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"))));
    assert_eq!(first, b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    let last = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    let answer = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".to_vec();
    assert_eq!(exchange.receive(last).unwrap(), Reply::Proven(answer));
}

#[test]
fn passwords_make_the_verifiers_that_postgresql_makes() {
    let mut asked = 0;
    for line in include_str!("cases/passwords.tsv").lines().filter(|line| !line.starts_with('#')) {
        let (hex, text) = line.split_once('\t').unwrap();
        let bytes = (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap()).collect();
        let verifier: Verifier = text.parse().unwrap();
        let made = Verifier::with_salt(&Secret::new(bytes), verifier.iterations, &verifier.salt).unwrap();
        assert_eq!(made.to_text(), text, "password {hex}");
        asked += 1;
    }
    assert!(asked > 300);
}

#[test]
fn a_password_that_is_no_utf8_is_taken_as_it_is() {
    let verifier = Verifier::make(&Secret::new(vec![0xff, b'a', 0xad]), 2).unwrap();
    assert!(verifier.is_of(&Secret::new(vec![0xff, b'a', 0xad])));
    assert!(!verifier.is_of(&Secret::new(vec![0xff, b'a'])));
    assert!(Verifier::make(&"a".into(), 0).is_err());
}

#[test]
fn verifiers_are_read_strictly() {
    let [key, salt] = ["WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=", "W22ZaJ0SNY7soEsUEjb6gQ=="];
    for broken in [
        String::new(),
        "SCRAM-SHA-256".to_owned(),
        format!("scram-sha-256$4096:{salt}${key}:{key}"),
        format!("SCRAM-SHA-256$4096:{salt}${key}"),
        format!("SCRAM-SHA-256$4096:{salt}${key}:"),
        format!("SCRAM-SHA-256$4096:{salt}${key}:{key}:"),
        format!("SCRAM-SHA-256$4096:{salt}${key}:{key} "),
        format!("SCRAM-SHA-256$0:{salt}${key}:{key}"),
        format!("SCRAM-SHA-256$-1:{salt}${key}:{key}"),
        format!("SCRAM-SHA-256$+1:{salt}${key}:{key}"),
        format!("SCRAM-SHA-256$2147483648:{salt}${key}:{key}"),
        format!("SCRAM-SHA-256$4096:${key}:{key}"),
        format!("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ${key}:{key}"),
        format!("SCRAM-SHA-256$4096:{salt}$AAAA:{key}"),
        format!("SCRAM-SHA-256$4096:{salt}${}:{key}", &key[1..]),
    ] {
        assert!(broken.parse::<Verifier>().is_err(), "{broken}");
        assert!(matches!(PasswordText::of(&broken), PasswordText::Plain));
    }
    assert!(matches!(PasswordText::of(OF_RFC), PasswordText::Scram(_)));
    assert!(matches!(PasswordText::of("md5a3556571e93b0d20722ba62be61e8c2d"), PasswordText::Md5));
    assert!(matches!(PasswordText::of("md5A3556571e93b0d20722ba62be61e8c2d"), PasswordText::Plain));
}

#[test]
fn right_passwords_prove_on_every_channel() {
    for (channel, client, mechanism) in [
        (Channel::Plain, Client::new("pencil"), SCRAM_SHA_256),
        (Channel::Plain, Client { header: "y,,".into(), ..Client::new("pencil") }, SCRAM_SHA_256),
        (tls(), Client::new("pencil"), SCRAM_SHA_256),
        (tls(), Client::bound("pencil", &[9; 32]), SCRAM_SHA_256_PLUS),
        (Channel::Tls { end_point: None }, Client { header: "y,,".into(), ..Client::new("pencil") }, SCRAM_SHA_256),
    ] {
        run(&mut exchange(channel), &client, mechanism).unwrap();
    }
    assert_eq!(Exchange::mechanisms(&tls()), [SCRAM_SHA_256_PLUS, SCRAM_SHA_256]);
    assert_eq!(Exchange::mechanisms(&Channel::Plain), [SCRAM_SHA_256]);
    assert_eq!(Exchange::mechanisms(&Channel::Tls { end_point: None }), [SCRAM_SHA_256]);
}

#[test]
fn an_empty_first_answer_is_asked_for_again() {
    let client = Client::new("pencil");
    let mut exchange = exchange(Channel::Plain);
    assert_eq!(sent(exchange.receive(&initial(SCRAM_SHA_256, None))), b"");
    let first = sent(exchange.receive(&client.first()));
    assert!(matches!(exchange.receive(&client.last(&first).0), Ok(Reply::Proven(_))));
}

#[test]
fn wrong_passwords_and_roles_that_do_not_exist_are_reported_the_same() {
    let wrong = reported(run(&mut exchange(Channel::Plain), &Client::new("pen"), SCRAM_SHA_256));
    assert_eq!(wrong, "28P01 password authentication failed for user \"anna\"");
    let nobody = || Exchange::new("anna", None, &mock(), Channel::Plain);
    assert_eq!(reported(run(&mut nobody(), &Client::new("pencil"), SCRAM_SHA_256)), wrong);
    // The same salt each time, another for another role, and another server has others.
    let salt = |mut exchange: Exchange| {
        let first = String::from_utf8(sent(exchange.receive(&Client::new("x").initial(SCRAM_SHA_256)))).unwrap();
        assert!(first.ends_with(",i=4096"));
        first.split(',').nth(1).unwrap().to_owned()
    };
    assert_eq!(salt(nobody()), salt(nobody()));
    assert_ne!(salt(nobody()), salt(Exchange::new("bob", None, &mock(), Channel::Plain)));
    let other = MockSecret::generate().unwrap();
    assert_ne!(salt(nobody()), salt(Exchange::new("anna", None, &other, Channel::Plain)));
    assert_eq!(salt(nobody()).len(), "s=W22ZaJ0SNY7soEsUEjb6gQ==".len());
}

/// Even who knows what a mock exchange is checked against, zeros, proves nothing.
#[test]
fn a_mock_exchange_cannot_be_won() {
    let mut exchange = Exchange::new("nobody", None, &mock(), Channel::Plain);
    let client = Client::new("x");
    let first = sent(exchange.receive(&client.initial(SCRAM_SHA_256)));
    let nonce = std::str::from_utf8(&first).unwrap().split(',').next().unwrap().to_owned();
    let unproven = format!("c=biws,{nonce}");
    let text = [client.bare().as_bytes(), b",", &first, b",", unproven.as_bytes()].concat();
    let signature = super::hmac(&[0; 32], &[&text]);
    let last = format!("{unproven},p={}", STANDARD.encode(*signature));
    assert!(reported(exchange.receive(last.as_bytes())).starts_with("28P01"));
}

#[test]
fn downgrades_and_stripped_bindings_are_detected() {
    let plus = SCRAM_SHA_256_PLUS;
    for (channel, client, mechanism, expected) in [
        // The client was made to believe that the server does not bind.
        (
            tls(),
            Client { header: "y,,".into(), ..Client::new("pencil") },
            SCRAM_SHA_256,
            "28000 The client supports SCRAM channel binding but",
        ),
        // Another certificate than the one that was served: somebody sits between.
        (tls(), Client::bound("pencil", &[8; 32]), plus, "28000 SCRAM channel binding check failed"),
        (tls(), Client::bound("pencil", &[]), plus, "28000 SCRAM channel binding check failed"),
        // Mechanism and message contradict each other.
        (tls(), Client::new("pencil"), plus, "08P01 The client selected SCRAM-SHA-256-PLUS, but"),
        (tls(), Client { header: "y,,".into(), ..Client::new("pencil") }, plus, "08P01 The client selected SCRAM-SHA-256-PLUS, but"),
        (tls(), Client::bound("pencil", &[9; 32]), SCRAM_SHA_256, "08P01 The client selected SCRAM-SHA-256 without channel binding, but"),
        // There is nothing to bind to.
        (Channel::Plain, Client::bound("pencil", &[9; 32]), plus, "08P01 client selected an invalid SASL authentication mechanism"),
        (Channel::Tls { end_point: None }, Client::bound("pencil", &[9; 32]), plus, "08P01 client selected an invalid SASL"),
        (
            tls(),
            Client { header: "p=tls-unique,,".into(), ..Client::new("pencil") },
            plus,
            "08P01 unsupported SCRAM channel-binding type \"tls-unique\"",
        ),
    ] {
        let result = reported(run(&mut exchange(channel), &client, mechanism));
        assert!(result.starts_with(expected), "{result}, not {expected}");
    }
}

#[test]
fn a_header_that_changes_between_messages_is_refused() {
    for (first, then) in [("n,,", "y,,"), ("y,,", "n,,"), ("n,,", "p=tls-server-end-point,,")] {
        let mut client = Client { header: first.into(), ..Client::new("pencil") };
        let mut exchange = exchange(Channel::Plain);
        let answer = sent(exchange.receive(&client.initial(SCRAM_SHA_256)));
        client.header = then.into();
        let result = reported(exchange.receive(&client.last(&answer).0));
        assert_eq!(result, "08P01 unexpected SCRAM channel-binding attribute in client-final-message");
    }
}

#[test]
fn malformed_first_messages_are_refused_as_postgresql_does() {
    for (message, expected) in [
        ("", "08P01 The message is empty."),
        ("n,,n=,r=a\0b", "08P01 Message length does not match input length."),
        ("x,,n=,r=a", "08P01 Unexpected channel-binding flag \"'x'\"."),
        ("\u{7f}", "08P01 Unexpected channel-binding flag \"0x7f\"."),
        ("n", "08P01 Comma expected, but found character \"0x00\"."),
        ("nx", "08P01 Comma expected, but found character \"'x'\"."),
        ("n,a=admin,n=,r=a", "0A000 client uses authorization identity, but it is not supported"),
        ("n,x,n=,r=a", "08P01 Unexpected attribute \"'x'\" in client-first-message."),
        ("n,,m=ext,n=,r=a", "0A000 client requires an unsupported SCRAM extension"),
        ("n,,r=a", "08P01 Expected attribute \"n\" but found \"'r'\"."),
        ("n,,n", "08P01 Expected character \"=\" for attribute \"n\"."),
        ("n,,n=a", "08P01 Expected attribute \"r\" but found \"0x00\"."),
        ("n,,n=a,r=a b", "08P01 non-printable characters in SCRAM nonce"),
        ("n,,n=a,r=\u{e9}", "08P01 non-printable characters in SCRAM nonce"),
        ("n,,n=a,r=a,1=b", "08P01 Attribute expected, but found invalid character \"'1'\"."),
        ("n,,n=a,r=a,b", "08P01 Expected character \"=\" for attribute \"b\"."),
    ] {
        assert_eq!(reported(exchange(Channel::Plain).receive(&initial(SCRAM_SHA_256, Some(message.as_bytes())))), expected, "{message:?}");
    }
    assert!(exchange(Channel::Plain).receive(&initial(SCRAM_SHA_256, Some(b"n,,n=a,r=a,x=ignored"))).is_ok());
}

#[test]
fn malformed_initial_responses_are_refused() {
    for (body, expected) in [
        (b"".to_vec(), "08P01 invalid string in message"),
        (b"SCRAM-SHA-256".to_vec(), "08P01 invalid string in message"),
        (b"SCRAM-SHA-256\0\0\0".to_vec(), "08P01 insufficient data left in message"),
        (b"SCRAM-SHA-256\0\0\0\0\x09abc".to_vec(), "08P01 insufficient data left in message"),
        (b"SCRAM-SHA-256\0\0\0\0\x02abc".to_vec(), "08P01 invalid message format"),
        (b"SCRAM-SHA-256\0\xff\xff\xff\xffabc".to_vec(), "08P01 invalid message format"),
        (b"SCRAM-SHA-256\0\xff\xff\xff\xfe".to_vec(), "08P01 insufficient data left in message"),
        (b"SCRAM-SHA-256\0\0\0\0\0".to_vec(), "08P01 The message is empty."),
        (initial("SCRAM-SHA-1", Some(b"n,,n=,r=a")), "08P01 client selected an invalid SASL authentication mechanism"),
        (initial("", Some(b"n,,n=,r=a")), "08P01 client selected an invalid SASL authentication mechanism"),
        (vec![b'a'; MAX_MESSAGE + 1], "08P01 invalid message length"),
    ] {
        assert_eq!(reported(exchange(Channel::Plain).receive(&body)), expected, "{body:?}");
    }
}

#[test]
fn malformed_last_messages_are_refused_and_none_of_a_cut_one_proves() {
    let client = Client::new("pencil");
    let begun = || {
        let mut exchange = exchange(Channel::Plain);
        let first = sent(exchange.receive(&client.initial(SCRAM_SHA_256)));
        let last = String::from_utf8(client.last(&first).0).unwrap();
        (exchange, last)
    };
    let length = begun().1.len();
    for cut in 0..length {
        let (mut exchange, last) = begun();
        assert!(exchange.receive(&last.as_bytes()[..cut]).is_err(), "{cut} of {length}");
        assert!(reported(exchange.receive(last.as_bytes())).starts_with("08P01"), "a second try");
    }
    for at in 0..length {
        let (mut exchange, last) = begun();
        let mut bytes = last.into_bytes();
        bytes[at] ^= 1;
        assert!(exchange.receive(&bytes).is_err(), "{at}");
    }
    for (change, expected) in [
        (&(|last: &str| last.replace("p=", "p=AAAA")) as &dyn Fn(&str) -> String, "08P01 Malformed proof in client-final-message."),
        (&|last: &str| format!("{last},x=y"), "08P01 Garbage found at the end of client-final-message."),
        (&|last: &str| last.replace(",r=r", ",r=x"), "08P01 Nonce does not match."),
        (&|last: &str| last.replace(",p=", "x,p="), "08P01 Nonce does not match."),
        (&|last: &str| last.replace(",p=", ",x=y,p="), "28P01 password authentication failed for user \"anna\""),
        (&|last: &str| last.split(",p=").next().unwrap().to_owned(), "08P01 Attribute expected, but found end of string."),
        (&|last: &str| last.replace("c=biws", "c=eSws"), "08P01 unexpected SCRAM channel-binding attribute in client-final-message"),
        (&|last: &str| last.replace("c=biws,", ""), "08P01 Expected attribute \"c\" but found \"'r'\"."),
    ] {
        let (mut exchange, last) = begun();
        assert_eq!(reported(exchange.receive(change(&last).as_bytes())), expected);
    }
}

#[test]
fn messages_that_are_played_again_or_out_of_order_prove_nothing() {
    let client = Client::new("pencil");
    let mut one = exchange(Channel::Plain);
    let first = sent(one.receive(&client.initial(SCRAM_SHA_256)));
    let (last, _) = client.last(&first);
    assert!(one.receive(&last).is_ok());
    assert!(reported(one.receive(&last)).starts_with("08P01"), "again, after the end");
    // In another exchange the nonce is another.
    let mut two = exchange(Channel::Plain);
    sent(two.receive(&client.initial(SCRAM_SHA_256)));
    assert_eq!(reported(two.receive(&last)), "08P01 Nonce does not match.");
    let mut three = exchange(Channel::Plain);
    assert!(reported(three.receive(&last)).starts_with("08P01"), "the last first");
    let mut four = exchange(Channel::Plain);
    sent(four.receive(&client.initial(SCRAM_SHA_256)));
    assert!(reported(four.receive(&client.initial(SCRAM_SHA_256))).starts_with("08P01"), "the first twice");
}

#[test]
fn random_messages_are_refused_and_never_panic() {
    let mut random = rand::rngs::StdRng::seed_from_u64(7);
    let alphabet = b"n=,y,p=tls-server-end-point,r=abiws\0c=\xff1";
    for _ in 0..20_000 {
        let mut exchange = exchange(if random.random() { Channel::Plain } else { tls() });
        for step in 0..3 {
            let length = random.random_range(0..60);
            let noise: Vec<u8> = (0..length).map(|_| alphabet[random.random_range(0..alphabet.len())]).collect();
            let body = match (step, random.random_range(0..3)) {
                (0, 0) => noise,
                (0, 1) => initial(SCRAM_SHA_256, Some(&noise)),
                (0, _) => initial(SCRAM_SHA_256_PLUS, Some(&noise)),
                (_, 0) => [&b"c=biws,r=a,p="[..], &noise].concat(),
                _ => noise,
            };
            assert!(!matches!(exchange.receive(&body), Ok(Reply::Proven(_))));
        }
    }
}

#[test]
fn nothing_secret_is_shown() {
    let verifier: Verifier = OF_RFC.parse().unwrap();
    let shown = format!("{verifier:?} {:?} {:?} {:?}", exchange(tls()), mock(), PasswordText::of(OF_RFC));
    assert!(!shown.contains("WG5d8oPm3") && !shown.contains("88, 110") && !shown.contains("7, 7"), "{shown}");
}
