//! The packages that apt knows, as rows: a real corpus that every Debian machine has.

use super::super::CommandError;
use super::super::sql::Shell;
use std::process::Command;
use std::sync::Arc;

/// Rows of one INSERT.
const ROWS: usize = 500;

/// One paragraph of `apt-cache dumpavail`.
#[derive(Default, PartialEq, Debug)]
struct Package {
    name: String,
    section: String,
    size: u64,
    summary: String,
    description: String,
}

/// Fills `demo.packages`. Whether all went well.
pub(super) async fn load(shell: &mut Shell) -> Result<bool, CommandError> {
    let io = |error| CommandError::Io { what: "apt-cache, which knows the packages of a Debian machine, cannot be run".into(), error };
    let output = Command::new("apt-cache").arg("dumpavail").output().map_err(io)?;
    let mut packages = read(&String::from_utf8_lossy(&output.stdout));
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    packages.dedup_by(|a, b| a.name == b.name);
    if packages.is_empty() {
        return Err(CommandError::Usage("apt knows no packages here: run apt-get update first".into()));
    }
    let began = std::time::Instant::now();
    for some in packages.chunks(ROWS) {
        let mut sql = String::from("INSERT INTO demo.packages VALUES ");
        for (n, p) in some.iter().enumerate() {
            sql.push_str(if n > 0 { ", " } else { "" });
            let quote = |text: &str| format!("'{}'", text.replace('\'', "''"));
            let (name, section) = (quote(&p.name), quote(&p.section));
            sql.push_str(&format!("({name}, {section}, {}, {}, {})", p.size, quote(&p.summary), quote(&p.description)));
        }
        let text: Arc<str> = Arc::from(sql);
        let done: Result<(), stoa_pg::PgError> = async {
            for piece in shell.session.parse(&text)? {
                let prepared = shell.session.prepare(Some(piece), Arc::clone(&text), Vec::new())?;
                shell.session.execute(&prepared, Vec::new()).await?;
                shell.session.finish().await?;
            }
            Ok(())
        }
        .await;
        done?;
    }
    println!("\n{} packages loaded in {:.1} s.", packages.len(), began.elapsed().as_secs_f64());
    Ok(true)
}

/// Reads paragraphs of fields; a line that begins with a blank goes on with the field before.
fn read(text: &str) -> Vec<Package> {
    let mut out = Vec::new();
    for paragraph in text.split("\n\n") {
        let mut package = Package::default();
        let mut in_description = false;
        for line in paragraph.lines() {
            if let Some(more) = line.strip_prefix(' ') {
                if in_description {
                    let more = if more == "." { "" } else { more };
                    package.description.push_str(more);
                    package.description.push('\n');
                }
                continue;
            }
            in_description = false;
            let Some((field, value)) = line.split_once(": ") else { continue };
            match field {
                "Package" => package.name = value.to_owned(),
                "Section" => package.section = value.to_owned(),
                "Installed-Size" => package.size = value.trim().parse().unwrap_or(0),
                "Description" | "Description-en" => {
                    package.summary = value.to_owned();
                    in_description = true;
                }
                _ => {}
            }
        }
        package.description.truncate(package.description.trim_end().len());
        if !package.name.is_empty() {
            out.push(package);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn paragraphs_become_packages() {
        let text = "Package: a\nSection: x\nInstalled-Size: 12\nDescription: short\n long\n .\n longer\nTag: t\n more\n\nPackage: b\n";
        let packages = read(text);
        assert_eq!(packages.len(), 2);
        assert_eq!((packages[0].summary.as_str(), packages[0].description.as_str(), packages[0].size), ("short", "long\n\nlonger", 12));
        assert_eq!(packages[1].name, "b");
    }
}
