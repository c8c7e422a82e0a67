//! The files against evaluation of each document: what one finds, the other must.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::evaluate::Evaluator;
use crate::parse::{SearchField, parse};
use crate::search::Want;
use std::collections::{BTreeMap, BTreeSet};

fn definition(tokenizers: &[&str], shards: usize, key: KeyForm) -> Definition {
    let fields = tokenizers.iter().enumerate().map(|(n, t)| {
        let mut tokenizer = TokenizerOptions::default();
        tokenizer.set("tokenizer", t).unwrap();
        FieldDefinition { name: format!("c{n}"), tokenizer }
    });
    Definition::new(fields.collect(), shards, key)
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn word(&mut self) -> &'static str {
        const WORDS: &[&str] = &["alpha", "beta", "gamma", "delta", "alphabet", "betas", "The", "running", "run", "x"];
        WORDS[self.below(WORDS.len())]
    }

    fn text(&mut self, most: usize) -> String {
        (0..self.below(most + 1)).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn query(&mut self, depth: usize) -> String {
        let sign = ["", "", "", "+", "-"][self.below(5)];
        let body = match self.below(if depth > 0 { 12 } else { 10 }) {
            0..=3 => self.word().to_owned(),
            4 => format!("\"{} {}\"", self.word(), self.word()),
            5 => format!("\"{} {} {}\"~{}", self.word(), self.word(), self.word(), self.below(4)),
            6 => format!("\"{} {}\"~{}", self.word(), self.word(), self.below(4)),
            7 => format!("{}*", &self.word()[..1]),
            8 => format!("{}~1", self.word()),
            9 => ["/al.*/", "[b TO d}", "c0:beta", "c1:\"x run\""][self.below(4)].to_owned(),
            10 => format!("({})", self.list(depth - 1)),
            _ => format!("({} AND {})", self.query(depth - 1).trim_start_matches(['+', '-']), self.query(depth - 1)),
        };
        format!("{sign}{body}")
    }

    fn list(&mut self, depth: usize) -> String {
        (0..1 + self.below(3)).map(|_| self.query(depth)).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn files_and_evaluation_find_the_same() {
    for (seed, tokenizers, shards, form) in [
        (1, ["unicode", "english"], 1, KeyForm::Words),
        (2, ["english", "unicode"], 3, KeyForm::Words),
        (3, ["ngram(2,3)", "whitespace"], 1, KeyForm::EightBytes),
        (4, ["raw", "jieba"], 2, KeyForm::EightBytes),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let definition = definition(&tokenizers, shards, form);
        let mut index = FullTextIndex::create(&directory.path().join("i"), &definition).unwrap();
        let mut rng = Rng(seed);
        let mut rows: BTreeMap<Vec<u8>, [String; 2]> = BTreeMap::new();
        for round in 1..6u64 {
            let mut writing = index.write().unwrap();
            for _ in 0..60 {
                let n = rng.below(150) as u64;
                let key = match form {
                    KeyForm::EightBytes => n.to_be_bytes().to_vec(),
                    KeyForm::Words => vec![7; n as usize % 23].into_iter().chain(n.to_be_bytes()).collect(),
                };
                writing.delete(&key);
                if rng.below(4) == 0 {
                    rows.remove(&key);
                } else {
                    let texts = [rng.text(8), rng.text(4)];
                    writing.add(&key, &[FieldText::Text(&texts[0]), FieldText::Text(&texts[1])]).unwrap();
                    rows.insert(key, texts);
                }
            }
            writing.commit(round).unwrap();
            if round == 3 {
                index.rest();
                drop(index);
                index = FullTextIndex::open(&directory.path().join("i"), &definition).unwrap();
                index.verify().unwrap();
            }
            let generation = index.generation();
            assert_eq!(generation.timestamp, round);
            assert_eq!(generation.documents(), rows.len() as u64);
            let fields: Vec<SearchField> =
                index.analyzers().iter().enumerate().map(|(n, a)| SearchField { name: format!("c{n}"), analyzer: Arc::clone(a) }).collect();
            for _ in 0..120 {
                let text = rng.list(2);
                let query = parse(&text, &fields).unwrap();
                let statistics = generation.statistics(&query).unwrap();
                let mut evaluator = Evaluator::new(&query, index.analyzers(), Some(&statistics));
                let mut wanted: BTreeMap<Vec<u8>, f32> = BTreeMap::new();
                for (key, [a, b]) in &rows {
                    if let Some(score) = evaluator.evaluate(&[FieldText::Text(a), FieldText::Text(b)]) {
                        wanted.insert(key.clone(), score);
                    }
                }
                let hits = generation.search(&query, Want::All { scores: true }).unwrap();
                let found: BTreeSet<Vec<u8>> = hits.keys().map(<[u8]>::to_vec).collect();
                let expected: BTreeSet<Vec<u8>> = wanted.keys().cloned().collect();
                if query.is_exact() {
                    assert_eq!(found, expected, "{text} = {query}");
                    for (n, key) in hits.keys().enumerate() {
                        let (score, own) = (hits.scores[n], wanted[key]);
                        let phrase = text.contains('"') || text.contains('-');
                        assert!(phrase || (score - own).abs() <= 1e-3 * score.abs().max(1.0), "{text}: {score} and {own}");
                    }
                    assert_eq!(generation.search(&query, Want::Count).unwrap().count, wanted.len() as u64, "{text}");
                    let top = generation.search(&query, Want::Top(5)).unwrap();
                    assert_eq!(top.len(), wanted.len().min(5), "{text}");
                } else {
                    assert!(found.is_superset(&expected), "{text} = {query}");
                }
            }
        }
    }
}

#[test]
fn damage_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("i");
    let definition = definition(&["unicode"], 1, KeyForm::Words);
    let index = FullTextIndex::create(&path, &definition).unwrap();
    let mut writing = index.write().unwrap();
    for n in 0..500u32 {
        writing.add(&n.to_be_bytes(), &[FieldText::Text("some words of a text")]).unwrap();
    }
    writing.commit(9).unwrap();
    index.rest();
    drop(index);
    assert_eq!(FullTextIndex::open(&path, &definition).unwrap().generation().timestamp, 9);
    let other = Definition { shards: 2, ..definition.clone() };
    assert!(matches!(FullTextIndex::open(&path, &other), Err(Error::Damaged(_))));
    let file =
        fs::read_dir(path.join("0")).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some_and(|e| e == "idx")).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    bytes[3] ^= 0x55;
    fs::write(&file, &bytes).unwrap();
    let found = FullTextIndex::open(&path, &definition).and_then(|i| i.verify());
    assert!(matches!(found, Err(Error::Damaged(_))), "{found:?}");
    fs::remove_file(&file).unwrap();
    assert!(matches!(FullTextIndex::open(&path, &definition).and_then(|i| i.verify()), Err(Error::Damaged(_))));
}
