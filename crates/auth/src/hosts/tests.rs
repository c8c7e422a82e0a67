//! Files of rules and connections, each with what a PostgreSQL 15 says of it: the questions were random, `tests/postgres/hosts.py` asked.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use super::{Around, Connection, DEFAULT_IDENT, DEFAULT_RULES, Files, IdentRow, Maps, Method, Peer, RuleRow, Rules};
use crate::tls::ClientNames;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// The files that the server had beside its own.
struct InMemory(HashMap<PathBuf, String>);

impl Files for InMemory {
    fn read(&self, path: &Path) -> io::Result<String> {
        let found = self.0.get(path).cloned();
        found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "No such file or directory"))
    }
}

fn cases(text: &str) -> (Value, InMemory) {
    let value: Value = serde_json::from_str(text).unwrap();
    let files = value.get("files").and_then(Value::as_object).cloned().unwrap_or_default();
    let files = files.into_iter().map(|(name, text)| (Path::new("/data").join(name), text.as_str().unwrap().to_owned()));
    (value, InMemory(files.collect()))
}

fn json(row: &RuleRow) -> Value {
    serde_json::json!([
        row.line_number,
        row.kind,
        row.database,
        row.user_name,
        row.address,
        row.netmask,
        row.auth_method,
        row.options,
        row.error
    ])
}

/// Methods that PostgreSQL has and we refuse.
const REFUSED: &[&str] = &["ident", "password", "gss", "pam", "ldap", "radius"];

/// Whether two rows differ because of a method, or encryption by GSSAPI, that the PostgreSQL that was asked has.
fn by_its_build(ours: &Value, theirs: &Value) -> bool {
    let error = ours[8].as_str().unwrap_or_default();
    if error == "hostgssenc record cannot match because GSSAPI is not supported by this build" {
        let mut without = ours.clone();
        without[8] = Value::Null;
        return without == *theirs;
    }
    // PostgreSQL logs this and forgets to show it.
    let forgotten = error.starts_with("invalid value for client") && theirs[1].is_null() && theirs[8].is_null();
    let refused = forgotten
        || REFUSED.iter().any(|method| error == format!("invalid authentication method \"{method}\": not supported by this build"));
    refused && ours[0] == theirs[0]
}

#[test]
fn rows_of_files_are_postgresqls() {
    let (value, files) = cases(include_str!("cases/rows.json"));
    let (mut count, mut errors, mut differ) = (0, 0, Vec::new());
    for case in value["cases"].as_array().unwrap() {
        let text = case[0].as_str().unwrap();
        let rows: Vec<Value> = Rules::rows(Path::new("/data/pg_hba.conf"), text, true, &files).iter().map(json).collect();
        let theirs = case[1].as_array().unwrap();
        let same = rows.len() == theirs.len() && rows.iter().zip(theirs).all(|(ours, theirs)| ours == theirs || by_its_build(ours, theirs));
        if !same {
            differ.push(format!("{text:?}\n ours   {rows:?}\n theirs {theirs:?}").chars().take(3000).collect::<String>());
        }
        count += rows.len();
        errors += theirs.iter().filter(|row| !row[8].is_null()).count();
        // A file with an error is no list of rules, and one without is.
        let loaded = Rules::parse(Path::new("/data/pg_hba.conf"), text, true, &files);
        let broken = rows.iter().filter(|row| row[1].is_null()).count();
        match loaded {
            Ok(rules) => assert!(broken == 0 && rules.all().len() == rows.len()),
            Err(reported) => assert_eq!(reported.len(), broken.max(1)),
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ[..differ.len().min(8)].join("\n"));
    assert!(count > 1500 && errors > 300, "{count} lines, {errors} errors");
}

#[test]
fn rows_of_maps_are_postgresqls() {
    let (value, files) = cases(include_str!("cases/maps.json"));
    let mut differ = Vec::new();
    for case in value["cases"].as_array().unwrap() {
        let text = case[0].as_str().unwrap();
        let rows = Maps::rows(Path::new("/data/pg_ident.conf"), text, &files);
        let json = |row: &IdentRow| serde_json::json!([row.line_number, row.map_name, row.sys_name, row.pg_username, row.error]);
        let rows: Vec<Value> = rows.iter().map(json).collect();
        let theirs = case[1].as_array().unwrap();
        // Why an expression is none is told by whoever reads it; escapes that we do not have are errors here.
        let same_error = |ours: &Value, theirs: &Value| {
            let start = |v: &Value| v[4].as_str().and_then(|e| e.rsplit_once(": ")).map(|(start, _)| start.to_owned());
            let ours_is_regex = start(ours).is_some_and(|e| e.starts_with("invalid regular expression"));
            ours[0] == theirs[0] && ours_is_regex && (start(ours) == start(theirs) || theirs[2] == "/\\y")
        };
        if rows.len() != theirs.len() || !rows.iter().zip(theirs).all(|(ours, theirs)| ours == theirs || same_error(ours, theirs)) {
            differ.push(format!("{text:?}\n ours   {rows:?}\n theirs {theirs:?}"));
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ[..differ.len().min(8)].join("\n"));
}

/// What the server that was asked had around it.
#[derive(Default)]
struct Recorded {
    interfaces: Vec<(IpAddr, IpAddr)>,
    members: Vec<(String, String)>,
    roles: Vec<String>,
    names: Vec<(IpAddr, String)>,
}

impl Around for Recorded {
    fn is_member(&self, role: &str, group: &str) -> bool {
        let exists = |name: &str| self.roles.iter().any(|role| role == name);
        exists(role)
            && exists(group)
            && (role == group || self.members.iter().any(|(of, member)| member == role && self.is_member(of, group)))
    }

    fn name_of(&self, address: IpAddr) -> Option<String> {
        self.names.iter().find(|(of, _)| *of == address).map(|(_, name)| name.clone())
    }

    fn addresses_of(&self, name: &str) -> Vec<IpAddr> {
        // One name is claimed by an address that it does not lead to.
        self.names.iter().filter(|(_, of)| of == name && name != "forged.example.org").map(|(address, _)| *address).collect()
    }

    fn interfaces(&self) -> Vec<(IpAddr, IpAddr)> {
        self.interfaces.clone()
    }
}

#[test]
fn connections_fit_the_rule_that_they_fit_in_postgresql() {
    // The method that asks for a password at once, so that its log tells the line; here it is refused, and another stands for it.
    let (value, files) = cases(&include_str!("cases/matches.json").replace(" password\\n", " scram-sha-256\\n"));
    let texts = |v: &Value| v.as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let around = Recorded {
        interfaces: value["interfaces"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| {
                let address: IpAddr = pair[0].as_str().unwrap().parse().unwrap();
                (address, super::address::cidr_mask(&pair[1].to_string(), address).unwrap())
            })
            .collect(),
        members: value["members"].as_array().unwrap().iter().map(texts).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
        roles: texts(&value["roles"]),
        names: Vec::new(),
    };
    let (mut asked, mut by_rule) = (0, 0);
    for case in value["cases"].as_array().unwrap() {
        let text = case[0].as_str().unwrap();
        let rules = Rules::parse(Path::new("/data/pg_hba.conf"), text, true, &files).unwrap();
        for question in case[1].as_array().unwrap() {
            let peer = match question[2].as_str() {
                None => Peer::Socket,
                Some(address) => Peer::Address { address: address.parse().unwrap(), tls: question[1].as_bool().unwrap() },
            };
            let (database, role) = (question[3].as_str().unwrap(), question[4].as_str().unwrap());
            let connection = Connection { peer, database, role, replication: false };
            let answer = match rules.decide(&connection, &around) {
                Ok(rule) => serde_json::json!(rule.line),
                Err(refusal) => serde_json::json!(refusal.message),
            };
            assert_eq!(answer, question[5], "{connection:?} with\n{text}");
            asked += 1;
            by_rule += usize::from(question[5].is_number());
        }
    }
    assert!(asked >= 500 && by_rule >= 150, "{asked}, {by_rule} by a rule");
}

#[test]
fn users_of_the_system_may_be_the_roles_that_they_may_be_in_postgresql() {
    let (value, files) = cases(include_str!("cases/peers.json"));
    let system = value["system"].as_str().unwrap();
    let (mut asked, mut permitted, mut refused) = (0, 0, 0);
    for case in value["cases"].as_array().unwrap() {
        // What could match otherwise than PostgreSQL's is refused as a file.
        let Ok(maps) = Maps::parse(Path::new("/data/pg_ident.conf"), case[0].as_str().unwrap(), &files) else {
            refused += 1;
            continue;
        };
        let map = case[1].as_bool().unwrap().then_some("m");
        let answer = maps.permit(map, case[2].as_str().unwrap(), system).is_ok();
        assert_eq!(Value::Bool(answer), case[3], "{case}");
        asked += 1;
        permitted += usize::from(answer);
    }
    assert!(asked > 200 && permitted > 30, "{asked}, {permitted} permitted, {refused} in refused files");
}

fn rules(text: &str) -> Rules {
    Rules::parse(Path::new("pg_hba.conf"), text, true, &InMemory(HashMap::new())).unwrap()
}

fn from(address: &str, tls: bool) -> Peer {
    Peer::Address { address: address.parse().unwrap(), tls }
}

fn line(rules: &Rules, peer: Peer, database: &str, role: &str) -> Option<usize> {
    rules.find(&Connection { peer, database, role, replication: false }, &Recorded::default()).map(|rule| rule.line)
}

#[test]
fn a_new_directory_is_open_to_its_own_machine_and_asks_others_for_tls_and_a_password() {
    let rules = rules(DEFAULT_RULES);
    assert!(rules.warnings().is_empty());
    for (peer, expected) in [
        (Peer::Socket, Some(Method::Peer)),
        (from("127.0.0.1", false), Some(Method::Trust)),
        (from("::1", true), Some(Method::Trust)),
        (from("::ffff:127.0.0.1", false), Some(Method::Trust)),
        (from("127.0.0.2", false), None),
        (from("10.1.2.3", false), None),
        (from("10.1.2.3", true), Some(Method::ScramSha256)),
        (from("2001:db8::1", true), Some(Method::ScramSha256)),
        (from("2001:db8::1", false), None),
    ] {
        let connection = Connection { peer, database: "stoa", role: "stoa", replication: false };
        assert_eq!(rules.decide(&connection, &Recorded::default()).ok().map(|rule| rule.method), expected, "{peer:?}");
    }
    let maps = Maps::parse(Path::new("i"), DEFAULT_IDENT, &InMemory(HashMap::new())).unwrap().with_owner(Some("runner".into()));
    let socket = Connection { peer: Peer::Socket, database: "stoa", role: "stoa", replication: false };
    let rule = rules.decide(&socket, &Recorded::default()).unwrap();
    assert!(rule.check_peer("stoa", Some("runner"), &maps).is_ok());
    let failure = rule.check_peer("stoa", Some("eve"), &maps).unwrap_err();
    assert_eq!(failure.refusal.message, "Peer authentication failed for user \"stoa\"");
    assert!(failure.log.unwrap().starts_with("no match in usermap \"stoa_owner\""));
    assert!(rule.check_peer("stoa", None, &maps).is_err());
    // Without TLS the last line is a warning, and the file still good.
    let without = Rules::parse(Path::new("pg_hba.conf"), DEFAULT_RULES, false, &InMemory(HashMap::new())).unwrap();
    assert_eq!(without.warnings().len(), 1);
}

#[test]
fn rules_that_are_open_to_other_machines_are_reported() {
    assert_eq!(rules(DEFAULT_RULES).open_to_others().count(), 0);
    let rules = rules(
        "host all all all trust\nhost all all 0.0.0.0/0 trust\nhost all all 127.0.0.0/7 trust\nhost all all samenet trust\nhost all all x.org trust\n\
         host all all ::1/127 trust\nhost all all 10.0.0.1/32 trust\nhostssl all all all trust\n\
         local all all trust\nhost all all 127.0.0.0/8 trust\nhost all all ::1/128 trust\nhost all all samehost trust\n\
         host all all all scram-sha-256\nhost all all all reject\nhostssl all all all trust clientcert=verify-ca\n",
    );
    assert_eq!(rules.open_to_others().map(|rule| rule.line).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn names_of_addresses_count_only_if_they_lead_back() {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let around = Recorded {
        names: vec![
            (ip("10.0.0.1"), "One.example.org".to_owned()),
            (ip("10.0.0.2"), "forged.example.org".to_owned()),
            (ip("10.0.0.3"), "notexample.org".to_owned()),
        ],
        ..Recorded::default()
    };
    let rules = rules("host all a one.EXAMPLE.org trust\nhost all b .example.org trust\n");
    for (address, role, expected) in
        [("10.0.0.1", "a", Some(1)), ("10.0.0.1", "b", Some(2)), ("10.0.0.2", "b", None), ("10.0.0.3", "b", None), ("10.0.0.4", "a", None)]
    {
        let connection = Connection { peer: from(address, false), database: "d", role, replication: false };
        assert_eq!(rules.find(&connection, &around).map(|rule| rule.line), expected, "{address} {role}");
    }
}

#[test]
fn replication_fits_its_keyword_only() {
    let rules = rules("host all all all trust\nhost replication all all trust\nhost \"replication\" all all trust\n");
    let peer = from("10.0.0.1", false);
    assert_eq!(line(&rules, peer, "replication", "a"), Some(1));
    let physical = Connection { peer, database: "", role: "a", replication: true };
    assert_eq!(rules.find(&physical, &Recorded::default()).map(|rule| rule.line), Some(2));
    let none = super::tests::rules("host all all all trust\n");
    let reported = none.decide(&physical, &Recorded::default()).unwrap_err();
    assert_eq!(reported.message, "no pg_hba.conf entry for replication connection from host \"10.0.0.1\", user \"a\", no encryption");
}

#[test]
fn all_errors_of_a_broken_file_are_reported_with_their_lines() {
    let text = "local all all trust\nhost all all\n# fine\nlocal all all foo\nhost all \\\nall 10.0.0.0/99 trust\n";
    let errors = Rules::parse(Path::new("f"), text, true, &InMemory(HashMap::new())).unwrap_err();
    let reported: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        reported,
        [
            "end-of-line before IP address specification (line 2 of configuration file \"f\")",
            "invalid authentication method \"foo\" (line 4 of configuration file \"f\")",
            "invalid CIDR mask in address \"10.0.0.0/99\" (line 5 of configuration file \"f\")",
        ]
    );
    let empty = Rules::parse(Path::new("f"), "# nothing\n", true, &InMemory(HashMap::new())).unwrap_err();
    assert_eq!(empty[0].to_string(), "configuration file \"f\" contains no entries");
    let missing = Rules::load(Path::new("/nowhere/pg_hba.conf"), true).unwrap_err();
    assert_eq!(missing[0].message, "could not open configuration file \"/nowhere/pg_hba.conf\": No such file or directory");
}

#[test]
fn files_that_include_themselves_end() {
    let one = |text: &str| InMemory(HashMap::from([(PathBuf::from("/d/a"), text.to_owned())]));
    for text in ["@a", "@a @a", "@a,@a,@a"] {
        let errors = Rules::parse(Path::new("/d/h"), "local @a all trust\n", true, &one(text)).unwrap_err();
        assert!(errors[0].message.contains("maximum nesting depth exceeded"), "{}", errors[0]);
    }
}

#[test]
fn certificates_are_asked_for_and_compared() {
    let rules = rules(
        "hostssl all all 10.0.0.1/32 cert\nhostssl all all 10.0.0.2/32 cert map=m clientname=DN\nhostssl all all 10.0.0.3/32 scram-sha-256 \
         clientcert=verify-ca\nhostssl all all 10.0.0.4/32 trust clientcert=verify-full\nhost all all all trust\n",
    );
    let maps = Maps::parse(Path::new("i"), "m \"/^CN=([^,]*),O=Ex$\" \\1\n", &InMemory(HashMap::new())).unwrap();
    let names = |cn: &str| ClientNames {
        common_name: (!cn.is_empty()).then(|| cn.to_owned()),
        distinguished_name: Some(format!("CN={cn},O=Ex")),
        ..ClientNames::default()
    };
    let rule = |n: usize| &rules.all()[n - 1];
    for (n, cn, there, fits) in [
        (1, Some("anna"), true, true),
        (1, Some("bob"), true, false),
        (1, Some(""), true, false),
        (1, None, false, false),
        (2, Some("anna"), true, true),
        (2, Some("bob"), true, false),
        (3, Some("bob"), true, true),
        (3, None, false, true),
        (4, Some("anna"), true, true),
        (4, Some("bob"), true, false),
        (4, None, false, false),
        (5, None, true, true),
    ] {
        let certificate = cn.map(names);
        assert_eq!(rule(n).check_certificate_is_there(true, certificate.as_ref()).is_ok(), there, "{n} {cn:?}");
        assert_eq!(rule(n).check_certificate_names("anna", certificate.as_ref(), &maps).is_ok(), fits, "{n} {cn:?}");
    }
    assert_eq!(rule(1).check_certificate_is_there(false, None).unwrap_err().code.sqlstate(), "F0000");
    let failure = rule(1).check_certificate_names("anna", Some(&names("bob")), &maps).unwrap_err();
    assert_eq!(failure.refusal.message, "certificate authentication failed for user \"anna\"");
}

#[test]
fn random_files_never_panic() {
    let mut random = rand::rngs::StdRng::seed_from_u64(11);
    let words = [
        "local",
        "host",
        "hostssl",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\\\n",
        "\"",
        "\"\"",
        ",",
        "#",
        "@a",
        "@",
        "all",
        "+",
        "/",
        "10.0.0.0",
        "/8",
        "::1",
        "255.0.0.0",
        "trust",
        "cert",
        "peer",
        "map=",
        "=",
        "clientcert=verify-full",
        "é",
        "\u{fffd}",
        "\0",
        "0x",
        "99999999999999999999",
        "%",
        "(",
        "[",
        "\\1",
        "/^(.*)$",
        "*",
        "{9",
    ];
    let files = InMemory(HashMap::from([(PathBuf::from("/d/a"), "x\ny, \"z\n@a".to_owned())]));
    for _ in 0..20_000 {
        let text: String = (0..random.random_range(0..40)).map(|_| words[random.random_range(0..words.len())]).collect();
        let _ = Rules::rows(Path::new("/d/h"), &text, true, &files);
        if let Ok(rules) = Rules::parse(Path::new("/d/h"), &text, false, &files) {
            line(&rules, from("10.0.0.1", false), "d", "r");
        }
        if let Ok(maps) = Maps::parse(Path::new("/d/i"), &text, &files) {
            let _ = maps.permit(Some("all"), "r", "system");
        }
    }
}
