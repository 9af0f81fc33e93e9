//! Chains of flow control, as sentences.

use rabbitscope_diagnosis::{ChainLink, CheckReport, FlowChain, FlowRoot};
use rabbitscope_text::counted;

use crate::document::{Block, Sentence, Tone};
use crate::live::rows::single;

/// Chains with a sentence.
const MOST_CHAINS: usize = 10;

/// Returns the block without sentences.
pub(super) fn empty() -> Block {
    Block::sentences("flow", Vec::new())
}

/// Returns a sentence for each chain, those of the root with the most chains first. `is_read` is false if the node was
/// not asked.
pub(super) fn filled(report: &CheckReport, is_read: bool) -> Block {
    let of_root =
        |root: &FlowRoot| root.chains.iter().map(|chain| sentence(root, chain)).collect::<Vec<_>>();
    let mut all: Vec<String> = report.flow.iter().flat_map(of_root).collect();
    let more = all.len().saturating_sub(MOST_CHAINS) as u64;
    all.truncate(MOST_CHAINS);
    let is_empty = all.is_empty();
    let mut sentences: Vec<Sentence> =
        all.into_iter().map(|text| Sentence::new(text, Tone::Warning)).collect();
    if more > 0 {
        sentences.push(Sentence::new(format!("… and {}", counted(more, "more chain")), Tone::Soft));
    }
    if is_empty && is_read {
        sentences.push(Sentence::new("No process waits for credit of another one.", Tone::Soft));
    }
    Block::sentences("flow", sentences)
}

/// Writes a chain from the clients to its root: `channel shop (1.2.3.4:5) is blocked 80 % of the time: it waits for
/// queue orders (busy 99 % of the time, 120 messages in its mailbox).`
fn sentence(root: &FlowRoot, chain: &FlowChain) -> String {
    let mut links = chain.links.iter();
    let Some(first) = links.next() else { return String::new() };
    let further = links.map(|next| format!("{} (blocked {})", title(next), percent(next)));
    let last = if chain.is_circle {
        "the others: none of this circle can continue by itself".to_owned()
    } else {
        end(root)
    };
    let waits: Vec<String> = further.chain(std::iter::once(last)).collect();
    let (head, share) = (title(first), percent(first));
    format!(
        "{head} is blocked {share} of the time: it waits for {}.",
        waits.join(", which waits for ")
    )
}

fn title(link: &ChainLink) -> String {
    let name = if link.name.is_empty() { &link.pid } else { &link.name };
    match link.client.as_str() {
        "" => format!("{} {}", single(&link.role), single(name)),
        client => format!("{} {} ({})", single(&link.role), single(client), single(name)),
    }
}

fn percent(link: &ChainLink) -> String {
    format!("{:.0} %", link.blocked_share * 100.0)
}

fn end(root: &FlowRoot) -> String {
    let busy = root.busy_share.map(|share| format!("busy {:.0} % of the time", share * 100.0));
    let mailbox = root.mailbox.map(|length| counted(length, "message") + " in its mailbox");
    let facts: Vec<String> = busy.into_iter().chain(mailbox).collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    let name = match (root.name.as_str(), root.pid()) {
        ("", Some(pid)) => pid,
        (name, _) => name,
    };
    format!("{} {}{facts}", single(&root.role), single(name))
}

#[cfg(test)]
mod tests {
    use rabbitscope_diagnosis::{Blocker, Case, Subject};

    use super::*;

    fn link_of(role: &str, client: &str) -> ChainLink {
        ChainLink {
            pid: "<0.5.0>".to_owned(),
            role: role.to_owned(),
            name: "1.2.3.4:5".to_owned(),
            client: client.to_owned(),
            blocked_share: 0.8,
        }
    }

    fn texts(chains: usize, is_circle: bool) -> Vec<String> {
        let links = vec![link_of("reader", "sh\nop"), link_of("channel", "")];
        let root = FlowRoot {
            blocker: Blocker::Process("<0.9.0>".to_owned()),
            role: "queue".to_owned(),
            name: "<b>orders".to_owned(),
            busy_share: Some(0.99),
            mailbox: Some(1),
            chains: vec![FlowChain { links, is_circle }; chains],
        };
        let mut report = CheckReport::from_case(&Case::unread(Subject::default()));
        report.flow = if chains > 0 { vec![root] } else { Vec::new() };
        let block = serde_json::to_value(filled(&report, true)).unwrap();
        let sentences = block["sentences"].as_array().unwrap().iter();
        sentences.map(|sentence| sentence["text"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_chain_reads_from_the_client_to_the_root() {
        let expected = "reader sh\\nop (1.2.3.4:5) is blocked 80 % of the time: it waits for channel 1.2.3.4:5 \
                        (blocked 80 %), which waits for queue <b>orders (busy 99 % of the time, 1 message in its \
                        mailbox).";
        assert_eq!(texts(1, false), [expected]);
        assert!(texts(1, true)[0].ends_with("none of this circle can continue by itself."));
    }

    #[test]
    fn many_chains_are_counted_and_none_is_said() {
        let many = texts(30, false);
        assert_eq!((many.len(), many.last().unwrap().as_str()), (11, "… and 20 more chains"));
        assert_eq!(texts(0, false), ["No process waits for credit of another one."]);
    }
}
