//! Erlang processes, from the agent's answer.

use rabbitscope_diagnosis::{ErlangProcess, Processes};

use super::fields::Fields;

/// Reads the rows, the busiest process first.
pub(super) fn processes(answer: Fields<'_>) -> Option<Processes> {
    let figures = Fields(answer.term("processes")?);
    let seconds = figures.number("elapsed_ms")?.max(1) as f64 / 1e3;
    let mut rows: Vec<ErlangProcess> =
        figures.rows("rows").filter_map(|row| process(row, seconds)).collect();
    rows.sort_by(|one, other| other.reductions_per_second.total_cmp(&one.reductions_per_second));
    let vm = answer.term("vm").map(Fields);
    let of_vm = |key| vm.and_then(|vm| vm.number(key)).unwrap_or_default();
    Some(Processes {
        count: of_vm("processes"),
        reductions_per_second: of_vm("reductions") as f64,
        rows,
    })
}

fn process(row: Fields<'_>, seconds: f64) -> Option<ErlangProcess> {
    let looks = row.number("looks")?;
    let mailbox = match looks {
        0 => row.float("mailbox")?,
        looks => row.float("mailbox_sum")? / looks as f64,
    };
    Some(ErlangProcess {
        pid: row.term("pid")?.as_pid()?.to_string(),
        role: row.word("role"),
        name: row.text("name"),
        vhost: row.text("vhost"),
        reductions_per_second: row.float("reductions")? / seconds,
        looks,
        busy: row.number("busy")?,
        with_mail: row.number("with_mail")?,
        mailbox,
        memory_bytes: row.number("memory_bytes")?,
    })
}

#[cfg(test)]
mod tests {
    use rabbitscope_erlang::{
        Term,
        term::{Atom, Pid},
    };

    use super::*;

    fn row(id: u32, reductions: i64, looks: i64) -> Term {
        let pid = Pid { node: Atom::new("a@b"), id, serial: 0, creation: 1 };
        Term::map([
            ("pid", pid.into()),
            ("role", Term::atom("queue")),
            ("name", Term::text("orders")),
            ("vhost", Term::text("/")),
            ("reductions", reductions.into()),
            ("looks", looks.into()),
            ("busy", 30.into()),
            ("with_mail", 20.into()),
            ("mailbox_sum", 400.into()),
            ("mailbox", 7.into()),
            ("memory_bytes", 1000.into()),
        ])
    }

    #[test]
    fn the_busiest_is_first_and_its_mailbox_is_a_mean_over_the_looks() {
        let figures = Term::map([
            ("elapsed_ms", 2000.into()),
            ("rows", Term::list([row(1, 100, 0), row(2, 8000, 40)])),
        ]);
        let processes = processes(Fields(&Term::map([("processes", figures)]))).unwrap();
        let [busy, idle] = &processes.rows[..] else { panic!("{processes:?}") };
        assert_eq!((busy.pid.as_str(), busy.reductions_per_second), ("<0.2.0>", 4000.0));
        assert_eq!((busy.mailbox, busy.busy_share()), (10.0, Some(0.75)));
        assert_eq!((idle.mailbox, idle.busy_share()), (7.0, None));
    }
}
