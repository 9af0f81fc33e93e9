//! The shell of a live page, without its data.

use std::io::{self, Write};

use super::LivePage;
use crate::{
    assets::LIVE_SCRIPT,
    page::whole::PageData,
    report::{Frame, write_page},
};

/// Policy of a live page: that of a report, and requests to the page's own server.
pub const LIVE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; worker-src blob:; \
                               style-src 'unsafe-inline'; img-src data:; connect-src 'self'; \
                               base-uri 'none'; form-action 'none'";

/// Writes the page.
pub fn write_live_page(out: impl Write, page: &LivePage) -> io::Result<()> {
    let title = format!("{} · rabbitscope", page.title);
    write_page(
        out,
        &Frame { title: &title, policy: LIVE_POLICY, script: LIVE_SCRIPT },
        &PageData::of_live(page),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::POLICY;

    #[test]
    fn a_live_page_may_ask_its_own_server_and_nobody_else() {
        let added = LIVE_POLICY.replace("connect-src 'self'; ", "");
        assert_eq!(added, POLICY, "nothing else differs");
        let mut written = Vec::new();
        let page = LivePage { title: "</script><b>".to_owned(), profile: true };
        write_live_page(&mut written, &page).unwrap();
        let html = String::from_utf8(written).unwrap();
        assert!(html.contains(&format!("content=\"{LIVE_POLICY}\"")));
        assert!(
            html.contains("\"live\":{\"title\":\"\\u003c/script>\\u003cb>\",\"profile\":true}")
        );
        assert!(html.contains("<title>&lt;/script&gt;&lt;b&gt; · rabbitscope</title>"));
    }
}
