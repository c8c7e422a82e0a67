//! Keys: the order of the bytes is the order of the values, no encoding begins another, and every value comes back.
//!
//! The order of the values is stated here without the encoder's help, as PostgreSQL has it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use std::borrow::Cow;
use std::cmp::Ordering;
use stoa_encoding::keyside::{
    Direction, KeyLayout, KeyPart, KeyValue, NUMERIC, NullOrder, PartKind, PrefixFree, SaltBuckets, decode_bytes_in, decode_text,
    encode_bytes_prefix, encode_text, prefix_successor, salt,
};

/// A family like numeric: a length byte, then as many bytes.
const COUNTED: PrefixFree = PrefixFree {
    name: "counted",
    encoded_len: |bytes| {
        let len = 1 + usize::from(*bytes.first()?);
        (bytes.len() >= len).then_some(len)
    },
};

const RAW: PartKind = PartKind::Raw(3);

/// The order of two values of one kind, neither NULL.
fn sql_order(a: &KeyValue<'_>, b: &KeyValue<'_>) -> Ordering {
    fn float_order(a: f64, b: f64) -> Ordering {
        match (a.is_nan(), b.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => a.partial_cmp(&b).unwrap(),
        }
    }
    match (a, b) {
        (KeyValue::Bool(a), KeyValue::Bool(b)) => a.cmp(b),
        (KeyValue::Int16(a), KeyValue::Int16(b)) => a.cmp(b),
        (KeyValue::Int32(a), KeyValue::Int32(b)) => a.cmp(b),
        (KeyValue::Int64(a), KeyValue::Int64(b)) => a.cmp(b),
        (KeyValue::UInt32(a), KeyValue::UInt32(b)) => a.cmp(b),
        (KeyValue::Float32(a), KeyValue::Float32(b)) => float_order((*a).into(), (*b).into()),
        (KeyValue::Float64(a), KeyValue::Float64(b)) => float_order(*a, *b),
        (KeyValue::Uuid(a), KeyValue::Uuid(b)) => a.cmp(b),
        (KeyValue::Bytes(a), KeyValue::Bytes(b)) => a.cmp(b),
        _ => panic!("two kinds"),
    }
}

/// The order of two values of a part, with its direction and NULLs.
fn part_order(part: &KeyPart, a: &KeyValue<'_>, b: &KeyValue<'_>) -> Ordering {
    let null_first = part.nulls == Some(NullOrder::First);
    match (a == &KeyValue::Null, b == &KeyValue::Null) {
        (true, true) => Ordering::Equal,
        (true, false) => {
            if null_first {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (false, true) => {
            if null_first {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        (false, false) if part.direction == Direction::Desc => sql_order(b, a),
        (false, false) => sql_order(a, b),
    }
}

fn tuple_order(parts: &[KeyPart], a: &[KeyValue<'_>], b: &[KeyValue<'_>]) -> Ordering {
    parts.iter().zip(a.iter().zip(b)).map(|(part, (a, b))| part_order(part, a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

fn encode(parts: &[KeyPart], values: &[KeyValue<'_>]) -> Vec<u8> {
    let mut key = Vec::new();
    parts.iter().zip(values).for_each(|(part, value)| part.encode(&mut key, value).unwrap());
    key
}

fn kind() -> impl Strategy<Value = PartKind> {
    prop::sample::select(vec![
        PartKind::Bool,
        PartKind::Int16,
        PartKind::Int32,
        PartKind::Int64,
        PartKind::UInt32,
        PartKind::Float32,
        PartKind::Float64,
        PartKind::Uuid,
        RAW,
        PartKind::Escaped,
        PartKind::Delimited(b'#'),
        PartKind::PrefixFree(COUNTED),
        PartKind::PrefixFree(NUMERIC),
    ])
}

fn part() -> impl Strategy<Value = KeyPart> {
    let nulls = prop::sample::select(vec![None, Some(NullOrder::First), Some(NullOrder::Last)]);
    (kind(), prop::sample::select(vec![Direction::Asc, Direction::Desc]), nulls).prop_map(|(kind, direction, nulls)| KeyPart {
        kind,
        direction,
        nulls,
    })
}

/// Few bytes, and those that matter: escapes, terminators, complements.
fn awkward_bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![4 => prop::sample::select(vec![0u8, 1, 2, 0x61, 0xfe, 0xff]), 1 => any::<u8>()], 0..max)
}

fn value(kind: PartKind) -> BoxedStrategy<KeyValue<'static>> {
    let bytes = |bytes: Vec<u8>| KeyValue::Bytes(Cow::Owned(bytes));
    match kind {
        PartKind::Bool => any::<bool>().prop_map(KeyValue::Bool).boxed(),
        PartKind::Int16 => any::<i16>().prop_map(KeyValue::Int16).boxed(),
        PartKind::Int32 => prop_oneof![any::<i32>(), -2..3i32, Just(i32::MIN), Just(i32::MAX)].prop_map(KeyValue::Int32).boxed(),
        PartKind::Int64 => prop_oneof![any::<i64>(), -2..3i64, Just(i64::MIN), Just(i64::MAX)].prop_map(KeyValue::Int64).boxed(),
        PartKind::UInt32 => prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)].prop_map(KeyValue::UInt32).boxed(),
        PartKind::Float32 => {
            prop_oneof![any::<f32>(), prop::sample::select(vec![0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY])]
                .prop_map(KeyValue::Float32)
                .boxed()
        }
        PartKind::Float64 => {
            let special = vec![0.0, -0.0, 5e-324, -5e-324, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            prop_oneof![any::<f64>(), any::<u64>().prop_map(f64::from_bits), prop::sample::select(special)]
                .prop_map(KeyValue::Float64)
                .boxed()
        }
        PartKind::Uuid => any::<[u8; 16]>().prop_map(KeyValue::Uuid).boxed(),
        PartKind::Raw(width) => prop::collection::vec(any::<u8>(), width as usize).prop_map(bytes).boxed(),
        PartKind::Escaped | PartKind::Rest => awkward_bytes(20).prop_map(bytes).boxed(),
        PartKind::Delimited(delimiter) => prop::collection::vec(delimiter + 1..=u8::MAX, 0..20).prop_map(bytes).boxed(),
        PartKind::PrefixFree(family) if family == NUMERIC => numeric().prop_map(move |number| bytes(number.encode())).boxed(),
        PartKind::PrefixFree(_) => {
            prop_oneof![awkward_bytes(8), awkward_bytes(200)].prop_map(move |body| bytes([vec![body.len() as u8], body].concat())).boxed()
        }
    }
}

/// A finite numeric: ± magnitude × 10^−scale.
#[derive(Clone, Copy, Debug)]
struct Numeric {
    magnitude: i64,
    scale: u32,
}

impl Numeric {
    fn encode(self) -> Vec<u8> {
        let mut out = Vec::new();
        stoa_encoding::numeric::encode(self.magnitude < 0, self.magnitude.unsigned_abs().into(), self.scale, &mut out);
        out
    }

    /// The value times 10^18, which is exact.
    fn scaled(self) -> i128 {
        i128::from(self.magnitude) * 10i128.pow(18 - self.scale)
    }
}

fn numeric() -> impl Strategy<Value = Numeric> {
    (prop_oneof![any::<i64>(), -200..200i64, Just(0), Just(1000)], 0u32..=18).prop_map(|(magnitude, scale)| Numeric { magnitude, scale })
}

/// A value of a part, now and then NULL where it may be.
fn part_value(part: KeyPart) -> BoxedStrategy<KeyValue<'static>> {
    match part.nulls {
        None => value(part.kind),
        Some(_) => prop_oneof![1 => Just(KeyValue::Null), 3 => value(part.kind)].boxed(),
    }
}

/// Parts and two tuples of them that often share values, so that later parts decide.
#[allow(clippy::type_complexity)]
fn parts_and_tuples() -> impl Strategy<Value = (Vec<KeyPart>, Vec<KeyValue<'static>>, Vec<KeyValue<'static>>)> {
    prop::collection::vec(part(), 1..5).prop_flat_map(|parts| {
        let pairs: Vec<_> = parts
            .iter()
            .map(|part| {
                (part_value(*part), part_value(*part), any::<bool>()).prop_map(|(a, b, same)| if same { (a.clone(), a) } else { (a, b) })
            })
            .collect();
        (Just(parts), pairs).prop_map(|(parts, pairs)| {
            let (a, b) = pairs.into_iter().unzip();
            (parts, a, b)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_sort_as_values_sort((parts, a, b) in parts_and_tuples()) {
        let (key_a, key_b) = (encode(&parts, &a), encode(&parts, &b));
        let order = tuple_order(&parts, &a, &b);
        prop_assert_eq!(key_a.cmp(&key_b), order);
        if order.is_ne() {
            prop_assert!(!key_a.starts_with(&key_b) && !key_b.starts_with(&key_a), "one encoding begins the other");
        }
    }

    #[test]
    fn every_value_comes_back((parts, values, _) in parts_and_tuples(), salted: bool) {
        let mut key = vec![7; usize::from(salted)];
        key.extend(encode(&parts, &values));
        let layout = KeyLayout::new(salted, parts.clone());
        let decoded = layout.decode(&key).unwrap();
        prop_assert_eq!(tuple_order(&parts, &values, &decoded), Ordering::Equal);
        let mut at = usize::from(salted);
        for n in 0..parts.len() {
            prop_assert_eq!(layout.skip_to(&key, n).unwrap(), &key[at..]);
            if let Some(start) = layout.fixed_start(n) {
                prop_assert_eq!(start, at);
            }
            let mut part = Vec::new();
            parts[n].encode(&mut part, &values[n]).unwrap();
            prop_assert_eq!(layout.part_bytes(&key, n).unwrap(), &part);
            at += part.len();
        }
        prop_assert!(layout.skip_to(&key, parts.len()).unwrap().is_empty());
        prop_assert!(layout.skip_to(&key, parts.len() + 1).is_err());
        key.push(0);
        prop_assert!(layout.decode(&key).is_err());
    }

    #[test]
    fn corrupt_keys_give_errors_or_values((parts, values, _) in parts_and_tuples(), salted: bool, at: prop::sample::Index, to: u8, cut: prop::sample::Index) {
        let layout = KeyLayout::new(salted, parts.clone());
        let mut key = vec![7; usize::from(salted)];
        key.extend(encode(&parts, &values));
        prop_assert!(layout.decode(&key[..cut.index(key.len())]).is_err(), "a key cut short was read");
        let position = at.index(key.len());
        key[position] = to;
        // Either an error, or values whose encoding is these very bytes: nothing is read that is not written.
        if let Ok(decoded) = layout.decode(&key) {
            let mut again = key[..usize::from(salted)].to_vec();
            again.extend(encode(&parts, &decoded));
            prop_assert_eq!(again, key);
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_danger(parts in prop::collection::vec(part(), 0..5), salted: bool, key in awkward_bytes(60), n in 0usize..7) {
        let layout = KeyLayout::new(salted, parts);
        let _ = layout.decode(&key);
        let _ = layout.skip_to(&key, n);
        let _ = layout.part_bytes(&key, n);
    }

    #[test]
    fn numerics_sort_by_value(a in numeric(), b in numeric()) {
        let (key_a, key_b) = (a.encode(), b.encode());
        prop_assert_eq!(key_a.cmp(&key_b), a.scaled().cmp(&b.scaled()));
        prop_assert!(key_a == key_b || !(key_a.starts_with(&key_b) || key_b.starts_with(&key_a)));
    }

    #[test]
    fn text_and_its_prefixes(text in ".{0,20}", cut: prop::sample::Index, other in ".{0,20}", descending: bool) {
        let direction = if descending { Direction::Desc } else { Direction::Asc };
        let mut key = Vec::new();
        encode_text(&mut key, &text, direction);
        key.extend_from_slice(b"rest");
        let (back, rest) = decode_text(&key, direction).unwrap();
        prop_assert_eq!((&*back, rest), (text.as_str(), &b"rest"[..]));
        let mut scratch = vec![9];
        prop_assert_eq!(decode_bytes_in(&key, direction, &mut scratch).unwrap(), (text.as_bytes(), &b"rest"[..]));

        let prefix = &text.as_bytes()[..cut.index(text.len() + 1)];
        let mut start = Vec::new();
        encode_bytes_prefix(&mut start, prefix, direction);
        let end = prefix_successor(&start);
        for candidate in [&text, &other] {
            let mut key = Vec::new();
            encode_text(&mut key, candidate, direction);
            let inside = key >= start && end.as_ref().is_none_or(|end| key < *end);
            prop_assert_eq!(inside, candidate.as_bytes().starts_with(prefix));
        }
    }

    #[test]
    fn a_prefix_range_holds_what_begins_with_the_prefix(prefix in awkward_bytes(4), key in awkward_bytes(6)) {
        let inside = key >= prefix && prefix_successor(&prefix).is_none_or(|end| key < end);
        prop_assert_eq!(inside, key.starts_with(&prefix));
    }

    #[test]
    fn salt_is_a_bucket(count in 1u16..=256, bytes in awkward_bytes(30)) {
        let buckets = SaltBuckets::new(count).unwrap();
        prop_assert!(u16::from(salt(buckets, &bytes)) < count);
        prop_assert_eq!(buckets.iter().count(), usize::from(count));
    }
}

#[test]
fn every_decoder_refuses_what_its_encoder_does_not_write() {
    let asc = Direction::Asc;
    // Negative zero, a NaN with a payload, a negative NaN; and a good one beside each.
    assert!(stoa_encoding::keyside::decode_f64(&[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], asc).is_err());
    assert!(stoa_encoding::keyside::decode_f64(&[0xff, 0xf8, 0, 0, 0, 0, 0, 1], asc).is_err());
    assert!(stoa_encoding::keyside::decode_f64(&[0xff, 0xf8, 0, 0, 0, 0, 0, 0], asc).unwrap().0.is_nan());
    assert!(stoa_encoding::keyside::decode_f32(&[0x00, 0x3f, 0xff, 0xff], asc).is_err());
    assert!(stoa_encoding::keyside::decode_f32(&[0x00, 0x7f, 0xff, 0xff], asc).unwrap().0 == f32::NEG_INFINITY);
    assert!(stoa_encoding::keyside::decode_bool(&[2], asc).is_err());
    assert!(stoa_encoding::keyside::decode_bytes(&[0x61, 0x00, 0x02], asc).is_err());
    assert!(stoa_encoding::keyside::decode_text(&[0xff, 0x00, 0x01], asc).is_err());
    assert!(stoa_encoding::keyside::decode_presence(&[0x00], asc, NullOrder::Last).is_err());
    assert!(stoa_encoding::keyside::encode_raw(&mut Vec::new(), b"ab", 3, asc).is_err());
    assert!(SaltBuckets::new(0).is_none() && SaltBuckets::new(257).is_none());
    let part = KeyPart::new(PartKind::Int32, asc);
    assert!(part.encode(&mut Vec::new(), &KeyValue::Null).is_err());
    assert!(part.encode(&mut Vec::new(), &KeyValue::Int64(1)).is_err());
}
