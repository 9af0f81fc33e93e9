//! Checks that a page is well formed: every element closed in its order, every attribute quoted, no stray `<`.

/// Elements without an end.
const VOID: [&str; 2] = ["meta", "br"];

/// Fails with the place where `page` is not well formed.
pub(super) fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").expect("a document type");
    while let Some((text, after)) = rest.split_once('<') {
        let is_style = open.last() == Some(&"style");
        assert!(is_style || !text.contains('>'), "a stray > in {text:?}");
        let (tag, after) = after.split_once('>').expect("a tag that ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> after {:?}", last(text));
            continue;
        }
        let name = tag.split([' ', '\n', '/']).next().unwrap();
        assert!(
            name.chars().all(|character| character.is_ascii_alphanumeric()),
            "a stray < before {name:?}"
        );
        assert!(tag.matches('"').count() % 2 == 0, "a quote in <{tag}>");
        if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} not closed");
}

fn last(text: &str) -> String {
    text.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect()
}

#[test]
fn what_is_not_closed_is_found() {
    let faults =
        ["<!doctype html><p><b></p></b>", "<!doctype html><p>", "<!doctype html><p>a < b</p>"];
    for fault in faults {
        assert!(std::panic::catch_unwind(|| assert_well_formed(fault)).is_err(), "{fault}");
    }
    assert_well_formed("<!doctype html><p><br>a</p><svg><path d=\"M0\"/></svg>");
}
