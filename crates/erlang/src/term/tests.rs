//! Terms survive encoding and decoding; other bytes are refused.

use super::*;
use crate::term::encode;

fn bytes(list: &str) -> Vec<u8> {
    list.split(',').map(|byte| byte.trim().parse().unwrap()).collect()
}

/// Checks the output of `term_to_binary` of OTP 25 and its printed form.
#[track_caller]
fn check(external: &str, printed: &str) {
    let external = bytes(external);
    let term = decode(&external, Limits::default()).unwrap();
    assert_eq!(term.to_string(), printed);
    assert_eq!(decode(&encode(&term), Limits::default()).unwrap(), term);
}

#[test]
fn what_a_node_writes() {
    check("131,100,0,2,111,107", "ok");
    check("131,119,2,195,169", "'é'");
    check("131,98,255,255,255,255", "-1");
    check("131,110,8,1,0,0,0,0,0,0,0,128", "-9223372036854775808");
    check("131,110,9,0,0,0,0,0,0,0,0,0,1", "16#010000000000000000");
    check("131,70,63,248,0,0,0,0,0,0", "1.5");
    check("131,104,2,97,1,106", "{1,[]}");
    check("131,107,0,2,97,98", "\"ab\"");
    check("131,108,0,0,0,1,97,1,97,2", "[1|2]");
    check("131,116,0,0,0,1,97,1,97,2", "#{1 => 2}");
    check("131,109,0,0,0,2,195,169", "<<\"é\">>");
    check("131,109,0,0,0,2,0,255", "<<0,255>>");
    check("131,77,0,0,0,1,3,160", "#Fun");
    check("131,88,119,1,97,0,0,0,7,0,0,0,1,0,0,0,9", "<0.7.1>");
    check("131,120,119,1,97,0,0,0,0,0,0,0,7,0,0,0,9", "#Port<0.7>");
    check("131,90,0,2,119,1,97,0,0,0,9,0,0,0,7,0,0,0,8", "#Ref<0.8.7>");
    check("131,113,119,1,97,119,1,98,97,2", "#Fun");
}

#[track_caller]
fn refuse(external: &str, expected: &TermError) {
    assert_eq!(&decode(&bytes(external), Limits::default()).unwrap_err(), expected);
}

#[test]
fn what_is_no_term() {
    refuse("130,97,1", &TermError::Version(130));
    refuse("131", &TermError::Truncated);
    refuse("131,97,1,1", &TermError::Trailing(1));
    refuse("131,80,0,0,0,1,97", &TermError::Tag(80));
    refuse("131,108,255,255,255,255,97", &TermError::Truncated);
    refuse("131,109,255,255,255,255,97", &TermError::Truncated);
    refuse("131,112,0,0,0,3", &TermError::Malformed("fun"));
    refuse("131,90,255,255,119,1,97", &TermError::Malformed("reference"));
    refuse("131,119,1,255", &TermError::Malformed("atom"));
}

/// A character has one byte in Latin-1, and up to two in UTF-8, the form that we write.
#[test]
fn an_atom_has_at_most_255_characters() {
    let atom = |length: u16| {
        let name = vec![0xe9; usize::from(length)];
        decode(&[&[131, 100], &length.to_be_bytes()[..], &name].concat(), Limits::default())
    };
    let longest = atom(255).unwrap();
    assert_eq!(decode(&encode(&longest), Limits::default()), Ok(longest));
    assert_eq!(atom(256), Err(TermError::Malformed("atom")));
    assert_eq!(atom(40_000), Err(TermError::Malformed("atom")));
}

/// The same bytes are a different name in Latin-1.
#[test]
fn atoms_that_are_met_again_keep_their_encoding() {
    let bytes = [131, 104, 3, 119, 2, 0xc3, 0xa9, 115, 2, 0xc3, 0xa9, 119, 2, 0xc3, 0xa9];
    let names = Term::tuple([Term::atom("é"), Term::atom("Ã©"), Term::atom("é")]);
    assert_eq!(decode(&bytes, Limits::default()), Ok(names));
}

#[test]
fn a_term_that_is_a_bomb() {
    let deep = [vec![131], [108, 0, 0, 0, 1].repeat(100_000)].concat();
    assert_eq!(decode(&deep, Limits::default()), Err(TermError::TooDeep(256)));
    let wide = [vec![131, 108, 0, 1, 0, 0], vec![106; 65_537]].concat();
    let limits = Limits { terms: 60_000, ..Limits::default() };
    assert_eq!(decode(&wide, limits), Err(TermError::TooLarge(60_000)));
    assert!(decode(&wide, Limits::default()).is_ok());
}

#[test]
fn numbers_at_the_edges() {
    for value in [0, 255, 256, -1, i64::from(i32::MAX) + 1, i64::MAX, i64::MIN] {
        let term = Term::Integer(value);
        assert_eq!(decode(&encode(&term), Limits::default()).unwrap(), term);
    }
    let largest = Term::from(u64::MAX);
    let back = decode(&encode(&largest), Limits::default()).unwrap();
    assert_eq!(back.as_u64(), Some(u64::MAX));
}
