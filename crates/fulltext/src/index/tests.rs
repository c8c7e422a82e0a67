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
                let query = parse(&text, &fields, &[]).unwrap();
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
                    let top = generation.search(&query, Want::Top { limit: 5, ties: false }).unwrap();
                    assert_eq!(top.len(), wanted.len().min(5), "{text}");
                    let with_ties = generation.search(&query, Want::Top { limit: 5, ties: true }).unwrap();
                    assert_eq!(with_ties.scores.get(..top.len()), Some(&*top.scores), "{text}");
                    let all = generation.search(&query, Want::All { scores: true }).unwrap();
                    let least = top.scores.last().copied().unwrap_or(f32::MAX);
                    assert_eq!(with_ties.len(), all.scores.iter().filter(|score| **score >= least).count(), "{text}");
                } else {
                    assert!(found.is_superset(&expected), "{text} = {query}");
                }
            }
        }
    }
}

#[test]
fn damage_is_reported() {
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

fn rows_by_key(index: &FullTextIndex) -> BTreeMap<u64, usize> {
    let hits = index.generation().search(&crate::query::Query::All, Want::All { scores: false }).unwrap();
    let mut out = BTreeMap::new();
    hits.keys().for_each(|key| *out.entry(u64::from_be_bytes(key.try_into().unwrap())).or_default() += 1);
    out
}

fn put(writing: &mut Writing<'_>, keys: impl IntoIterator<Item = u64>, text: &str) {
    for key in keys {
        writing.delete(&key.to_be_bytes());
        writing.add(&key.to_be_bytes(), &[FieldText::Text(text)]).unwrap();
    }
}

#[test]
fn a_merge_beside_the_first_changes_of_a_writer_keeps_no_replaced_document() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("i");
    let definition = definition(&["unicode"], 1, KeyForm::EightBytes);
    let index = FullTextIndex::create(&path, &definition).unwrap();
    // Segments are merged by the writer that finds them, as after a kill: the one that makes them merges none.
    for commit in 0..7u64 {
        let mut writing = index.write().unwrap();
        writing.writers.iter().for_each(|w| w.set_merge_policy(Box::new(tantivy::merge_policy::NoMergePolicy)));
        // The last commit deletes in the segment that has key 1, and in no other; others are longer.
        match commit {
            6 => put(&mut writing, [8], "new"),
            5 => put(&mut writing, 1..9, "old"),
            _ => put(&mut writing, 100 * commit + 100..100 * commit + 120, "old"),
        }
        writing.commit(commit + 1).unwrap();
    }
    drop(index);
    let index = FullTextIndex::open(&path, &definition).unwrap();
    assert_eq!(index.generation().segments(), 7);
    let mut writing = index.write().unwrap();
    put(&mut writing, [1, 2], "new");
    writing.commit(8).unwrap();
    index.rest();
    let mut writing = index.write().unwrap();
    put(&mut writing, [3], "new");
    writing.commit(9).unwrap();
    assert!(index.generation().segments() < 7);
    let twice: Vec<u64> = rows_by_key(&index).into_iter().filter(|(_, n)| *n > 1).map(|(key, _)| key).collect();
    assert_eq!(twice, Vec::<u64>::new());
    assert_eq!(index.generation().documents(), 108);
}

#[test]
fn changes_are_made_again_after_a_crash_within_their_commit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("i");
    let definition = definition(&["unicode"], 1, KeyForm::EightBytes);
    let index = FullTextIndex::create(&path, &definition).unwrap();
    let mut writing = index.write().unwrap();
    put(&mut writing, 0..20, "old");
    writing.commit(1).unwrap();
    index.rest();
    let meta = fs::read(path.join("0/meta.json")).unwrap();
    drop(index);
    let again = || {
        let index = FullTextIndex::open(&path, &definition).unwrap();
        let mut writing = index.write().unwrap();
        put(&mut writing, 3..5, "new");
        writing.commit(2).map(|()| index)
    };
    drop(again().unwrap());
    // Its files are there, but not the one that names them.
    fs::write(path.join("0/meta.json"), meta).unwrap();
    let index = again().unwrap();
    assert_eq!(rows_by_key(&index), (0..20).map(|n| (n, 1)).collect());
    let files =
        fs::read_dir(path.join("0")).unwrap().filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|e| e == "del")).count();
    assert_eq!(files, 1);
}

#[test]
fn every_row_has_one_document_however_often_writers_are_cut_off() {
    let rounds = 60;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("i");
    let definition = definition(&["unicode"], 1, KeyForm::EightBytes);
    drop(FullTextIndex::create(&path, &definition).unwrap());
    let (mut rng, mut rows, mut at) = (Rng(77), BTreeSet::new(), 0);
    for round in 0..rounds {
        // Merges that are under way end with the writers.
        let index = FullTextIndex::open(&path, &definition).unwrap();
        for _ in 0..1 + rng.below(4) {
            // Few rows change often: the segments of the others are longer, and stay as they are.
            let (many, of) = if round % 20 == 0 { (150, 200) } else { (3, 12) };
            let keys: BTreeSet<u64> = (0..=rng.below(many)).map(|_| rng.below(of) as u64).collect();
            let mut writing = index.write().unwrap();
            for key in keys {
                if rng.below(4) == 0 {
                    writing.delete(&key.to_be_bytes());
                    rows.remove(&key);
                } else {
                    put(&mut writing, [key], "some text");
                    rows.insert(key);
                }
            }
            at += 1;
            writing.commit(at).unwrap();
            assert_eq!(rows_by_key(&index), rows.iter().map(|key| (*key, 1)).collect(), "round {round}");
        }
    }
}
