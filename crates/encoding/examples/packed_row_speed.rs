//! How long packed rows take: to write 16 columns, and to read 3 or 16 of them.
//!
//! `cargo run --release -p stoa-encoding --example packed_row_speed` prints nanoseconds a row, the median of several rounds.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use stoa_encoding::keyside::{Direction, decode_bytes_in, decode_i64, encode_bytes, encode_i64};
use stoa_encoding::packed_row::{Cell, Projection, RowBuilder, RowReader, RowShape, ValueKind};

const ROWS: usize = 100_000;
const ROUNDS: usize = 11;

fn main() -> Result<(), Box<dyn Error>> {
    let kinds = [ValueKind::Fixed(8), ValueKind::Variable, ValueKind::Fixed(4), ValueKind::Fixed(16)];
    let shape = Arc::new(RowShape::new((1..=16u32).map(|id| (id, kinds[id as usize % 4])).collect())?);
    for (name, null_every) in [("no NULLs", usize::MAX), ("one NULL in 7 at changing places", 7)] {
        let mut builder = RowBuilder::new();
        let mut rows = Vec::new();
        let mut starts = Vec::new();
        report(&format!("write 16 columns, {name}"), || {
            rows.clear();
            starts.clear();
            for n in 0..ROWS {
                starts.push(rows.len());
                builder.start(&shape);
                for (i, (_, kind)) in shape.columns().iter().enumerate() {
                    match kind {
                        _ if (n * 16 + i) % null_every == null_every - 1 => builder.push_null(),
                        ValueKind::Variable => builder.push_variable(b"some text of 24 bytes ..".get(..8 + n % 16).unwrap_or_default()),
                        ValueKind::Fixed(4) => builder.push_fixed((n as i32).to_le_bytes()),
                        ValueKind::Fixed(8) => builder.push_fixed((n as i64).to_le_bytes()),
                        ValueKind::Fixed(_) => builder.push_fixed([7; 16]),
                    }
                }
                builder.finish(&mut rows)?;
            }
            starts.push(rows.len());
            Ok(())
        })?;
        println!("{:>8.1} bytes a row", rows.len() as f64 / ROWS as f64);
        let row = |n: usize| starts.get(n..n + 2).and_then(|ends| rows.get(ends[0]..ends[1])).unwrap_or_default();
        for wanted in [vec![2, 5, 16], (1..=16).collect::<Vec<u32>>()] {
            let mut projection = Projection::new(wanted.clone());
            report(&format!("project {} of 16 columns, {name}", wanted.len()), || {
                let mut sum = 0usize;
                for n in 0..ROWS {
                    projection.project(row(n), |slot, cell| {
                        if let Cell::Value(body) = cell {
                            sum = sum.wrapping_add(slot + body.len() + usize::from(body.first().copied().unwrap_or(0)));
                        }
                    })?;
                }
                black_box(sum);
                Ok(())
            })?;
            report(&format!("RowReader, {} of 16 columns, {name}", wanted.len()), || {
                let mut sum = 0usize;
                for n in 0..ROWS {
                    let reader = RowReader::new(row(n))?;
                    for id in &wanted {
                        sum = sum.wrapping_add(reader.get(*id).value().map_or(0, <[u8]>::len));
                    }
                }
                black_box(sum);
                Ok(())
            })?;
        }
    }
    for (name, direction) in [("ascending", Direction::Asc), ("descending", Direction::Desc)] {
        let mut key = Vec::new();
        report(&format!("encode key (text of 20, bigint) {name}"), || {
            for n in 0..ROWS {
                key.clear();
                encode_bytes(&mut key, black_box(b"a device of the plant"), direction);
                encode_i64(&mut key, n as i64, direction);
                black_box(&key);
            }
            Ok(())
        })?;
        let mut scratch = Vec::new();
        report(&format!("decode key (text of 20, bigint) {name}"), || {
            let mut sum = 0;
            for _ in 0..ROWS {
                let (text, rest) = decode_bytes_in(black_box(&key), direction, &mut scratch)?;
                sum += text.len() as i64 + decode_i64(rest, direction)?.0;
            }
            black_box(sum);
            Ok(())
        })?;
    }
    Ok(())
}

fn report(name: &str, mut round: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let mut nanos = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round()?;
        nanos.push(start.elapsed().as_nanos() as f64 / ROWS as f64);
    }
    nanos.sort_by(f64::total_cmp);
    println!("{:>8.1} ns  {name}", nanos.get(ROUNDS / 2).copied().unwrap_or(0.0));
    Ok(())
}
