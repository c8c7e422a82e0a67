//! Words that say nothing about a text, by language: tantivy's lists.

use tantivy::tokenizer::{Language, StopWordFilter};

/// What leaves the stop words of a language out, if there is a list.
pub(crate) fn of(name: &str) -> Option<StopWordFilter> {
    let language = match name {
        "danish" => Language::Danish,
        "dutch" => Language::Dutch,
        "english" => Language::English,
        "finnish" => Language::Finnish,
        "french" => Language::French,
        "german" => Language::German,
        "hungarian" => Language::Hungarian,
        "italian" => Language::Italian,
        "norwegian" => Language::Norwegian,
        "portuguese" => Language::Portuguese,
        "russian" => Language::Russian,
        "spanish" => Language::Spanish,
        "swedish" => Language::Swedish,
        _ => return None,
    };
    StopWordFilter::new(language)
}
