//! XML documents as jsonb and back: `xml_to_jsonb`, `jsonb_to_xml`.
//!
//! The form is that of Python's xmltodict, which many know: an element is a key, its attributes are keys with `@` before them, elements of
//! one name are an array, text beside either is `#text`. Lost are the order of elements of different names, where text stands between
//! elements, comments, processing instructions and the document type; entities of a document type are refused, never expanded.

use crate::args::{Bytes, Kernel, Kind, Reader, Text, arg, strict1};
use crate::error::{PgError, PgResult};
use crate::memory::{process, reserve};
use crate::registry::Registry;
use crate::sqlstate::SqlState;
use crate::types::PgType;
use crate::values::json::binary::{Builder, Node, Object};
use crate::values::json::text::{MAX_DEPTH, Sink, too_deep};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesDecl, BytesStart, Event};
use quick_xml::reader::Reader as XmlReader;
use std::sync::Arc;

/// Elements that memory is asked for at a time, and what the names and texts of one take at least.
const ELEMENTS: usize = 8192;
const ELEMENT_BYTES: usize = 64;
/// The largest document that is made, as texts of PostgreSQL are.
const MAX_BYTES: usize = 1 << 30;

/// What counts as blank in XML.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

fn malformed(detail: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_XML_DOCUMENT, "invalid XML document").detail(detail)
}

/// Whether a blank stands behind every attribute that is not the last of a tag.
fn are_apart(tag: &str) -> bool {
    let mut rest = tag;
    while let Some(opening) = rest.find(['"', '\'']) {
        let quote = rest.get(opening..=opening).unwrap_or_default();
        let Some((_, behind)) = rest.get(opening + 1..).and_then(|value| value.split_once(quote)) else { return true };
        if !behind.is_empty() && !behind.starts_with(BLANKS) {
            return false;
        }
        rest = behind;
    }
    true
}

/// An element whose end has not come, or has.
#[derive(Default)]
struct Element {
    attributes: Vec<(String, String)>,
    children: Vec<(String, Element)>,
    text: String,
}

impl Element {
    fn opened(tag: &BytesStart) -> PgResult<Element> {
        let mut element = Element::default();
        if !are_apart(tag) {
            return Err(malformed("No blank stands between two attributes."));
        }
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| malformed(error.to_string()))?;
            let name = name(attribute.key.as_ref())?;
            if attribute.value.contains('<') {
                return Err(malformed(format!("The value of the attribute {name} has a <.")));
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| malformed(error.to_string()))?;
            element.attributes.push((format!("@{name}"), allowed(&value)?.to_owned()));
        }
        Ok(element)
    }

    fn add(&mut self, name: String, child: Element) -> PgResult<()> {
        let children = &mut self.children;
        if children.len() == children.capacity() {
            process().claim(2 * children.capacity() * size_of::<(String, Element)>())?;
        }
        children.push((name, child));
        Ok(())
    }

    fn write(&mut self, out: &mut Builder) -> PgResult<()> {
        let text = self.text.trim_matches(BLANKS);
        if self.attributes.is_empty() && self.children.is_empty() {
            return if text.is_empty() { out.null() } else { out.string(text) };
        }
        out.begin_object()?;
        for (name, value) in &self.attributes {
            out.key(name)?;
            out.string(value)?;
        }
        // A stable sort: elements of one name stay in their order.
        self.children.sort_by(|(a, _), (b, _)| a.cmp(b));
        for children in self.children.chunk_by_mut(|(a, _), (b, _)| a == b) {
            let several = children.len() > 1;
            for (i, (name, child)) in children.iter_mut().enumerate() {
                if i == 0 {
                    out.key(name)?;
                    if several {
                        out.begin_array()?;
                    }
                }
                child.write(out)?;
            }
            if several {
                out.end_array()?;
            }
        }
        if !text.is_empty() {
            out.key("#text")?;
            out.string(text)?;
        }
        out.end_object()
    }
}

/// A name by XML 1.0, fifth edition, section 2.3.
fn is_name(text: &str) -> bool {
    let starts = |c: char| {
        matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
            | '\u{37f}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
            | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
    };
    let goes_on = |c: char| starts(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}');
    text.starts_with(starts) && text.chars().all(goes_on)
}

fn name(text: &str) -> PgResult<&str> {
    if is_name(text) { Ok(text) } else { Err(malformed(format!("\"{text}\" is no name."))) }
}

/// Characters that XML 1.0 has.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

fn allowed(text: &str) -> PgResult<&str> {
    match text.chars().find(|c| !is_allowed(*c)) {
        Some(c) => Err(malformed(format!("XML has no character U+{:04X}.", u32::from(c)))),
        None => Ok(text),
    }
}

/// Whether a declaration says what it may: a version, then perhaps the encoding, then perhaps whether the document stands alone (XML 1.0,
/// §2.8 and §4.3.3).
fn is_declaration(declaration: &BytesDecl) -> bool {
    let version =
        |value: &str| value.strip_prefix("1.").is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|b| b.is_ascii_digit()));
    let encoding = |value: &str| {
        value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    let mut last = if are_apart(declaration) { 0 } else { return false };
    for attribute in BytesStart::from_content(&**declaration, "xml".len()).attributes() {
        let Ok(attribute) = attribute else { return false };
        let value = &*attribute.value;
        let (place, holds) = match attribute.key.as_ref() {
            "version" => (1, version(value)),
            "encoding" => (2, encoding(value)),
            "standalone" => (3, matches!(value, "yes" | "no")),
            _ => return false,
        };
        if !holds || place <= last || last == 0 && place > 1 {
            return false;
        }
        last = place;
    }
    last > 0
}

/// A document: its one element under its name.
///
/// # Errors
/// 2200M for text that is no well-formed document, or that names entities other than XML's five; 54001 for nesting that is too deep.
fn read(text: &str) -> PgResult<(String, Element)> {
    let mut reader = XmlReader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().check_comments = true;
    let mut open: Vec<(String, Element)> = Vec::new();
    let mut root = None;
    let mut first = true;
    let mut elements = 0;
    process().claim(text.len())?;
    loop {
        let event = reader.read_event().map_err(|error| malformed(format!("At byte {}: {error}.", reader.error_position())))?;
        let closed = match event {
            Event::Start(tag) => {
                if root.is_some() {
                    return Err(malformed("It has more than one element at the top."));
                }
                if open.len() >= MAX_DEPTH {
                    return Err(too_deep());
                }
                open.push((name(tag.name().as_ref())?.to_owned(), Element::opened(&tag)?));
                None
            }
            Event::Empty(tag) => Some((name(tag.name().as_ref())?.to_owned(), Element::opened(&tag)?)),
            Event::End(_) => open.pop(),
            Event::Text(part) => {
                if part.contains("]]>") {
                    return Err(malformed("A text has ]]>."));
                }
                add_text(&mut open, &part.xml10_content())?;
                None
            }
            Event::CData(part) => {
                if open.is_empty() {
                    return Err(malformed("It has text outside of its element."));
                }
                add_text(&mut open, &part.xml10_content())?;
                None
            }
            Event::GeneralRef(reference) => {
                let character = match reference.resolve_char_ref().map_err(|error| malformed(error.to_string()))? {
                    Some(character) => character,
                    None => {
                        entity(&reference).ok_or_else(|| malformed(format!("The entity \"{}\" is not one of XML's five.", &*reference)))?
                    }
                };
                if open.is_empty() {
                    return Err(malformed("It has text outside of its element."));
                }
                add_text(&mut open, character.encode_utf8(&mut [0; 4]))?;
                None
            }
            Event::Decl(declaration) => {
                if !first || !is_declaration(&declaration) {
                    return Err(malformed("Its declaration is wrong, or not at the beginning."));
                }
                None
            }
            Event::PI(instruction) => {
                if name(instruction.target())?.eq_ignore_ascii_case("xml") {
                    return Err(malformed("Its declaration is wrong, or not at the beginning."));
                }
                None
            }
            Event::DocType(_) if root.is_some() || !open.is_empty() => {
                return Err(malformed("Its document type stands behind its beginning."));
            }
            Event::DocType(doctype) => {
                if !is_name(doctype.trim_matches(BLANKS).split(|c| BLANKS.contains(&c) || c == '[').next().unwrap_or_default()) {
                    return Err(malformed("Its document type has no name."));
                }
                None
            }
            Event::Comment(_) => None,
            Event::Eof => break,
        };
        first = false;
        elements += usize::from(closed.is_some());
        if elements % ELEMENTS == 1 && closed.is_some() {
            process().claim(ELEMENTS * ELEMENT_BYTES)?;
        }
        let Some((name, element)) = closed else { continue };
        match open.last_mut() {
            Some((_, parent)) => parent.add(name, element)?,
            None if root.is_some() => return Err(malformed("It has more than one element at the top.")),
            None => root = Some((name, element)),
        }
    }
    match root {
        Some(root) if open.is_empty() => Ok(root),
        _ => Err(malformed("It ends before its element does.")),
    }
}

fn add_text(open: &mut [(String, Element)], text: &str) -> PgResult<()> {
    match open.last_mut() {
        Some((_, element)) => element.text.push_str(allowed(text)?),
        None if text.trim_matches(BLANKS).is_empty() => {}
        None => return Err(malformed("It has text outside of its element.")),
    }
    Ok(())
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

fn unfit(detail: impl Into<String>) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, "this jsonb is no XML document").detail(detail)
}

/// Appends texts; a name may stand in a document many more times than in its jsonb.
fn put(texts: &[&str], out: &mut Vec<u8>) -> PgResult<()> {
    let bytes = texts.iter().map(|text| text.len()).sum();
    if out.len() + bytes > MAX_BYTES {
        return Err(PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, format!("an XML document has at most {MAX_BYTES} bytes")));
    }
    reserve(out, bytes)?;
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
    Ok(())
}

/// Appends the element with a name; several of it if the value is an array.
fn elements(name: &str, value: &Node, out: &mut Vec<u8>) -> PgResult<()> {
    if !is_name(name) {
        return Err(unfit(format!("\"{name}\" is no name.")));
    }
    match value {
        Node::Array(array) => {
            for item in array.iter() {
                if matches!(item, Node::Array(_)) {
                    return Err(unfit(format!("An array in the array \"{name}\" has no name of its own.")));
                }
                elements(name, &item, out)?;
            }
            Ok(())
        }
        Node::Object(object) => element(name, object, out),
        scalar => {
            let text = scalar.as_text().unwrap_or_default();
            if text.is_empty() {
                put(&["<", name, "/>"], out)?;
                return Ok(());
            }
            put(&["<", name, ">"], out)?;
            escape(&text, false, out)?;
            put(&["</", name, ">"], out)?;
            Ok(())
        }
    }
}

fn element(name: &str, object: &Object, out: &mut Vec<u8>) -> PgResult<()> {
    put(&["<", name], out)?;
    for (key, value) in object.iter() {
        let Some(attribute) = key.strip_prefix('@') else { continue };
        if !is_name(attribute) {
            return Err(unfit(format!("\"{attribute}\" is no name.")));
        }
        if !value.is_scalar() {
            return Err(unfit(format!("The attribute \"{attribute}\" is of type {}.", value.kind().name())));
        }
        put(&[" ", attribute, "=\""], out)?;
        escape(&value.as_text().unwrap_or_default(), true, out)?;
        put(&["\""], out)?;
    }
    let tag = out.len();
    put(&[">"], out)?;
    for (key, value) in object.iter() {
        if key == "#text" {
            if !value.is_scalar() {
                return Err(unfit(format!("The text of \"{name}\" is of type {}.", value.kind().name())));
            }
            escape(&value.as_text().unwrap_or_default(), false, out)?;
        } else if !key.starts_with('@') {
            elements(key, &value, out)?;
        }
    }
    if out.len() == tag + 1 {
        out.truncate(tag);
        put(&["/>"], out)?;
    } else {
        put(&["</", name, ">"], out)?;
    }
    Ok(())
}

/// Text as it stands in an element, or in an attribute within double quotes. Characters that a reader would take for others are written
/// by number.
fn escape(text: &str, attribute: bool, out: &mut Vec<u8>) -> PgResult<()> {
    let by_number = |c: char| c == '\r' || attribute && matches!(c, '\n' | '\t');
    let special = |c: char| matches!(c, '<' | '>' | '&') || attribute && c == '"' || by_number(c) || !is_allowed(c);
    let mut rest = text;
    while let Some(at) = rest.find(special) {
        let (plain, behind) = rest.split_at(at);
        let mut behind = behind.chars();
        let written = match behind.next() {
            Some('<') => "&lt;",
            Some('>') => "&gt;",
            Some('&') => "&amp;",
            Some('"') => "&quot;",
            Some('\r') => "&#13;",
            Some('\n') => "&#10;",
            Some('\t') => "&#9;",
            Some(c) => return Err(unfit(format!("XML has no character U+{:04X}.", u32::from(c)))),
            None => "",
        };
        put(&[plain, written], out)?;
        rest = behind.as_str();
    }
    put(&[rest], out)
}

/// Appends the document that an object of one key is.
///
/// # Errors
/// 22023 for what is no such object, for keys that are no names, arrays in arrays, and characters that XML does not have; 54000 for
/// documents of more than a gigabyte.
fn write(node: &Node, out: &mut Vec<u8>) -> PgResult<()> {
    match node {
        Node::Object(object) if object.len() == 1 && !matches!(object.value(0), Node::Array(_)) => {
            elements(object.key(0), &object.value(0), out)
        }
        _ => Err(unfit("A document is an object with one key, the name of its element, and no array under it.")),
    }
}

/// Registers the entries of this file.
pub fn register(r: &mut Registry) {
    use PgType::{Jsonb, Text as T};
    let to_jsonb: Kernel = Arc::new(|call, args| {
        let texts = Reader::<Text>::new(arg(args, 0)?)?;
        let mut out = Bytes::builder(call.rows);
        let mut builder = Builder::new();
        for row in 0..call.rows {
            let Some(text) = texts.get(row)? else {
                out.append_null();
                continue;
            };
            let (name, mut root) = read(text)?;
            builder.begin_object()?;
            builder.key(&name)?;
            root.write(&mut builder)?;
            builder.end_object()?;
            out.append_value(builder.finish()?);
        }
        Bytes::finish(out, call.ret)
    });
    r.scalar("xml_to_jsonb", &[T], Jsonb, to_jsonb, "An XML document as jsonb: names are keys, attributes keys with @, texts #text.");
    let to_xml = strict1::<Bytes, Text>(|_, value| {
        let mut out = Vec::new();
        write(&Node::root(value), &mut out)?;
        String::from_utf8(out).map_err(|_| PgError::internal("XML text that is not UTF-8"))
    });
    r.scalar("jsonb_to_xml", &[Jsonb], T, to_xml, "The XML document that a jsonb object of one key is.");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
    use super::*;
    use crate::values::json::binary::from_text;

    fn to_jsonb(text: &str) -> PgResult<String> {
        let (name, mut root) = read(text)?;
        let mut out = Builder::new();
        out.begin_object()?;
        out.key(&name)?;
        root.write(&mut out)?;
        out.end_object()?;
        Ok(Node::root(&out.finish()?).to_text())
    }

    fn to_xml(text: &str) -> PgResult<String> {
        let mut out = Vec::new();
        write(&Node::root(&from_text(text)?), &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn documents_there_and_back() {
        for (xml, json) in [
            ("<a/>", r#"{"a": null}"#),
            ("<हिन्दी.1>x</हिन्दी.1>", r#"{"हिन्दी.1": "x"}"#),
            ("<a>x</a>", r#"{"a": "x"}"#),
            (r#"<a x="1"/>"#, r#"{"a": {"@x": "1"}}"#),
            (r#"<a x="1">t</a>"#, r##"{"a": {"@x": "1", "#text": "t"}}"##),
            ("<a><b>1</b><b>2</b><cc/></a>", r#"{"a": {"b": ["1", "2"], "cc": null}}"#),
            ("<a><b><c>1</c></b></a>", r#"{"a": {"b": {"c": "1"}}}"#),
            (r#"<n:a xmlns:n="urn:x"><n:b>ü☆</n:b></n:a>"#, r#"{"n:a": {"n:b": "ü☆", "@xmlns:n": "urn:x"}}"#),
            (r#"<a q="&lt;&quot;&amp;&#10;&#9;">&lt;&amp;&gt;&#13;x</a>"#, r##"{"a": {"@q": "<\"&\n\t", "#text": "<&>\rx"}}"##),
        ] {
            assert_eq!(to_jsonb(xml).unwrap(), json);
            assert_eq!(to_xml(json).unwrap(), xml);
        }
    }

    #[test]
    fn what_is_left_aside() {
        for (xml, json) in [
            (
                "<?xml version='1.0' encoding='UTF-8'?>\n<!DOCTYPE a [<!ENTITY e 'x'>]>\n<a>\n <b> 1 </b>\n</a>\n<!-- end -->",
                r#"{"a": {"b": "1"}}"#,
            ),
            ("<a>one<b/>two</a>", r##"{"a": {"b": null, "#text": "onetwo"}}"##),
            ("<a><![CDATA[<&>]]> x<!-- y -->z<?p q?></a>", r#"{"a": "<&> xz"}"#),
            ("<a>1\r\n2</a>", r#"{"a": "1\n2"}"#),
            ("<a x='1\n2'/>", r#"{"a": {"@x": "1 2"}}"#),
            ("<a b = '1' ></a >", r#"{"a": {"@b": "1"}}"#),
            ("<a b='\"1\"' c=\"'\"/>", r#"{"a": {"@b": "\"1\"", "@c": "'"}}"#),
        ] {
            assert_eq!(to_jsonb(xml).unwrap(), json, "{xml}");
        }
        for (json, xml) in [
            (r#"{"a": {"b": [], "c": [1, true, null, "x"]}}"#, "<a><c>1</c><c>true</c><c/><c>x</c></a>"),
            (r#"{"a": {}}"#, "<a/>"),
            (r#"{"a": ""}"#, "<a/>"),
            (r##"{"a": {"#text": null, "@b": null}}"##, r#"<a b=""/>"#),
        ] {
            assert_eq!(to_xml(json).unwrap(), xml, "{json}");
        }
    }

    #[test]
    fn what_is_no_document() {
        for xml in [
            "",
            " ",
            "x",
            "<a>",
            "</a>",
            "<a></b>",
            "<a/><b/>",
            "<a/>x",
            "x<a/>",
            "<a>&x;</a>",
            "<a>&#0;</a>",
            "<a>&#1;</a>",
            "<a>&",
            "<a",
            "<a x=1/>",
            "<a x/>",
            "<a x='1' x='2'/>",
            "<a x='<'/>",
            "<a x='&x;'/>",
            "<1a/>",
            "<×/>",
            "<a 1='x'/>",
            "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>",
            "<a/>&amp;",
            "<a>]]></a>",
            "<?xml?><a/>",
            "<?xml version='1./0'?><a/>",
            "<?xml version='1.0' encoding='UTF -8'?><a/>",
            "<?xml version='1.0' standalone='es'?><a/>",
            "<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>",
            "<?xml version='1.0' other='x'?><a/>",
            "<?xml version='1.0' version='1.0'?><a/>",
            "<?xml encoding='UTF-8'?><a/>",
            "<?xml ?><a/>",
            "<?xml version='1.0'encoding='UTF-8'?><a/>",
            "<a b='1'c='2'/>",
            "<a b='1'c='2'></a>",
            "<!DOCTYPE &a><a/>",
            "<!DOCTYPE><a/>",
            "<?xml versi&on='1.0'?><a/>",
            "<!-- --><?xml version='1.0'?><a/>",
            "<a><?XML x?></a>",
            "<?1 x?><a/>",
            "<a/><!DOCTYPE a>",
            "<![CDATA[x]]><a/>",
            "<a><!-- x -- y --></a>",
            "< a/>",
        ] {
            let error = to_jsonb(xml).expect_err(xml);
            assert_eq!(error.code().to_string(), "2200M", "{xml}");
        }
        for json in [
            "1",
            "[]",
            "{}",
            r#"{"a": 1, "b": 2}"#,
            r#"{"a": [1]}"#,
            r#"{"a b": 1}"#,
            r#"{"": 1}"#,
            r#"{"1": 1}"#,
            r#"{"@a": 1}"#,
            r##"{"#text": 1}"##,
            r#"{"a": {"b": [[1]]}}"#,
            r#"{"a": {"@b": {}}}"#,
            r##"{"a": {"#text": []}}"##,
            r#"{"a": "\u0001"}"#,
            r#"{"a": {"b<": 1}}"#,
        ] {
            let error = to_xml(json).expect_err(json);
            assert_eq!(error.code().to_string(), "22023", "{json}");
        }
        let deep = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        assert_eq!(to_xml(&to_jsonb(&deep(2990)).unwrap()).unwrap(), deep(2990).replace("<a></a>", "<a/>"));
        assert_eq!(to_jsonb(&deep(3001)).unwrap_err().code().to_string(), "54001");
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = [
            "<a>",
            "</a>",
            "<b",
            " x='",
            "'",
            ">",
            "/>",
            "&",
            "amp;",
            "#x41;",
            ";",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<?",
            "?>",
            "<!DOCTYPE",
            "é",
            "\0",
            "]",
        ];
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut taken = 0;
        for _ in 0..20_000 {
            let mut text = String::from("<a>");
            for _ in 0..6 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                text.push_str(pieces[state as usize % pieces.len()]);
            }
            if let Ok(json) = to_jsonb(&text) {
                taken += 1;
                to_xml(&json).expect(&text);
            }
        }
        assert!(taken > 20, "{taken}");
    }
}
