//! Encoder of terms into the external form.

use super::{
    tag,
    value::{Atom, BigInteger, Pid, Port, Reference, Term},
};

/// Returns the external form, including the version byte.
pub fn encode(term: &Term) -> Vec<u8> {
    let mut out = vec![tag::VERSION];
    put(&mut out, term);
    out
}

fn put(out: &mut Vec<u8>, term: &Term) {
    match term {
        Term::Atom(atom) => put_atom(out, atom),
        Term::Integer(value) => put_integer(out, *value),
        Term::Big(big) => put_big(out, big),
        Term::Float(value) => put_tagged(out, tag::NEW_FLOAT, &value.to_be_bytes()),
        Term::Pid(pid) => put_pid(out, pid),
        Term::Port(port) => put_port(out, port),
        Term::Reference(reference) => put_reference(out, reference),
        Term::Tuple(elements) => put_tuple(out, elements),
        Term::List(elements) => put_list(out, elements, None),
        Term::Improper(elements, tail) => put_list(out, elements, Some(tail)),
        Term::Map(pairs) => {
            put_counted(out, tag::MAP, pairs.len());
            for (key, value) in pairs {
                put(out, key);
                put(out, value);
            }
        }
        Term::Binary(bytes) => {
            put_counted(out, tag::BINARY, bytes.len());
            out.extend_from_slice(bytes);
        }
        Term::Opaque(opaque) => out.extend_from_slice(&opaque.0),
    }
}

fn put_tagged(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag);
    out.extend_from_slice(bytes);
}

/// Writes a tag and a count. No term of this program comes near 4 GiB.
fn put_counted(out: &mut Vec<u8>, tag: u8, count: usize) {
    let count = u32::try_from(count).expect("terms are far smaller than 2^32");
    put_tagged(out, tag, &count.to_be_bytes());
}

fn put_atom(out: &mut Vec<u8>, atom: &Atom) {
    let name = atom.as_str().as_bytes();
    if let Ok(length) = u8::try_from(name.len()) {
        put_tagged(out, tag::SMALL_ATOM_UTF8, &[length]);
    } else {
        let length = u16::try_from(name.len()).expect("an atom has at most 255 characters");
        put_tagged(out, tag::ATOM_UTF8, &length.to_be_bytes());
    }
    out.extend_from_slice(name);
}

fn put_integer(out: &mut Vec<u8>, value: i64) {
    if let Ok(small) = u8::try_from(value) {
        put_tagged(out, tag::SMALL_INTEGER, &[small]);
    } else if let Ok(middle) = i32::try_from(value) {
        put_tagged(out, tag::INTEGER, &middle.to_be_bytes());
    } else {
        let magnitude = value.unsigned_abs().to_le_bytes();
        put_tagged(out, tag::SMALL_BIG, &[8, u8::from(value < 0)]);
        out.extend_from_slice(&magnitude);
    }
}

fn put_big(out: &mut Vec<u8>, big: &BigInteger) {
    if let Ok(length) = u8::try_from(big.magnitude.len()) {
        put_tagged(out, tag::SMALL_BIG, &[length]);
    } else {
        put_counted(out, tag::LARGE_BIG, big.magnitude.len());
    }
    out.push(u8::from(big.negative));
    out.extend_from_slice(&big.magnitude);
}

fn put_pid(out: &mut Vec<u8>, pid: &Pid) {
    out.push(tag::NEW_PID);
    put_atom(out, &pid.node);
    for number in [pid.id, pid.serial, pid.creation] {
        out.extend_from_slice(&number.to_be_bytes());
    }
}

fn put_port(out: &mut Vec<u8>, port: &Port) {
    out.push(tag::V4_PORT);
    put_atom(out, &port.node);
    out.extend_from_slice(&port.id.to_be_bytes());
    out.extend_from_slice(&port.creation.to_be_bytes());
}

fn put_reference(out: &mut Vec<u8>, reference: &Reference) {
    let count = u16::try_from(reference.ids.len()).expect("a reference has at most five numbers");
    put_tagged(out, tag::NEWER_REFERENCE, &count.to_be_bytes());
    put_atom(out, &reference.node);
    out.extend_from_slice(&reference.creation.to_be_bytes());
    for id in &reference.ids {
        out.extend_from_slice(&id.to_be_bytes());
    }
}

fn put_tuple(out: &mut Vec<u8>, elements: &[Term]) {
    if let Ok(count) = u8::try_from(elements.len()) {
        put_tagged(out, tag::SMALL_TUPLE, &[count]);
    } else {
        put_counted(out, tag::LARGE_TUPLE, elements.len());
    }
    for element in elements {
        put(out, element);
    }
}

fn put_list(out: &mut Vec<u8>, elements: &[Term], tail: Option<&Term>) {
    if !elements.is_empty() {
        put_counted(out, tag::LIST, elements.len());
        for element in elements {
            put(out, element);
        }
    }
    match tail {
        Some(tail) => put(out, tail),
        None => out.push(tag::NIL),
    }
}
