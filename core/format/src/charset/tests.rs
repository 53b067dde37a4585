use super::*;

const ALL: [Charset; 9] = [
    Charset::Utf8,
    Charset::Utf16Le,
    Charset::Utf16Be,
    Charset::UsAscii,
    Charset::Latin1,
    Charset::Windows1252,
    Charset::Cp037,
    Charset::Cp500,
    Charset::Cp1047,
];

fn decoded(charset: Charset, bytes: &[u8]) -> Result<String, Undecodable> {
    let mut out = Vec::new();
    charset.decode(bytes, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn formats_1_6_names_compare_without_case_hyphen_underscore_and_space() {
    for (name, expected) in [
        ("UTF_8", "utf-8"),
        ("utf 16", "utf-16"),
        ("Utf-16LE", "utf-16le"),
        ("utf16be", "utf-16be"),
        ("latin-1", "iso-8859-1"),
        ("L1", "iso-8859-1"),
        ("ISO_8859-1", "iso-8859-1"),
        ("cp1252", "windows-1252"),
        ("IBM037", "cp037"),
        ("ibm500", "cp500"),
        ("IBM-1047", "cp1047"),
        ("US-ASCII", "us-ascii"),
    ] {
        assert_eq!(Encoding::parse(name).map(Encoding::name), Some(expected), "{name}");
    }
    for name in ["", "utf-7", "utf-32", "cp437", "ebcdic", "utf8 bom"] {
        assert_eq!(Encoding::parse(name), None, "{name}");
    }
}

#[test]
fn formats_1_6_one_byte_pages_are_total_and_reversible() {
    let all: Vec<u8> = (0..=255).collect();
    for charset in [Charset::Latin1, Charset::Cp037, Charset::Cp500, Charset::Cp1047] {
        let text = decoded(charset, &all).unwrap();
        let mut seen: Vec<u32> = text.chars().map(u32::from).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..256).collect::<Vec<u32>>(), "{}", charset.name());
        let mut back = Vec::new();
        charset.encode(&text, &mut back).unwrap();
        assert_eq!(back, all, "{}", charset.name());
    }
}

#[test]
fn formats_1_6_windows_1252_has_five_unassigned_bytes() {
    for byte in 0..=255u8 {
        let text = decoded(Charset::Windows1252, &[byte]);
        assert_eq!(text.is_err(), [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains(&byte), "{byte:02X}");
        if let Ok(text) = text {
            let mut back = Vec::new();
            Charset::Windows1252.encode(&text, &mut back).unwrap();
            assert_eq!(back, [byte]);
        }
    }
    assert_eq!(decoded(Charset::Windows1252, b"\x80").unwrap(), "\u{20AC}");
    assert_eq!(Charset::Windows1252.encode("a\u{81}", &mut Vec::new()), Err('\u{81}'));
}

#[test]
fn formats_1_6_ebcdic_places_of_common_characters() {
    assert_eq!(decoded(Charset::Cp037, b"\xC8\x85\x93\x93\x96\x6B\x40\xF1").unwrap(), "Hello, 1");
    assert_eq!(decoded(Charset::Cp500, b"\x4A\x5A").unwrap(), "[]");
    assert_eq!(decoded(Charset::Cp1047, b"\xAD\xBD").unwrap(), "[]");
    for charset in [Charset::Cp037, Charset::Cp500, Charset::Cp1047] {
        assert_eq!(charset.ascii_byte(b'\r'), 0x0D);
        assert_eq!(charset.ascii_byte(b'\n'), 0x25);
        assert_eq!(decoded(charset, b"\x15").unwrap(), "\u{85}");
    }
}

#[test]
fn formats_1_6_decoding_is_strict_and_gives_the_offset() {
    assert_eq!(decoded(Charset::Utf8, b"ab\xF6c"), Err(Undecodable { offset: 2, len: 1 }));
    assert_eq!(decoded(Charset::Utf8, b"ab\xE2\x82"), Err(Undecodable { offset: 2, len: 2 }));
    assert_eq!(decoded(Charset::Utf8, b"\xC0\x80"), Err(Undecodable { offset: 0, len: 1 }));
    assert_eq!(decoded(Charset::UsAscii, b"ab\x80"), Err(Undecodable { offset: 2, len: 1 }));
    assert_eq!(decoded(Charset::Utf16Le, b"a\0\x00\xD8b\0"), Err(Undecodable { offset: 2, len: 2 }));
    assert_eq!(decoded(Charset::Utf16Be, b"\xDC\x00"), Err(Undecodable { offset: 0, len: 2 }));
    assert_eq!(decoded(Charset::Utf16Le, b"a\0b"), Err(Undecodable { offset: 2, len: 1 }));
    assert_eq!(decoded(Charset::Utf16Be, b"\xD8\x3D\xDE\x00").unwrap(), "\u{1F600}");
}

#[test]
fn formats_1_6_a_character_that_the_set_lacks_is_named() {
    assert_eq!(Charset::Latin1.encode("a\u{20AC}b", &mut Vec::new()), Err('\u{20AC}'));
    assert_eq!(Charset::Cp037.encode("\u{100}", &mut Vec::new()), Err('\u{100}'));
    assert_eq!(Charset::UsAscii.encode("\u{E9}", &mut Vec::new()), Err('\u{E9}'));
    for charset in ALL {
        let mut out = Vec::new();
        assert_eq!(charset.encode("\u{1F600}", &mut out).is_err(), charset.is_partial(), "{}", charset.name());
    }
}

#[test]
fn formats_1_9_raw_text_can_be_turned_back_into_bytes() {
    assert_eq!(Charset::Utf8.raw_text(b"1,Malm\xF6"), "1,Malm\\xF6");
    assert_eq!(Charset::Utf8.raw_text(b"a\\b"), "a\\b");
    assert_eq!(Charset::Utf8.raw_text(b"a\\b\xFF\xE2\x82"), "a\\\\b\\xFF\\xE2\\x82");
    assert_eq!(Charset::Windows1252.raw_text(b"\x80\x81"), "\u{20AC}\\x81");
    assert_eq!(Charset::Utf16Le.raw_text(b"a\0\x00\xD8"), "a\\x00\\xD8");
}

#[test]
fn formats_1_6_first_undecodable_agrees_with_decode() {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..seed % 9 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes.push(if seed & 0x300 == 0 { (seed >> 32) as u8 } else { b'a' });
        }
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        for charset in ALL {
            assert_eq!(charset.first_undecodable(&bytes), decoded(charset, &bytes).err(), "{bytes:?}");
            let raw = charset.raw_text(&bytes);
            if let Ok(text) = decoded(charset, &bytes) {
                assert_eq!(raw, text);
            }
        }
    }
}

fn opened(name: &str, first: &[u8]) -> Result<(&'static str, usize), String> {
    match Encoding::parse(name).unwrap().open(first) {
        Ok(opening) => Ok((opening.charset.name(), opening.mark)),
        Err(Fault::Corruption { code, reason, help, .. }) => {
            Err(format!("{code} {reason} {}", help.unwrap_or_default()))
        }
        Err(fault) => panic!("{fault:?}"),
    }
}

#[test]
fn formats_1_6_marks_decide_at_open() {
    assert_eq!(opened("utf-8", b"\xEF\xBB\xBFa"), Ok(("utf-8", 3)));
    assert_eq!(opened("utf-8", b"\xEF\xBB"), Ok(("utf-8", 0)));
    assert_eq!(opened("utf-8", b""), Ok(("utf-8", 0)));
    assert_eq!(opened("utf-8", b"\xFF\xFEa\0"), Ok(("utf-16le", 2)));
    assert_eq!(opened("utf-8", b"\xFE\xFF\0a"), Ok(("utf-16be", 2)));
    assert_eq!(opened("utf-16", b"\xFE\xFF\0a"), Ok(("utf-16be", 2)));
    assert_eq!(opened("utf-16le", b"\xFF\xFEa\0"), Ok(("utf-16le", 2)));
    assert_eq!(opened("utf-16le", b"a\0b\0"), Ok(("utf-16le", 0)));
    assert_eq!(opened("latin1", b"\xFF\xFE\0\0"), Ok(("iso-8859-1", 0)));
    assert_eq!(opened("latin1", b"\xEF\xBB\xBF"), Ok(("iso-8859-1", 0)));
}

#[test]
fn formats_1_6_missing_and_contradicting_marks_are_e402() {
    let missing = opened("utf-16", b"a\0b\0").unwrap_err();
    assert!(missing.starts_with("E402") && missing.contains("utf-16le") && missing.contains("utf-16be"), "{missing}");
    for (name, first) in [
        ("utf-16le", b"\xFE\xFF\0a".as_slice()),
        ("utf-16be", b"\xFF\xFEa\0"),
        ("utf-8", b"\xFF\xFE\0\0"),
        ("utf-8", b"\0\0\xFE\xFF"),
        ("utf-16", b"\xFF\xFE\0\0"),
    ] {
        assert!(opened(name, first).unwrap_err().starts_with("E402"), "{name} {first:?}");
    }
}
