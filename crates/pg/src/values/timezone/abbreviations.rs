//! Abbreviations of time zones, as PostgreSQL's `Default` set has them.
//!
//! Some mean an offset; some mean what a zone used the abbreviation for at a given time. Sorted by name.

/// What an abbreviation means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Seconds east of UTC; whether it is daylight saving time.
    Fixed(i32, bool),
    /// As the zone of this name used it.
    Zone(&'static str),
}

/// The meaning of an abbreviation, in any case.
#[must_use]
pub fn find(name: &str) -> Option<Meaning> {
    // The longest has six letters.
    let mut upper = [0u8; 8];
    let upper = upper.get_mut(..name.len())?;
    upper.copy_from_slice(name.as_bytes());
    upper.make_ascii_uppercase();
    let upper = std::str::from_utf8(upper).ok()?;
    let at = ABBREVIATIONS.binary_search_by(|(key, _)| (*key).cmp(upper)).ok()?;
    ABBREVIATIONS.get(at).map(|(_, meaning)| *meaning)
}

use Meaning::{Fixed, Zone};

#[rustfmt::skip]
pub static ABBREVIATIONS: &[(&str, Meaning)] = &[
    ("ACDT", Fixed(37800, true)), ("ACSST", Fixed(37800, true)), ("ACST", Fixed(34200, false)),
    ("ACT", Fixed(-18000, false)), ("ACWST", Fixed(31500, false)), ("ADT", Fixed(-10800, true)),
    ("AEDT", Fixed(39600, true)), ("AESST", Fixed(39600, true)), ("AEST", Fixed(36000, false)),
    ("AFT", Fixed(16200, false)), ("AKDT", Fixed(-28800, true)), ("AKST", Fixed(-32400, false)),
    ("ALMST", Fixed(25200, true)), ("ALMT", Fixed(21600, false)), ("AMST", Zone("Asia/Yerevan")),
    ("AMT", Fixed(-14400, false)), ("ANAST", Zone("Asia/Anadyr")), ("ANAT", Zone("Asia/Anadyr")),
    ("ARST", Zone("America/Argentina/Buenos_Aires")), ("ART", Zone("America/Argentina/Buenos_Aires")), ("AST", Fixed(-14400, false)),
    ("AWSST", Fixed(32400, true)), ("AWST", Fixed(28800, false)), ("AZOST", Fixed(0, true)),
    ("AZOT", Fixed(-3600, false)), ("AZST", Zone("Asia/Baku")), ("AZT", Zone("Asia/Baku")),
    ("BDST", Fixed(7200, true)), ("BDT", Fixed(21600, false)), ("BNT", Fixed(28800, false)),
    ("BORT", Fixed(28800, false)), ("BOT", Fixed(-14400, false)), ("BRA", Fixed(-10800, false)),
    ("BRST", Fixed(-7200, true)), ("BRT", Fixed(-10800, false)), ("BST", Fixed(3600, true)),
    ("BTT", Fixed(21600, false)), ("CADT", Fixed(37800, true)), ("CAST", Fixed(34200, false)),
    ("CCT", Fixed(28800, false)), ("CDT", Fixed(-18000, true)), ("CEST", Fixed(7200, true)),
    ("CET", Fixed(3600, false)), ("CETDST", Fixed(7200, true)), ("CHADT", Fixed(49500, true)),
    ("CHAST", Fixed(45900, false)), ("CHUT", Fixed(36000, false)), ("CKT", Zone("Pacific/Rarotonga")),
    ("CLST", Fixed(-10800, true)), ("CLT", Zone("America/Santiago")), ("COT", Fixed(-18000, false)),
    ("CST", Fixed(-21600, false)), ("CXT", Fixed(25200, false)), ("DAVT", Zone("Antarctica/Davis")),
    ("DDUT", Fixed(36000, false)), ("EASST", Zone("Pacific/Easter")), ("EAST", Zone("Pacific/Easter")),
    ("EAT", Fixed(10800, false)), ("EDT", Fixed(-14400, true)), ("EEST", Fixed(10800, true)),
    ("EET", Fixed(7200, false)), ("EETDST", Fixed(10800, true)), ("EGST", Fixed(0, true)),
    ("EGT", Fixed(-3600, false)), ("EST", Fixed(-18000, false)), ("FET", Fixed(10800, false)),
    ("FJST", Fixed(46800, true)), ("FJT", Fixed(43200, false)), ("FKST", Zone("Atlantic/Stanley")),
    ("FKT", Zone("Atlantic/Stanley")), ("FNST", Fixed(-3600, true)), ("FNT", Fixed(-7200, false)),
    ("GALT", Fixed(-21600, false)), ("GAMT", Fixed(-32400, false)), ("GEST", Zone("Asia/Tbilisi")),
    ("GET", Zone("Asia/Tbilisi")), ("GFT", Fixed(-10800, false)), ("GILT", Fixed(43200, false)),
    ("GMT", Fixed(0, false)), ("GYT", Zone("America/Guyana")), ("HKT", Fixed(28800, false)),
    ("HST", Fixed(-36000, false)), ("ICT", Fixed(25200, false)), ("IDT", Fixed(10800, true)),
    ("IOT", Zone("Indian/Chagos")), ("IRKST", Zone("Asia/Irkutsk")), ("IRKT", Zone("Asia/Irkutsk")),
    ("IRT", Fixed(12600, false)), ("IST", Fixed(7200, false)), ("JAYT", Fixed(32400, false)),
    ("JST", Fixed(32400, false)), ("KDT", Fixed(36000, true)), ("KGST", Fixed(21600, true)),
    ("KGT", Zone("Asia/Bishkek")), ("KOST", Zone("Pacific/Kosrae")), ("KRAST", Zone("Asia/Krasnoyarsk")),
    ("KRAT", Zone("Asia/Krasnoyarsk")), ("KST", Fixed(32400, false)), ("LHDT", Zone("Australia/Lord_Howe")),
    ("LHST", Fixed(37800, false)), ("LIGT", Fixed(36000, false)), ("LINT", Zone("Pacific/Kiritimati")),
    ("LKT", Zone("Asia/Colombo")), ("MAGST", Zone("Asia/Magadan")), ("MAGT", Zone("Asia/Magadan")),
    ("MART", Fixed(-34200, false)), ("MAWT", Zone("Antarctica/Mawson")), ("MDT", Fixed(-21600, true)),
    ("MEST", Fixed(7200, true)), ("MESZ", Fixed(7200, true)), ("MET", Fixed(3600, false)),
    ("METDST", Fixed(7200, true)), ("MEZ", Fixed(3600, false)), ("MHT", Fixed(43200, false)),
    ("MMT", Fixed(23400, false)), ("MPT", Fixed(36000, false)), ("MSD", Fixed(14400, true)),
    ("MSK", Zone("Europe/Moscow")), ("MST", Fixed(-25200, false)), ("MUST", Fixed(18000, true)),
    ("MUT", Fixed(14400, false)), ("MVT", Fixed(18000, false)), ("MYT", Fixed(28800, false)),
    ("NDT", Fixed(-9000, true)), ("NFT", Fixed(-12600, false)), ("NOVST", Zone("Asia/Novosibirsk")),
    ("NOVT", Zone("Asia/Novosibirsk")), ("NPT", Fixed(20700, false)), ("NST", Fixed(-12600, false)),
    ("NUT", Zone("Pacific/Niue")), ("NZDT", Fixed(46800, true)), ("NZST", Fixed(43200, false)),
    ("NZT", Fixed(43200, false)), ("OMSST", Zone("Asia/Omsk")), ("OMST", Zone("Asia/Omsk")),
    ("PDT", Fixed(-25200, true)), ("PET", Fixed(-18000, false)), ("PETST", Zone("Asia/Kamchatka")),
    ("PETT", Zone("Asia/Kamchatka")), ("PGT", Fixed(36000, false)), ("PHT", Fixed(28800, false)),
    ("PKST", Fixed(21600, true)), ("PKT", Fixed(18000, false)), ("PMDT", Fixed(-7200, true)),
    ("PMST", Fixed(-10800, false)), ("PONT", Fixed(39600, false)), ("PST", Fixed(-28800, false)),
    ("PWT", Fixed(32400, false)), ("PYST", Fixed(-10800, true)), ("PYT", Zone("America/Asuncion")),
    ("RET", Fixed(14400, false)), ("SADT", Fixed(37800, true)), ("SAST", Fixed(7200, false)),
    ("SCT", Fixed(14400, false)), ("SGT", Zone("Asia/Singapore")), ("TAHT", Fixed(-36000, false)),
    ("TFT", Fixed(18000, false)), ("TJT", Fixed(18000, false)), ("TKT", Zone("Pacific/Fakaofo")),
    ("TMT", Zone("Asia/Ashgabat")), ("TOT", Fixed(46800, false)), ("TRUT", Fixed(36000, false)),
    ("TVT", Fixed(43200, false)), ("UCT", Fixed(0, false)), ("ULAST", Fixed(32400, true)),
    ("ULAT", Zone("Asia/Ulaanbaatar")), ("UT", Fixed(0, false)), ("UTC", Fixed(0, false)),
    ("UYST", Fixed(-7200, true)), ("UYT", Fixed(-10800, false)), ("UZST", Fixed(21600, true)),
    ("UZT", Fixed(18000, false)), ("VET", Zone("America/Caracas")), ("VLAST", Zone("Asia/Vladivostok")),
    ("VLAT", Zone("Asia/Vladivostok")), ("VOLT", Zone("Europe/Volgograd")), ("VUT", Fixed(39600, false)),
    ("WADT", Fixed(28800, true)), ("WAKT", Fixed(43200, false)), ("WAST", Fixed(25200, false)),
    ("WAT", Fixed(3600, false)), ("WDT", Fixed(32400, true)), ("WET", Fixed(0, false)),
    ("WETDST", Fixed(3600, true)), ("WFT", Fixed(43200, false)), ("WGST", Fixed(-7200, true)),
    ("WGT", Fixed(-10800, false)), ("XJT", Fixed(21600, false)), ("YAKST", Zone("Asia/Yakutsk")),
    ("YAKT", Zone("Asia/Yakutsk")), ("YAPT", Fixed(36000, false)), ("YEKST", Fixed(21600, true)),
    ("YEKT", Zone("Asia/Yekaterinburg")), ("Z", Fixed(0, false)), ("ZULU", Fixed(0, false)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_found() {
        assert!(ABBREVIATIONS.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(find("pst"), Some(Fixed(-28_800, false)));
        assert_eq!(find("CEST"), Some(Fixed(7200, true)));
        assert_eq!(find("msk"), Some(Zone("Europe/Moscow")));
        assert_eq!(find("nowhere in this world"), None);
    }
}
