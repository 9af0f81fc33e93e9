//! A small version of the fuzz targets for every test run. Randomly damaged bytes are an error or another value, never
//! a panic, and cost no excessive memory.

use rabbitscope_erlang::{
    FrameReader, Incoming, Term,
    term::{Limits, decode, encode},
};

/// A deterministic random number generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}

fn random_term(numbers: &mut Numbers, depth: u32) -> Term {
    let several = |numbers: &mut Numbers| -> Vec<Term> {
        let count = numbers.below(4);
        (0..count).map(|_| random_term(numbers, depth - 1)).collect()
    };
    match numbers.below(if depth == 0 { 5 } else { 8 }) {
        0 => Term::atom(["ok", "", "é", "a longer name"][numbers.below(4)]),
        1 => Term::Integer(numbers.next().cast_signed() >> numbers.below(64)),
        2 => Term::Float(f64::from(u32::try_from(numbers.next() >> 32).unwrap()) / 7.0),
        3 => Term::Binary(vec![7; numbers.below(300)]),
        4 => Term::from(numbers.next()),
        5 => Term::Tuple(several(numbers)),
        6 => Term::List(several(numbers)),
        _ => Term::Map(several(numbers).into_iter().map(|term| (term.clone(), term)).collect()),
    }
}

#[test]
fn terms_come_back_and_damaged_ones_do_no_harm() {
    let mut numbers = Numbers(20_261_121);
    for _ in 0..20_000 {
        let term = random_term(&mut numbers, 5);
        let mut bytes = encode(&term);
        assert_eq!(decode(&bytes, Limits::default()).unwrap(), term);
        for _ in 0..=numbers.below(3) {
            let index = numbers.below(bytes.len());
            bytes[index] = numbers.next().to_le_bytes()[0];
        }
        bytes.truncate(bytes.len() - numbers.below(2));
        if let Ok(other) = decode(&bytes, Limits::default()) {
            assert_eq!(
                encode(&decode(&encode(&other), Limits::default()).unwrap()),
                encode(&other)
            );
        }
    }
}

#[test]
fn damaged_frames_do_no_harm() {
    let mut numbers = Numbers(4);
    for _ in 0..20_000 {
        let control = encode(&Term::tuple([
            Term::Integer(i64::from(u8::try_from(numbers.below(37)).unwrap())),
            random_term(&mut numbers, 2),
            random_term(&mut numbers, 2),
            random_term(&mut numbers, 2),
        ]));
        let mut frame = [&[112][..], &control, &encode(&random_term(&mut numbers, 3))].concat();
        if numbers.below(2) == 0 {
            let index = numbers.below(frame.len());
            frame[index] = numbers.next().to_le_bytes()[0];
        }
        let length = u32::try_from(frame.len()).unwrap();
        let mut reader = FrameReader::default();
        for piece in [&length.to_be_bytes()[..], &frame].concat().chunks(1 + numbers.below(50)) {
            reader.push(piece);
        }
        let whole = reader.next_frame().unwrap().expect("the frame is whole");
        assert_eq!(whole, frame);
        let _ = Incoming::parse(whole);
    }
}
